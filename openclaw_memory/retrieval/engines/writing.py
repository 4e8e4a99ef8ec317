"""Write the rows of a commit, and what is counted of them; within a transaction of the caller's."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator, Mapping
from itertools import islice
from typing import Any

import apsw

from openclaw_memory.retrieval.blocks import Block, FileRecord, searchable, sequence_of
from openclaw_memory.retrieval.breathing import breathing
from openclaw_memory.retrieval.engines.changes import Changes
from openclaw_memory.retrieval.engines.engine import Cut, Delta
from openclaw_memory.retrieval.engines.rows import INSERT, bindable, check_sum, columns_of, row_of
from openclaw_memory.retrieval.engines.words import all_stored, pack
from openclaw_memory.retrieval.terms import terms

WRITTEN_AT_ONCE = 1_024
"""Terms that are written as JSON without a pause."""


def words_of(block: Block) -> list[str]:
    """Give the terms that a block is stored by, in order, repeated as often as they occur."""
    return all_stored(terms(searchable(block)))


def cut(id_: int, block: Block) -> Cut:
    """Cut the block of a row into the terms that it is stored by."""
    words = words_of(block)
    return Cut(id_, block, " ".join(words), len(words))


def delta_of(changes: Changes, next_id: int) -> Delta:
    """Give new blocks their ids, and cut what goes and what comes into terms."""
    held: Counter[str] = Counter()
    new = []
    for id_, block in enumerate(breathing(changes.new), next_id):
        words = words_of(block)
        counts = Counter(words)
        held.update(counts.keys())
        new.append(Cut(id_, block, " ".join(words), len(words), pack(counts)))
    gone = tuple(cut(id_, block) for id_, block in breathing(changes.gone))
    for one in gone:
        held.subtract(set(one.words.split()))
    return Delta(gone, tuple(new), held)


def write_changes(connection: apsw.Connection, changes: Changes, delta: Delta, generation: int) -> None:
    """Delete, move and insert rows, and keep the counts in step."""
    connection.executemany("DELETE FROM blocks WHERE id = ?", ((one.id,) for one in delta.gone))
    connection.executemany(
        "UPDATE blocks SET path = ?, start_line = ?, end_line = ?, sequence = ?, check_sum = ? WHERE id = ?",
        (_moved(id_, block) for id_, block in breathing(changes.moved)),
    )
    connection.executemany(INSERT, map(row_of, breathing(delta.new)))
    _write_held(connection, delta.held)
    blocks = len(delta.new) - len(delta.gone)
    length = sum(one.length for one in delta.new) - sum(one.length for one in delta.gone)
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


def _write_held(connection: apsw.Connection, held: Mapping[str, int]) -> None:
    """Count for each term how many rows hold it now."""
    # In one statement: a call for each of the fifty thousand terms of a large commit takes twice as long, and takes the
    # interpreter away from other threads. In order, since neighbours lie on the same page.
    connection.execute(
        "INSERT INTO terms SELECT key, value FROM json_each(?) WHERE true ORDER BY key "
        "ON CONFLICT (term) DO UPDATE SET held = held + excluded.held",
        (_json_of(item for item in held.items() if item[1]),),
    )
    fewer = sorted(term for term, count in held.items() if count < 0)
    connection.executemany("DELETE FROM terms WHERE term = ? AND held <= 0", ((term,) for term in fewer))


def _json_of(counts: Iterator[tuple[str, int]]) -> str:
    """Write a JSON object, a part at a time: all of it at once would hold up other threads."""
    parts = iter(lambda: dict(islice(counts, WRITTEN_AT_ONCE)), {})
    members = (json.dumps(part, ensure_ascii=False)[1:-1] for part in breathing(parts))
    return "{" + ",".join(members) + "}"


def _moved(id_: int, block: Block) -> tuple[Any, ...]:
    sequence, columns = sequence_of(block), columns_of(id_, block)
    return (*columns[2:5], sequence and bindable(sequence), check_sum(columns), id_)
