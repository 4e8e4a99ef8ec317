"""Bring an engine's own files into step with the rows again, after a crash between the two."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import apsw

from openclaw_memory.retrieval.engines.database import Row, among, read_state
from openclaw_memory.retrieval.engines.engine import Cut, Delta, Engine
from openclaw_memory.retrieval.engines.errors import TermsDamagedError
from openclaw_memory.retrieval.engines.faults import told
from openclaw_memory.retrieval.engines.rows import COLUMNS, block_of
from openclaw_memory.retrieval.engines.writing import cut, read_intents

PAGE = 2_000
"""Rows that are read at a time when terms are made anew."""


def bring_into_step(connection: apsw.Connection, engine: Engine) -> None:
    """Undo or finish what an interrupted commit did to the engine's files, from the rows; reads no document.

    Raises: `TermsDamagedError` when the engine is of a generation from which there is no way, such as after a power
    failure that cost SQLite its last commits; its terms have to be made anew.
    """
    if not engine.own_files:
        return
    generation, intents = read_state(connection).generation, read_intents(connection)
    reached = engine.generation()
    if reached != generation and reached not in {begun for begun, _ in intents}:
        raise TermsDamagedError("the terms", f"they are of generation {reached}, the rows of {generation}")
    if not intents:
        return
    touched = sorted({id_ for _, ids in intents for id_ in ids})
    there: dict[int, Row] = {
        row[0]: row for row in among(connection, f"SELECT {COLUMNS} FROM blocks WHERE id", touched)
    }
    new = tuple(cut(id_, block_of(row)) for id_, row in there.items())
    engine.restore(touched, Delta(new=new), generation)
    connection.execute("DELETE FROM intent")


def all_cuts(connection: apsw.Connection, tell: Callable[[int], None]) -> Iterator[Cut]:
    """Cut every row anew, a page at a time; `tell` is called with how many have been."""
    last = done = 0
    question = f"SELECT {COLUMNS} FROM blocks WHERE id > ? ORDER BY id LIMIT ?"
    while True:
        with told("reading the index"):
            rows: list[Row] = connection.execute(question, (last, PAGE)).fetchall()
            cuts = [cut(row[0], block_of(row)) for row in rows]
        if not rows:
            return
        yield from cuts
        last, done = rows[-1][0], done + len(rows)
        tell(done)
