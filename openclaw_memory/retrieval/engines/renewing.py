"""Make an engine's terms anew from the rows, beside the old ones, and put them into their place in one step."""

from __future__ import annotations

import shutil
from collections.abc import Iterable

import apsw

from openclaw_memory.retrieval.engines.database import read_state
from openclaw_memory.retrieval.engines.engine import Cut
from openclaw_memory.retrieval.engines.errors import IndexUnavailableError
from openclaw_memory.retrieval.engines.faults import told
from openclaw_memory.retrieval.engines.fts import FtsEngine
from openclaw_memory.retrieval.engines.holder import Holder
from openclaw_memory.retrieval.engines.places import Places
from openclaw_memory.retrieval.engines.recovery import all_cuts
from openclaw_memory.retrieval.engines.tantivy_engine import TantivyEngine
from openclaw_memory.retrieval.status import Progress


def renew_terms(holder: Holder, places: Places, engine: str, progress: Progress) -> None:
    """Make all terms anew; no document is read. Searches go on; commits have to wait, the caller sees to that."""
    connection = holder.database.writer
    state = read_state(connection)
    cuts = all_cuts(connection, lambda done: progress(done, state.blocks))
    if engine == FtsEngine.name:
        _renew_fts(holder, connection, cuts)
    else:
        _renew_tantivy(holder, places, connection, cuts, state.generation)


def _renew_fts(holder: Holder, connection: apsw.Connection, cuts: Iterable[Cut]) -> None:
    fts = FtsEngine()
    connection.execute("BEGIN IMMEDIATE")
    try:
        fts.clear(connection)
        fts.enter(connection, cuts)
        holder.switch(fts, lambda: connection.execute("COMMIT"))
    except BaseException:
        if connection.in_transaction:
            connection.execute("ROLLBACK")
        raise


def _renew_tantivy(
    holder: Holder, places: Places, connection: apsw.Connection, cuts: Iterable[Cut], generation: int
) -> None:
    name = places.make_folder()
    folder = places.folders / name
    made: TantivyEngine | None = None
    try:
        # New files that can't be written are no damage.
        with told("writing the terms", IndexUnavailableError):
            made = TantivyEngine(folder, create=True)
            made.fill(cuts, generation)
        connection.execute("BEGIN IMMEDIATE")
        connection.execute("UPDATE state SET folder = ?", (name,))
        connection.execute("DELETE FROM intent")
        old = holder.engine
        holder.switch(made, lambda: connection.execute("COMMIT"))
    except BaseException:
        if connection.in_transaction:
            connection.execute("ROLLBACK")
        if made is not None:
            made.close()
        shutil.rmtree(folder, ignore_errors=True)
        raise
    old.close()
    places.keep_folder(name)
