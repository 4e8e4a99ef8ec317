"""Write the rows of a commit, and what is counted of them; within a transaction of the caller's."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Mapping
from typing import Any

import apsw

from openclaw_memory.retrieval.blocks import Block, FileRecord, searchable, sequence_of
from openclaw_memory.retrieval.breathing import breathing
from openclaw_memory.retrieval.engines.changes import Changes
from openclaw_memory.retrieval.engines.engine import Cut, Delta
from openclaw_memory.retrieval.engines.rows import INSERT, bindable, check_sum, columns_of, row_of
from openclaw_memory.retrieval.engines.words import all_stored
from openclaw_memory.retrieval.terms import terms


def cut(id_: int, block: Block) -> Cut:
    """Cut a block into the terms that it is stored by."""
    words = all_stored(terms(searchable(block)))
    return Cut(id_, block, words, Counter(words))


def delta_of(changes: Changes, next_id: int) -> Delta:
    """Give new blocks their ids, and cut what goes and what comes into terms."""
    return Delta(
        gone=tuple(cut(id_, block) for id_, block in breathing(changes.gone)),
        new=tuple(cut(next_id + at, block) for at, block in enumerate(breathing(changes.new))),
    )


def write_changes(connection: apsw.Connection, changes: Changes, delta: Delta, generation: int) -> None:
    """Delete, move and insert rows, and keep the counts in step."""
    connection.executemany("DELETE FROM blocks WHERE id = ?", ((one.id,) for one in delta.gone))
    connection.executemany(
        "UPDATE blocks SET path = ?, start_line = ?, end_line = ?, sequence = ?, check_sum = ? WHERE id = ?",
        (_moved(id_, block) for id_, block in breathing(changes.moved)),
    )
    connection.executemany(INSERT, map(row_of, breathing(delta.new)))
    _write_held(connection, delta)
    blocks = len(delta.new) - len(delta.gone)
    length = sum(len(one.words) for one in delta.new) - sum(len(one.words) for one in delta.gone)
    connection.execute(
        "UPDATE state SET generation = ?, blocks = blocks + ?, length = length + ?, next_id = next_id + ?",
        (generation, blocks, length, len(delta.new)),
    )


def write_records(connection: apsw.Connection, records: Mapping[str, FileRecord | None]) -> None:
    """Store the records of files; None takes one out."""
    for path, record in records.items():
        if record is None:
            connection.execute("DELETE FROM files WHERE path = ?", (bindable(path),))
        else:
            values = (bindable(path), record.size, record.mtime_ns, record.inode, record.checksum)
            connection.execute("INSERT OR REPLACE INTO files VALUES (?, ?, ?, ?, ?)", values)


def write_intent(connection: apsw.Connection, delta: Delta, generation: int) -> None:
    """Say, before an engine's own files are changed, for which blocks they may be out of step with the rows."""
    ids = json.dumps([one.id for one in (*delta.gone, *delta.new)])
    connection.execute("INSERT INTO intent VALUES (?, ?)", (generation, ids))


def read_intents(connection: apsw.Connection) -> list[tuple[int, list[int]]]:
    """Give the generations that were begun and not finished, and the blocks that they touch."""
    return [(generation, json.loads(ids)) for generation, ids in connection.execute("SELECT * FROM intent")]


def _write_held(connection: apsw.Connection, delta: Delta) -> None:
    held: Counter[str] = Counter()
    for one in breathing(delta.new):
        held.update(one.counts.keys())
    for one in delta.gone:
        held.subtract(one.counts.keys())
    # In order: neighbours lie on the same page.
    connection.executemany(
        "INSERT INTO terms VALUES (?, ?) ON CONFLICT (term) DO UPDATE SET held = held + excluded.held",
        breathing(sorted(item for item in held.items() if item[1])),
    )
    gone = {word for one in delta.gone for word in one.counts}
    connection.executemany("DELETE FROM terms WHERE term = ? AND held <= 0", ((term,) for term in sorted(gone)))


def _moved(id_: int, block: Block) -> tuple[Any, ...]:
    sequence, columns = sequence_of(block), columns_of(id_, block)
    return (*columns[2:5], sequence and bindable(sequence), check_sum(columns), id_)
