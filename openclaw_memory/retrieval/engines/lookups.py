"""Look blocks up by address, file and session: rows, without those that are hidden, and what waits beside them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from heapq import merge
from itertools import islice
from typing import Any

import apsw

from openclaw_memory.retrieval.blocks import Block
from openclaw_memory.retrieval.engines.database import among
from openclaw_memory.retrieval.engines.overlay import Masks
from openclaw_memory.retrieval.engines.rows import COLUMNS, bindable, block_of
from openclaw_memory.retrieval.postings import AFTER_ALL, Spot, spot_of
from openclaw_memory.retrieval.scope import Audience, listed, marked

PAGE = 64
"""Messages that are read at a time."""

_PLACED = f"SELECT {COLUMNS} FROM blocks WHERE sequence = ? AND (time, path, start_line)"
_BEFORE = f"{_PLACED} < (?, ?, ?) ORDER BY time DESC, path DESC, start_line DESC"
_PATHS = "SELECT path FROM blocks WHERE sequence = ? ORDER BY time DESC, path DESC, start_line DESC LIMIT ?"
_AFTER = f"{_PLACED} > (?, ?, ?) ORDER BY time, path, start_line"


def by_line(block: Block) -> tuple[int, int, str]:
    """Give what the blocks of a file sort by."""
    return (block.start_line, block.end_line, block.key)


def named(reader: apsw.Connection, column: str, name: str, masks: Masks, waiting: Iterable[Block]) -> list[Block]:
    """Give the blocks whose `key` or `path` this is, in the order of their lines."""
    rows = reader.execute(f"SELECT {COLUMNS} FROM blocks WHERE {column} = ?", (bindable(name),))
    visible = [block for block in map(block_of, rows) if not masks.hide(block)]
    return sorted([*visible, *waiting], key=by_line)


def by_key(
    reader: apsw.Connection, keys: Sequence[str], masks: Masks, waiting: Iterable[Block]
) -> dict[str, list[Block]]:
    """Give the blocks with these addresses, each address's in the order of their lines."""
    rows = map(block_of, rows_of(reader, "key", keys))
    found: dict[str, list[Block]] = {}
    for block in sorted([*(one for one in rows if not masks.hide(one)), *waiting], key=by_line):
        found.setdefault(block.key, []).append(block)
    return found


def rows_of(reader: apsw.Connection, column: str, names: Sequence[str]) -> list[tuple[Any, ...]]:
    """Give the rows whose `key` or `path` is one of these names, each once."""
    found = among(reader, f"SELECT {COLUMNS} FROM blocks WHERE {column}", names)
    return list({row[0]: row for row in found}.values())


def paths_holding(reader: apsw.Connection, keys: Sequence[str], masks: Masks) -> Iterator[tuple[str, str]]:
    """Yield the keys of rows, and the files that they lie in."""
    for row in among(reader, f"SELECT {COLUMNS} FROM blocks WHERE key", keys):
        block = block_of(row)
        if not masks.hide(block):
            yield block.key, block.path


def of_texts(reader: apsw.Connection, ids: Sequence[bytes], masks: Masks) -> Iterator[tuple[bytes, Block]]:
    """Yield addresses of texts, and the blocks that have them."""
    for row in among(reader, f"SELECT {COLUMNS}, text_id FROM blocks WHERE text_id", ids):
        block = block_of(row)
        if not masks.hide(block):
            yield row[-1], block


def text_ids(reader: apsw.Connection, after: bytes, most: int) -> list[bytes]:
    """Give the next addresses of texts in order; read from the index over them alone."""
    question = "SELECT DISTINCT text_id FROM blocks WHERE text_id > ? ORDER BY text_id LIMIT ?"
    rows: list[tuple[Any, ...]] = reader.execute(question, (after, most)).fetchall()
    return [row[0] for row in rows]


def within(reader: apsw.Connection, audience: Audience, masks: Masks, most: int) -> list[Block] | None:
    """List what an audience may see of the rows; None when that is more than `most`."""
    asked = {"visibility": audience.visibilities, "session": audience.sessions, "layer": audience.layers}
    if not marked(audience):
        asked["sequence"] = frozenset(f"session {session}" for session in audience.sessions)
    asked = {column: names for column, names in asked.items() if names}
    where = " AND ".join(f"{column} IN ({','.join('?' * len(names))})" for column, names in asked.items())
    if marked(audience):
        # The condition of the index `by_audience`, which SQLite can't conclude by itself.
        where += " AND visibility <> 'private'"
    values = [bindable(name) for names in asked.values() for name in sorted(names)]
    question = f"SELECT {COLUMNS} FROM blocks WHERE {where} LIMIT ?"
    rows: list[tuple[Any, ...]] = reader.execute(question, (*values, most + 1)).fetchall()
    if len(rows) > most:
        return None
    return [block for block in map(block_of, rows) if listed(audience, block) and not masks.hide(block)]


def before(
    reader: apsw.Connection, sequence: str, spot: Spot, masks: Masks, waiting: Iterable[Block], most: int
) -> list[Block]:
    """Give up to `most` messages before a place, the newest first. `waiting` has those beside the rows, likewise."""
    rows = _visible(reader, _BEFORE, sequence, spot, masks, most)
    return list(islice(merge(rows, waiting, key=spot_of, reverse=True), most))


def newest_paths(
    reader: apsw.Connection, sequence: str, masks: Masks, waiting: Sequence[Block], most: int
) -> list[str]:
    """Give the files of the newest messages, the newest first. `waiting` has those beside the rows, likewise."""
    if not waiting and not masks.paths and not masks.keys:
        # The index over sessions alone tells it.
        rows: list[tuple[Any, ...]] = reader.execute(_PATHS, (bindable(sequence), most)).fetchall()
        paths = list(dict.fromkeys(path for (path,) in rows))
        if all(map(str.isascii, paths)):
            return paths
    return list(dict.fromkeys(one.path for one in before(reader, sequence, AFTER_ALL, masks, waiting, most)))


def after(
    reader: apsw.Connection, sequence: str, spot: Spot, masks: Masks, waiting: Iterable[Block], most: int
) -> list[Block]:
    """Give up to `most` messages after a place, the oldest first. `waiting` has those beside the rows, likewise."""
    rows = _visible(reader, _AFTER, sequence, spot, masks, most)
    return list(islice(merge(rows, waiting, key=spot_of), most))


def _visible(
    reader: apsw.Connection, question: str, sequence: str, spot: Spot, masks: Masks, most: int
) -> Iterator[Block]:
    """Yield the visible rows from a place on, some at a time: most often the first are all that is wanted."""
    size = most
    while True:
        values: tuple[Any, ...] = (bindable(sequence), spot[0], bindable(spot[1]), spot[2], size)
        # All of them at once: a question that is left half answered would be in the way of the next.
        page = [block_of(row) for row in reader.execute(f"{question} LIMIT ?", values).fetchall()]
        yield from (block for block in page if not masks.hide(block))
        if len(page) < size:
            return
        spot, size = spot_of(page[-1]), max(PAGE, size)
