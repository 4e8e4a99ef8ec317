"""Where documents lie."""

from __future__ import annotations

from pathlib import Path

from openclaw_memory.storage import places
from openclaw_memory.storage.places import Places


def test_a_place_asked_for_again_is_the_same() -> None:
    """What is remembered of a place is what was found at first, however many were asked for in between."""
    root, work = Path("/root"), Path("/work")
    store = Places(root, {"workspace/main": work})
    wanted = {"facts/a.md": root / "facts/a.md", "workspace/main": work, "workspace/main/MEMORY.md": work / "MEMORY.md"}
    for _ in range(2):
        assert {path: store.of(path) for path in wanted} == wanted
        for number in range(places.KEPT_PLACES):
            store.of(f"facts/{number}.md")
    assert store == Places(root, {"workspace/main": work})
