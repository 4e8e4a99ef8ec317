"""The SQLite file that vectors lie in: one table of vectors and one of signs for each model.

A file of its own, beside the index: a rebuild of the index replaces that and keeps this, which cost minutes to make;
and two writers never wait for each other. Vectors are addressed by the hash of their text, so a block that moves costs
nothing, and equal texts share one. Rows are numbered in the order in which they came; numbers are never used twice.
"""

from __future__ import annotations

import zlib
from array import array
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple, TypeAlias

import apsw
import numpy as np
from numpy.typing import NDArray

from openclaw_memory.retrieval.vectors.errors import VectorsLostError, VectorsUnavailableError

VERSION = 1
BUSY_MILLISECONDS = 5_000
Numbers: TypeAlias = "NDArray[np.int64] | array[int]"
_MODEL = "id, name, dimensions, probe, centre, chunk, generation"
_LOST = (apsw.CorruptError, apsw.NotADBError, apsw.FormatError)


class Row(NamedTuple):
    """A vector as it is kept: one byte a number."""

    number: int
    text: bytes
    vector: bytes


class Known(NamedTuple):
    """A model as the file knows it. `probe` is the vector of a fixed text; `centre` is empty before the first chunk."""

    id: int
    name: str
    dimensions: int
    probe: bytes
    centre: bytes
    chunk: int
    generation: int


