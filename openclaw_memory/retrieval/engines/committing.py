"""Bring what waits to the disk, so that a crash at any moment leaves rows and terms that can be brought into step.

The order: an intent in the database names the blocks that the commit touches; the engine is handed the terms, and works
on them while the rows are written in one transaction, which also takes the intent away; the engine commits its own
files; then the transaction is committed, and becomes visible together with the engine's new view. Whoever finds an
intent takes the blocks that it names out of the engine and enters those that have rows.
"""

from __future__ import annotations

from collections.abc import Callable

import apsw

from openclaw_memory.retrieval.engines.changes import Changes, plan_changes
from openclaw_memory.retrieval.engines.database import read_state
from openclaw_memory.retrieval.engines.errors import TermsDamagedError
from openclaw_memory.retrieval.engines.faults import told
from openclaw_memory.retrieval.engines.holder import Holder
from openclaw_memory.retrieval.engines.lookups import rows_of
from openclaw_memory.retrieval.engines.overlay import Batch
from openclaw_memory.retrieval.engines.recovery import bring_into_step
from openclaw_memory.retrieval.engines.rows import block_of
from openclaw_memory.retrieval.engines.writing import delta_of, write_changes, write_intent, write_records


def no_steps(name: str) -> None:
    """Tell nobody."""


def commit_batch(holder: Holder, batch: Batch, step: Callable[[str], None] = no_steps) -> None:
    """Commit a batch. One at a time: the caller sees to that.

    `step` is called with the name of each step before it is done.
    """
    connection, engine = holder.database.writer, holder.engine
    # The commit before may have failed half-way.
    with told("reading the terms", TermsDamagedError):
        bring_into_step(connection, engine)
    state = read_state(connection)
    changes = _planned(connection, batch) if state.blocks else _all_new(batch)
    delta = delta_of(changes, state.next_id)
    changed = bool(delta.gone or delta.new)
    generation = state.generation + changed
    own_terms = changed and engine.own_files
    if own_terms:
        step("intent")
        write_intent(connection, delta, generation)
    try:
        if own_terms:
            step("terms")
            with told("writing the terms", TermsDamagedError):
                engine.begin(delta)
        step("rows")
        connection.execute("BEGIN IMMEDIATE")
        write_changes(connection, changes, delta, generation)
        engine.write(connection, delta)
        write_records(connection, batch.records)
        connection.execute("DELETE FROM intent")
        if own_terms:
            with told("writing the terms", TermsDamagedError):
                engine.prepare(generation)
        step("visible")
        holder.publish(lambda: connection.execute("COMMIT"))
    except BaseException:
        if connection.in_transaction:
            connection.execute("ROLLBACK")
        with told("giving up the terms", TermsDamagedError):
            engine.give_up()
        raise
    step("done")


def _planned(connection: apsw.Connection, batch: Batch) -> Changes:
    rows = rows_of(connection, "path", sorted(batch.paths)) + rows_of(connection, "key", sorted(batch.keys))
    held = {row[0]: block_of(row) for row in rows}
    return plan_changes(held.items(), (entry.block for _, entry in batch.entries))


def _all_new(batch: Batch) -> Changes:
    return Changes((), (), tuple(entry.block for _, entry in batch.entries))
