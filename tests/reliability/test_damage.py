"""Damage that comes again, and views from before a crash: nothing that was kept or written goes."""

from __future__ import annotations

from pathlib import Path

from openclaw_memory.layers.rooms import FOLDERS
from tests.memory_folder import FACTS, WRITTEN, crashed, damage, fact, opened, write


async def test_damage_twice_within_a_second_leaves_both_copies(tmp_path: Path) -> None:
    """The clock stands still; each damaged state is kept under a name of its own, and told by that name."""
    store = opened(tmp_path)
    await store.open(FOLDERS)
    await write(store, *WRITTEN)
    await store.flush()
    path = tmp_path / FACTS
    whole = path.read_bytes()
    broken = [whole.replace(b"language", b"\xff\x00nguage"), whole.replace(b"language", b"langua\xff\x00")]
    for number, data in enumerate(broken):
        damage(path, data)
        store._shelf.entries[FACTS].stamp = None
        assert "language: Go" in (await store.read(FACTS)).body
        assert f"corrupt-20260504T063000{'-2' if number else ''}" in store.notices()[FACTS]
        await store.flush()
        assert b"language: Go" in path.read_bytes()
    kept = {aside.name: aside.read_bytes() for aside in (tmp_path / "facts").glob("*.corrupt-*")}
    names = [f"user-profile.md.corrupt-20260504T063000{more}" for more in ("", "-2")]
    assert kept == dict(zip(names, broken, strict=True))
    await store.close()


async def test_view_from_before_a_crash_saved_after_the_recovery_undoes_nothing(tmp_path: Path) -> None:
    """What the start wrote into the file is not in the view, which names the version that the start found."""
    memory = await crashed(tmp_path, fact(FACTS, "later", "kept"))
    view = (memory / FACTS).read_text()
    assert "later" not in view
    store = opened(memory)
    await store.open(FOLDERS)
    await store.flush()
    assert "- later: kept\n" in (memory / FACTS).read_text()
    draft = memory / "facts/draft.txt"
    draft.write_text(f"{view}- mine: by hand\n")
    draft.replace(memory / FACTS)
    body = (await store.read(FACTS)).body
    assert body.count("- later: kept\n") == body.count("- mine: by hand\n") == 1
    await store.close()
    text = (memory / FACTS).read_text()
    assert text.count("- later: kept\n") == text.count("- mine: by hand\n") == 1
