"""Find the messages beside many others at once: most often two questions in all, and no message's text is read."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import apsw

from openclaw_memory.retrieval.blocks import Block
from openclaw_memory.retrieval.engines.lookups import after, before
from openclaw_memory.retrieval.engines.overlay import Masks
from openclaw_memory.retrieval.engines.rows import IMPORTANT, STANDS_IN, bindable, readable
from openclaw_memory.retrieval.neighbours import Neighbour, beside
from openclaw_memory.retrieval.postings import Spot

Asked = tuple[str, Spot]
"""The session of a message, and its place there."""

_PLACED = (
    "SELECT ?5, key, path, start_line, time, shift, flags FROM blocks WHERE sequence = ?1 AND (time, path, start_line)"
)
_BEFORE = f"{_PLACED} < (?2, ?3, ?4) ORDER BY time DESC, path DESC, start_line DESC LIMIT ?6"
# Read from the index over sessions alone.
_FURTHER = (
    "SELECT ?5, time, path, start_line FROM blocks WHERE sequence = ?1 AND (time, path, start_line) > (?2, ?3, ?4) "
    "ORDER BY time, path, start_line LIMIT 1 OFFSET ?6"
)
_AFTER = f"{_PLACED} > (?2, ?3, ?4) ORDER BY time, path, start_line LIMIT ?6"


def around(
    reader: apsw.Connection,
    asked: Sequence[Asked | None],
    masks: Masks,
    waiting: Mapping[Asked, tuple[list[Block], list[Block]]],
    reach: int,
) -> list[list[Neighbour]]:
    """Give for each of the places what is up to `reach` before and after it, in order; None has nothing beside it.

    `waiting` has what waits beside the rows before (the nearest first) and after them, for those whose session has any.
    """
    found: list[list[Neighbour]] = [[] for _ in asked]
    values = [
        (bindable(one[0]), one[1][0], bindable(one[1][1]), one[1][2], number, reach)
        for number, one in enumerate(asked)
        if one is not None and one not in waiting
    ]
    _enter(_rows(reader, _BEFORE, values), -1, found)
    for near in found:
        near.reverse()
    _enter(_rows(reader, _AFTER, values), 1, found)
    if not waiting and not masks.paths and not masks.keys:
        return found
    for number, place in enumerate(asked):
        if place is None:
            continue
        # Rows that are hidden make room for others, further away; what waits stands among them.
        if place in waiting or any(one.path in masks.paths or one.key in masks.keys for one in found[number]):
            older, newer = waiting.get(place, ([], []))
            earlier = before(reader, *place, masks, older, reach)
            found[number] = beside(earlier, after(reader, *place, masks, newer, reach))
    return found


def spots_after(reader: apsw.Connection, asked: Sequence[Asked | None], places: int) -> list[Spot | None]:
    """Give for each of the places the one of the row so many rows after it; None where there is none, or no ASCII."""
    found: list[Spot | None] = [None] * len(asked)
    values = [
        (bindable(one[0]), one[1][0], bindable(one[1][1]), one[1][2], number, places - 1)
        for number, one in enumerate(asked)
        if one is not None
    ]
    for number, time, path, line in _rows(reader, _FURTHER, values):
        if path.isascii():
            found[number] = (time, path, line)
    return found


def _enter(rows: Sequence[tuple[Any, ...]], step: int, found: Sequence[list[Neighbour]]) -> None:
    """Put rows, the nearest first, behind what was found for their number."""
    distance, last, near = 0, -1, list[Neighbour]()
    # What calling the class comes to; a question makes a thousand of them.
    new = tuple.__new__
    for number, key, path, line, time, shift, flags in rows:
        if number == last:
            distance += step
        else:
            distance, last, near = step, number, found[number]
        if flags & STANDS_IN:
            key, path = readable(key), readable(path)
        important = flags & IMPORTANT != 0
        near.append(new(Neighbour, (distance, key, path, line, time, shift is not None, important, None)))


def _rows(reader: apsw.Connection, question: str, values: Sequence[tuple[Any, ...]]) -> list[tuple[Any, ...]]:
    return reader.executemany(question, values).fetchall() if values else []