class VectorsFile:
    """One connection. Not for use by two threads at a time.

    Parameters: `path`; `writable`, false beside the process that writes: then nothing is made or changed.

    Raises: `VectorsLostError` when what is there is no such file (any method); `VectorsUnavailableError`.
    """

    def __init__(self, path: Path, *, writable: bool = True) -> None:
        self._path = path
        self.damaged: set[int] = set()
        """Numbers of rows that were read and whose bytes are not those that were written."""
        with self.faults():
            made = apsw.SQLITE_OPEN_READWRITE | apsw.SQLITE_OPEN_CREATE
            self._db = apsw.Connection(str(path), flags=made if writable else apsw.SQLITE_OPEN_READONLY)
            try:
                self._db.set_busy_timeout(BUSY_MILLISECONDS)
                if writable:
                    self._prepare()
                elif self._db.pragma("user_version") != VERSION:
                    raise VectorsUnavailableError(str(path), "it has another format, or holds nothing yet")
            except BaseException:
                self._db.close()
                raise
        self._inode = path.stat().st_ino

    def _prepare(self) -> None:
        self._path.chmod(0o600)
        # Derived data: the last commits may be lost in a power failure, the file stays whole.
        self._db.execute("PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL; PRAGMA secure_delete = ON")
        version = self._db.pragma("user_version")
        if version not in (0, VERSION):
            raise VectorsLostError(str(self._path), f"has format {version} instead of {VERSION}")
        with self._db:
            self._db.execute(
                "CREATE TABLE IF NOT EXISTS models(id INTEGER PRIMARY KEY, name TEXT NOT NULL,"
                " dimensions INTEGER NOT NULL, probe BLOB NOT NULL, centre BLOB NOT NULL, chunk INTEGER NOT NULL,"
                " generation INTEGER NOT NULL, checksum INTEGER NOT NULL, UNIQUE(name, dimensions));"
                "CREATE TABLE IF NOT EXISTS chosen(one INTEGER PRIMARY KEY CHECK(one = 1), model INTEGER NOT NULL);"
                f"PRAGMA user_version = {VERSION}"
            )

    @contextmanager
    def faults(self) -> Iterator[None]:
        """Tell what SQLite raises in our own words."""
        try:
            yield
        except (*_LOST, UnicodeDecodeError) as error:
            raise VectorsLostError(str(self._path), f"is damaged ({error})") from error
        except (apsw.Error, OSError) as error:
            raise VectorsUnavailableError(str(self._path), str(error)) from error

    @contextmanager
    def change(self) -> Iterator[None]:
        """Do all of it or nothing.

        Raises: `VectorsLostError` also when the file was removed underneath, where SQLite would go on silently.
        """
        self.check_place()
        with self.faults():
            self._db.execute("BEGIN IMMEDIATE")
            try:
                yield
                self._db.execute("COMMIT")
            except BaseException:
                if not self._db.get_autocommit():
                    self._db.execute("ROLLBACK")
                raise

    @contextmanager
    def snapshot(self) -> Iterator[None]:
        """Let all that is read inside be of one moment."""
        with self.faults():
            self._db.execute("BEGIN")
            try:
                yield
            finally:
                if not self._db.get_autocommit():
                    self._db.execute("COMMIT")

    def check_place(self) -> None:
        """Refuse to go on when another file, or none, has our name."""
        try:
            here = self._path.stat().st_ino == self._inode
        except FileNotFoundError:
            here = False
        if not here:
            raise VectorsLostError(str(self._path), "was removed")

    def data_version(self) -> int:
        """Give a number that changes when another connection commits."""
        with self.faults():
            return self._number("PRAGMA data_version")

    def models(self) -> list[Known]:
        """List the models that vectors are kept of."""
        with self.faults():
            rows: list[Any] = self._db.execute(f"SELECT {_MODEL}, checksum FROM models ORDER BY id").fetchall()
        if any(_model_checksum(row[:-1]) != row[-1] for row in rows):
            raise VectorsLostError(str(self._path), "is damaged (its models)")
        return [Known(*row[:-1]) for row in rows]

    def _sign_model(self, model: int) -> None:
        (row,) = self._db.execute(f"SELECT {_MODEL} FROM models WHERE id = ?", (model,)).fetchall()
        self._db.execute("UPDATE models SET checksum = ? WHERE id = ?", (_model_checksum(row), model))

    def chosen(self) -> Known | None:
        """Give the model that searches use."""
        with self.faults():
            row = self._db.execute("SELECT model FROM chosen").fetchone()
        return next((model for model in self.models() if row and model.id == row[0]), None)

    def add_model(self, name: str, dimensions: int, probe: bytes, chunk: int) -> int:
        """Make room for a model's vectors; `chunk` is how many signs lie together."""
        self._db.execute(
            "INSERT INTO models(name, dimensions, probe, centre, chunk, generation, checksum)"
            " VALUES (?, ?, ?, x'', ?, 0, 0)",
            (name, dimensions, probe, chunk),
        )
        model = self._db.last_insert_rowid()
        self._sign_model(model)
        self._db.execute(
            f"CREATE TABLE vectors_{model}(number INTEGER PRIMARY KEY AUTOINCREMENT, text BLOB NOT NULL UNIQUE,"
            f" vector BLOB NOT NULL, checksum INTEGER NOT NULL);"
            f"CREATE TABLE signs_{model}(chunk INTEGER PRIMARY KEY, bits BLOB NOT NULL, checksum INTEGER NOT NULL)"
        )
        return model

    def choose(self, model: int) -> None:
        """Let searches use this model."""
        self._db.execute("INSERT OR REPLACE INTO chosen VALUES (1, ?)", (model,))

    def drop_model(self, model: int) -> None:
        """Remove a model with its vectors."""
        self._db.execute(f"DROP TABLE vectors_{model}; DROP TABLE signs_{model}")
        self._db.execute("DELETE FROM models WHERE id = ?", (model,))

    def set_centre(self, model: int, centre: bytes) -> None:
        """Keep what the signs are taken about."""
        self._db.execute("UPDATE models SET centre = ? WHERE id = ?", (centre, model))
        self._sign_model(model)

    def add(self, model: int, vectors: Iterable[tuple[bytes, bytes]]) -> None:
        """Add (text, vector); none of the texts may have one."""
        self._db.executemany(
            f"INSERT INTO vectors_{model}(text, vector, checksum) VALUES (?, ?, ?)",
            ((text, vector, _checksum(text + vector)) for text, vector in vectors),
        )

    def remove(self, model: int, texts: Sequence[bytes]) -> list[int]:
        """Remove vectors by text; give the numbers that they had."""
        if not texts:
            return []
        query = f"DELETE FROM vectors_{model} WHERE text IN carray(?) RETURNING number"
        return [number for (number,) in self._db.execute(query, (apsw.carray(tuple(texts)),))]

    def numbers(self, model: int, texts: Sequence[bytes]) -> dict[bytes, int]:
        """Give the numbers of those of the texts that have a vector."""
        if not texts:
            return {}
        with self.faults():
            query = f"SELECT text, number FROM vectors_{model} WHERE text IN carray(?)"
            return dict(self._db.execute(query, (apsw.carray(tuple(texts)),)))

    def vectors(self, model: Known, numbers: Numbers) -> list[tuple[int, bytes]]:
        """Give numbers and vectors of the rows that are there, of the right size but else unchecked: `rows` checks."""
        if not len(numbers):
            return []
        query = (
            f"SELECT number, vector FROM vectors_{model.id} WHERE number IN carray(?)"
            " AND typeof(vector) = 'blob' AND length(vector) = ?"
        )
        with self.faults():
            found: Iterable[Any] = self._db.execute(query, (apsw.carray(numbers), model.dimensions))
            return list(found)

    def rows(self, model: int, numbers: Numbers) -> list[Row]:
        """Give the rows that are there and undamaged."""
        if not len(numbers):
            return []
        query = f"SELECT number, text, vector, checksum FROM vectors_{model} WHERE number IN carray(?)"
        with self.faults():
            return self._whole(self._db.execute(query, (apsw.carray(numbers),)))

    def rows_after(self, model: int, number: int, most: int) -> list[Row]:
        """Give the next undamaged rows in order."""
        query = f"SELECT number, text, vector, checksum FROM vectors_{model} WHERE number > ? ORDER BY number LIMIT ?"
        with self.faults():
            return self._whole(self._db.execute(query, (number, most)))

    def _number(self, query: str) -> int:
        found: Any = self._db.execute(query).fetchone()
        return int(found[0])

    def _whole(self, found: Iterable[tuple[Any, ...]]) -> list[Row]:
        rows: list[Row] = []
        for number, text, vector, checksum in found:
            # A damaged row may hold anything, text and nothing at all included.
            as_written = isinstance(text, bytes) and isinstance(vector, bytes)
            if as_written and _checksum(text + vector) == checksum:
                rows.append(Row(number, text, vector))
            else:
                self.damaged.add(number)
        return rows

    def remove_numbers(self, model: int, numbers: Sequence[int]) -> None:
        """Remove vectors by number."""
        self._db.execute(f"DELETE FROM vectors_{model} WHERE number IN carray(?)", (apsw.carray(_array(numbers)),))

    def last_number(self, model: int) -> int:
        """Give the highest number that a vector has; 0 when there is none."""
        with self.faults():
            return self._number(f"SELECT coalesce(max(number), 0) FROM vectors_{model}")

    def count(self, model: int) -> int:
        """Count the vectors."""
        with self.faults():
            return self._number(f"SELECT count(*) FROM vectors_{model}")

    def add_signs(self, model: int, chunk: int, bits: bytes) -> None:
        """Keep the signs of a chunk, in the place of earlier ones."""
        self._db.execute(f"INSERT OR REPLACE INTO signs_{model} VALUES (?, ?, ?)", (chunk, bits, _checksum(bits)))

    def chunks(self, model: int) -> int:
        """Count the chunks that are full; the signs of one may be missing."""
        with self.faults():
            return self._number(f"SELECT coalesce(max(chunk) + 1, 0) FROM signs_{model}")

    def signs(self, model: int, chunk: int) -> bytes | None:
        """Give the signs of a chunk; None when they are missing or damaged, and must be taken again."""
        with self.faults():
            row = self._db.execute(f"SELECT bits, checksum FROM signs_{model} WHERE chunk = ?", (chunk,)).fetchone()
        return row[0] if row and isinstance(row[0], bytes) and _checksum(row[0]) == row[1] else None

    def renumber(self, model: int) -> None:
        """Close the gaps that removed vectors left; signs are taken again by the caller."""
        self._db.execute(
            f"ALTER TABLE vectors_{model} RENAME TO old_{model};"
            f"CREATE TABLE vectors_{model}(number INTEGER PRIMARY KEY AUTOINCREMENT, text BLOB NOT NULL UNIQUE,"
            f" vector BLOB NOT NULL, checksum INTEGER NOT NULL);"
            f"INSERT INTO vectors_{model}(text, vector, checksum)"
            f" SELECT text, vector, checksum FROM old_{model} ORDER BY number;"
            f"DROP TABLE old_{model}; DELETE FROM signs_{model}"
        )
        self._db.execute("UPDATE models SET generation = generation + 1, centre = x'' WHERE id = ?", (model,))
        self._sign_model(model)

    def vacuum(self) -> None:
        """Leave nothing of what was removed, neither in the file nor in its log."""
        with self.faults():
            self._db.execute("VACUUM")
            self._db.wal_checkpoint(mode=apsw.SQLITE_CHECKPOINT_TRUNCATE)

    def texts_after(self, model: int, number: int, most: int) -> list[tuple[int, bytes]]:
        """Give the next numbers and texts in order."""
        query = f"SELECT number, text FROM vectors_{model} WHERE number > ? ORDER BY number LIMIT ?"
        with self.faults():
            return [(int(found), text) for found, text in self._db.execute(query, (number, most))]

    def close(self) -> None:
        """Close the connection."""
        self._db.close()


def remove_files(path: Path) -> None:
    """Remove the file with its log.

    Raises: `VectorsUnavailableError`.
    """
    try:
        for name in (f"{path}-wal", f"{path}-shm", str(path)):
            Path(name).unlink(missing_ok=True)
    except OSError as error:
        raise VectorsUnavailableError(str(path), str(error)) from error


def _array(numbers: Sequence[int]) -> array[int]:
    return array("q", numbers)


def _model_checksum(row: Sequence[object]) -> int:
    return _checksum(repr(tuple(row)).encode())


def _checksum(data: bytes) -> int:
    return zlib.crc32(data)
