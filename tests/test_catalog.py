"""What readers see of all documents: changes are taken into the index a part at a time, and none is lost."""

from __future__ import annotations

from datetime import UTC
from typing import Any

from openclaw_memory.catalog import Catalog
from openclaw_memory.layers.conversations import ConversationFormat
from openclaw_memory.retrieval.index import InMemoryIndex

DAYS = [f"conversations/2026-05-0{number}.md" for number in range(1, 7)]
FORMAT = ConversationFormat()


class Filling(InMemoryIndex):
    """An index that counts what waits to be written down, as one on disk does; here that is everything."""

    @property
    def waiting(self) -> int:
        return len(self)


def day(path: str, *names: str) -> Any:
    """Read a day's file that holds some messages."""
    messages = (
        f"### {path[14:24]}T09:00:00+00:00 <!-- id={name} session=s1 role=user -->\n**User**:\n\ntext {name}\n\n"
        for name in names
    )
    return FORMAT.parse(path, "".join(messages).encode())


def held(index: InMemoryIndex) -> set[str]:
    return {block.text for path in DAYS for block in index.blocks_of(path)}


def test_feeding_stops_when_enough_waits() -> None:
    """It goes on where it stopped; without a limit it takes in everything."""
    index = Filling()
    catalog = Catalog(index, UTC)
    for number, path in enumerate(DAYS):
        catalog.changed(path, None, day(path, f"a{number}", f"b{number}"))
    assert not catalog.feed(3)
    assert len(index) == 4
    assert not catalog.feed(5)
    assert len(index) == 6
    assert not catalog.feed(6)
    assert catalog.feed()
    assert len(index) == 12
    assert catalog.feed(1)


def test_document_that_changes_while_it_is_put_off() -> None:
    """It is taken in as it was last, whole where the index knows nothing of it, and not at all when it was hidden."""
    index = Filling()
    catalog = Catalog(index, UTC)
    known = day(DAYS[1], "b")
    catalog.changed(DAYS[1], None, known)
    catalog.feed()
    first = {path: day(path, path[14:24]) for path in DAYS}
    for path in (DAYS[0], DAYS[2], DAYS[3]):
        catalog.changed(path, None, first[path])
    edited = day(DAYS[1], "b edited")
    catalog.changed(DAYS[1], known, edited)
    assert not catalog.feed(1)
    # Nothing was taken in; now two of them change again, one is hidden, and one is new.
    catalog.changed(DAYS[1], edited, day(DAYS[1], "b last"))
    catalog.changed(DAYS[2], first[DAYS[2]], day(DAYS[2], "c", "d"))
    catalog.hide(DAYS[3])
    catalog.changed(DAYS[4], None, first[DAYS[4]])
    assert held(index) == {"text b"}
    assert catalog.feed()
    assert held(index) == {f"text {DAYS[0][14:24]}", "text b last", "text c", "text d", f"text {DAYS[4][14:24]}"}


def test_addition_to_a_document_that_is_put_off() -> None:
    """The messages that were put off and those that came since are all there."""
    index = Filling()
    catalog = Catalog(index, UTC)
    catalog.changed(DAYS[0], None, day(DAYS[0], "a"))
    catalog.feed()
    short = day(DAYS[1], "b")
    catalog.changed(DAYS[1], None, short)
    assert not catalog.feed(1)
    catalog.changed(DAYS[1], short, day(DAYS[1], "b", "c"))
    assert catalog.feed()
    assert held(index) == {"text a", "text b", "text c"}
