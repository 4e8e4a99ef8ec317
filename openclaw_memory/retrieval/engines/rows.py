"""How blocks lie in SQLite."""

from __future__ import annotations

import json
import re
from typing import Any
from zlib import crc32

from openclaw_memory.retrieval.blocks import Block, sequence_of
from openclaw_memory.retrieval.engines.engine import Cut
from openclaw_memory.retrieval.engines.errors import IndexDamagedError
from openclaw_memory.retrieval.moments import microseconds, moment, offset_of
from openclaw_memory.retrieval.passages import id_of

SCHEMA_VERSION = "2"

CREATE = """
CREATE TABLE meta (name TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;
CREATE TABLE state (
    one INTEGER PRIMARY KEY CHECK (one = 1),
    generation INTEGER NOT NULL,
    blocks INTEGER NOT NULL,
    length INTEGER NOT NULL,
    next_id INTEGER NOT NULL,
    folder TEXT NOT NULL
);
INSERT INTO state VALUES (1, 0, 0, 0, 1, '');
CREATE TABLE intent (generation INTEGER NOT NULL, ids TEXT NOT NULL);
CREATE TABLE files (
    path TEXT PRIMARY KEY,
    size INTEGER NOT NULL,
    mtime_ns INTEGER NOT NULL,
    inode INTEGER NOT NULL,
    checksum TEXT NOT NULL
) WITHOUT ROWID;
CREATE TABLE terms (term TEXT PRIMARY KEY, held INTEGER NOT NULL) WITHOUT ROWID;
CREATE TABLE blocks (
    id INTEGER PRIMARY KEY,
    key TEXT NOT NULL,
    path TEXT NOT NULL,
    start_line INTEGER NOT NULL,
    end_line INTEGER NOT NULL,
    layer TEXT NOT NULL,
    time INTEGER NOT NULL,
    shift INTEGER,
    session TEXT,
    role TEXT,
    section TEXT,
    visibility TEXT NOT NULL,
    flags INTEGER NOT NULL,
    tags TEXT,
    name TEXT,
    origin TEXT,
    text TEXT NOT NULL,
    check_sum INTEGER NOT NULL,
    length INTEGER NOT NULL,
    counts BLOB NOT NULL,
    sequence TEXT,
    text_id BLOB
);
CREATE INDEX by_key ON blocks (key);
CREATE INDEX by_path ON blocks (path, start_line);
CREATE INDEX by_sequence ON blocks (sequence, time, path, start_line) WHERE sequence IS NOT NULL;
CREATE INDEX by_text ON blocks (text_id) WHERE text_id IS NOT NULL;
CREATE INDEX by_audience ON blocks (visibility, session) WHERE visibility <> 'private';
"""
"""`time` is in microseconds (UTC), `shift` its offset in microseconds, NULL for an unknown time; `terms.held` counts
blocks; `sequence` names the conversation of a message; `flags` has `IMPORTANT` and `STANDS_IN`; `text_id` is the
address of its vector."""

IMPORTANT, STANDS_IN = 1, 2
"""A block that is marked important; one whose texts hold characters that stand in for others."""
_PRIVATE = 0x10F000
_SURROGATE = re.compile("[\ud800-\udfff]")
_STAND_IN = re.compile(f"[{chr(_PRIVATE)}-{chr(_PRIVATE + 0x7FF)}]")

COLUMNS = (
    "id, key, path, start_line, end_line, layer, time, shift, session, role, section, visibility, flags, tags, "
    "name, origin, text, check_sum"
)
INSERT = f"INSERT INTO blocks ({COLUMNS}, length, counts, sequence, text_id) VALUES ({', '.join('?' * 22)})"


def row_of(cut: Cut) -> tuple[Any, ...]:
    """Give what `INSERT` takes for a block."""
    columns = columns_of(cut.id, cut.block)
    sequence = sequence_of(cut.block)
    rest = (check_sum(columns), cut.length, cut.counts, sequence and bindable(sequence))
    return (*columns, *rest, id_of(cut.block))


def columns_of(id_: int, block: Block) -> tuple[Any, ...]:
    """Give the values of `COLUMNS`, but for the last."""
    given = (
        id_,
        block.key,
        block.path,
        block.start_line,
        block.end_line,
        block.layer,
        microseconds(block.time),
        offset_of(block.time),
        block.session,
        block.role,
        block.section,
        block.visibility,
        IMPORTANT if block.important else 0,
        json.dumps(block.tags) if block.tags else None,
        block.name,
        block.origin,
        block.text,
    )
    try:
        "".join([value for value in given if isinstance(value, str)]).encode()
    except UnicodeEncodeError:
        bound = [bindable(value) if isinstance(value, str) else value for value in given]
        bound[12] = given[12] | STANDS_IN
        return tuple(bound)
    return given


def block_of(row: tuple[Any, ...]) -> Block:
    """Make the block of a row that begins with `COLUMNS`.

    Raises: `IndexDamagedError` when it is not what was written.
    """
    if row[17] != check_sum(row):
        raise IndexDamagedError("the index", f"the block {row[1]!r} is not what was written")
    if row[12] & STANDS_IN:
        row = tuple([readable(value) if isinstance(value, str) else value for value in row])
    tags = row[13]
    # By position: this is done for every row of every search.
    return Block(
        row[1],
        row[5],
        row[2],
        row[3],
        row[4],
        row[16],
        moment(row[6], row[7]),
        row[8],
        row[9],
        row[10],
        row[11],
        row[12] & IMPORTANT != 0,
        tuple(json.loads(tags)) if tags else (),
        row[14],
        row[15],
    )


def check_sum(row: tuple[Any, ...]) -> int:
    """Give a number that changes with what is shown of a row, and to whom: SQLite notices no bit that was turned."""
    # Not all columns: this is done for every row of every search.
    written = f"{row[1]}\0{row[2]}\0{row[3]}\0{row[5]}\0{row[6]}\0{row[8]}\0{row[11]}\0{row[16]}"
    return crc32(written.encode())


def bindable(text: str) -> str:
    """Give a text as SQLite can hold it: a lone surrogate (of a file name) becomes a private character."""
    if text.isascii():
        return text
    return _SURROGATE.sub(lambda match: chr(ord(match.group()) - 0xD800 + _PRIVATE), text)


def readable(text: str) -> str:
    """Give a text as it was before `bindable`."""
    if text.isascii():
        return text
    return _STAND_IN.sub(lambda match: chr(ord(match.group()) - _PRIVATE + 0xD800), text)
