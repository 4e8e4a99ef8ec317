"""The SQLite file: how it is opened, one connection that writes, and as many that read as there are searches."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from queue import Empty, LifoQueue
from typing import Any

import apsw

from openclaw_memory.retrieval.engines import fts, rows
from openclaw_memory.retrieval.engines.errors import IndexDamagedError, IndexOutdatedError
from openclaw_memory.retrieval.engines.rows import bindable

BUSY_MS = 250
"""How long a lock is waited for: only a stranger holds one for longer than a commit takes."""
CACHE_KIB = 16_384
"""Pages that a connection keeps in memory."""
CHUNKS = (1, 8, 16, 64)
"""How many values a question to the database has: fixed numbers of them are prepared once."""
LEAST_READERS = 2
WAIT = 1.0
"""Seconds for which a search waits for a connection when no new one can be opened."""
MOST_READERS = 4
"""Connections that are kept open for the next search."""


@dataclass(frozen=True, slots=True)
class State:
    """What the rows are in all. `folder` names tantivy's folder, empty with the engine `sqlite`."""

    generation: int
    blocks: int
    length: int
    next_id: int
    folder: str


class Database:
    """Connections to one file. What SQLite raises goes through to the caller.

    Parameters: `path`; `writable` tells whether this process is the one that writes.
    """

    def __init__(self, path: Path, *, writable: bool = True) -> None:
        self.path = path
        self._idle: LifoQueue[apsw.Connection] = LifoQueue()
        """The one that was used last is taken first: it has the pages and statements at hand."""
        self._closed = False
        self._looked_at = False
        self._writable = writable
        self.writer = self._connect(writable)
        try:
            if writable:
                self.writer.execute("PRAGMA journal_mode = WAL")
                self.writer.execute("PRAGMA synchronous = NORMAL")
                # Each time: the setting belongs to the connection.
                self.writer.execute("PRAGMA secure_delete = ON")
            self.writer.execute("SELECT count(*) FROM sqlite_master").fetchall()
            # Open from the beginning: should somebody remove the file, no connection could be opened any more.
            for _ in range(LEAST_READERS):
                self._idle.put(self._connect(writable=False))
            self._log = path.with_name(path.name + "-wal")
            self._inodes = (_inode(path), _inode(self._log))
        except BaseException:
            self.close()
            raise

    def pin(self) -> apsw.Connection:
        """Give a connection that sees from now on what is committed now; to be given back to `unpin`."""
        try:
            reader = self._idle.get_nowait()
        except Empty:
            # When all is closed none comes back any more.
            wait = 0.0 if self._closed else WAIT
            reader = self._idle.get(timeout=wait) if self.vanished else self._connect(writable=False)
        try:
            reader.execute("BEGIN")
            # A transaction begins with its first look.
            reader.execute("SELECT generation FROM state").fetchall()
        except BaseException:
            reader.close()
            raise
        return reader

    def unpin(self, reader: apsw.Connection) -> None:
        """Take a connection back."""
        try:
            reader.execute("COMMIT")
        except apsw.Error:
            reader.close()
            return
        if self._closed or self._idle.qsize() >= MOST_READERS:
            reader.close()
        else:
            self._idle.put(reader)

    @property
    def vanished(self) -> bool:
        """Tell whether file or log have another one, or none, in their place; SQLite goes on without noticing."""
        return (_inode(self.path), _inode(self._log)) != self._inodes

    def must_be_sound(self) -> None:
        """Look at every page, once; it takes a second for some hundred megabytes.

        Raises: `IndexDamagedError` when one is not as it should be.
        """
        if self._looked_at:
            return
        (found,) = self.writer.execute("PRAGMA quick_check(1)").fetchall()[0]
        if found != "ok":
            raise IndexDamagedError("the index", str(found))
        self._looked_at = True

    def truncate_log(self) -> None:
        """Write SQLite's log into the file and cut it off, so that no old page is left in it.

        Raises: `apsw.BusyError` when a reader is in the way for too long.
        """
        busy, _, _ = self.writer.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchall()[0]
        if busy:
            raise apsw.BusyError("a reader is in the way of emptying the log")

    def close(self) -> None:
        """Close all connections that are not in use."""
        self._closed = True
        with suppress(Empty):
            while True:
                self._idle.get_nowait().close()
        self.writer.close()

    def _connect(self, writable: bool) -> apsw.Connection:
        if writable:
            flags = apsw.SQLITE_OPEN_READWRITE | apsw.SQLITE_OPEN_CREATE
            if not self.path.exists():
                # Not SQLite's own mode, which lets others read.
                os.close(os.open(self.path, os.O_CREAT | os.O_RDWR, 0o600))
        else:
            flags = apsw.SQLITE_OPEN_READONLY
        connection = apsw.Connection(str(self.path), flags=flags)
        # Else SQLite plans a statement anew for each value that is bound to it, which costs more than the answer.
        connection.config(apsw.SQLITE_DBCONFIG_ENABLE_QPSG, 1)
        connection.set_busy_timeout(BUSY_MS)
        connection.execute(f"PRAGMA cache_size = -{CACHE_KIB}")
        return connection


def create(connection: apsw.Connection, identity: Mapping[str, str], folder: str) -> None:
    """Make the tables of an empty file."""
    with connection:
        connection.execute(rows.CREATE)
        if identity["engine"] == fts.FtsEngine.name:
            connection.execute(fts.CREATE)
            connection.execute(fts.SECURE)
        connection.executemany("INSERT INTO meta VALUES (?, ?)", identity.items())
        connection.execute("UPDATE state SET folder = ?", (folder,))


def check(connection: apsw.Connection, identity: Mapping[str, str]) -> None:
    """See whether a file is one of ours, and one that we can go on with.

    Raises: `IndexOutdatedError` when it was made by another version, other terms or another engine.
    """
    found = dict(connection.execute("SELECT name, value FROM meta"))
    different = [name for name, value in identity.items() if found.get(name) != value]
    if different:
        name = different[0]
        raise IndexOutdatedError("the index", f"its {name} is {found.get(name)}, and {identity[name]} is needed")
    read_state(connection)


def read_state(connection: apsw.Connection) -> State:
    """Read what the rows are in all."""
    row = connection.execute("SELECT generation, blocks, length, next_id, folder FROM state").fetchone()
    if row is None:
        raise IndexDamagedError("the index", "its state is missing")
    return State(*row)


Row = tuple[Any, ...]


def among(
    connection: apsw.Connection, question: str, values: Sequence[str] | Sequence[int] | Sequence[bytes]
) -> list[Row]:
    """Ask a question that ends in `IN` for any number of values."""
    bound = [bindable(value) if isinstance(value, str) else value for value in values]
    found: list[Row] = []
    for at in range(0, len(bound), CHUNKS[-1]):
        part = bound[at : at + CHUNKS[-1]]
        size = next(size for size in CHUNKS if size >= len(part))
        part += part[-1:] * (size - len(part))
        found += connection.execute(f"{question} IN ({','.join('?' * size)})", part).fetchall()
    return found


def _inode(path: Path) -> int | None:
    try:
        return path.stat().st_ino
    except OSError:
        return None


def sizes(paths: Iterable[Path]) -> int:
    """Add up the bytes of files, and of the files in folders; what is not there counts nothing."""
    total = 0
    for path in paths:
        with suppress(OSError):
            inner = [one for one in path.rglob("*") if one.is_file()] if path.is_dir() else [path]
            total += sum(one.stat().st_size for one in inner)
    return total
