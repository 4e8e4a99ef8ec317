"""How fast, how small and how exact the vector store is, beside sqlite-vec, usearch and plain numpy arrays.

`python -m benchmarks.bench_vectors --sizes 10000 1000000` prints a table a size; `--only store numpy` narrows it. Each
contender runs in a process of its own, so its memory is its own; all get the same vectors. They are drawn like those of
multilingual e5: 0.9 of the length common to all, variance over the directions as measured over 2,386 messages, in
topics. Recall is the share of the exact 10 and 50 nearest (32-bit floats) among the first 10 and 50 of the answer.
sqlite-vec and usearch are needed for their rows only.
"""

from __future__ import annotations

import argparse
import importlib
import json
import os
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Protocol

import apsw
import numpy as np
from numpy.typing import NDArray
from rich.console import Console
from rich.table import Table

from openclaw_memory.retrieval.embedding import Model
from openclaw_memory.retrieval.vectors.store import VectorStore

Floats = NDArray[np.float32]

DIMENSIONS = 384
COMMON = 0.9
SHARES = ((1, 0.22), (2, 0.039), (6, 0.018), (21, 0.0079), (51, 0.0035), (101, 0.0018), (201, 0.0007), (384, 0.0002))
"""Share of the variance by rank of the direction: measured points, between them straight in logarithms."""
TOPICS = 4_000
QUERIES = 40
BATCH = 1_000
DEEP = 50
POOL = 1_600


@dataclass(frozen=True, slots=True)
class Figures:
    """What one contender needed. Times of one search and of one delete in milliseconds, memory and file in MB."""

    build_seconds: float
    open_seconds: float
    search_ms: float
    search_cpu_ms: float
    delete_ms: float
    memory_mb: float
    file_mb: float
    recall_10: float
    recall_50: float


class Contender(Protocol):
    """One way to keep vectors in a folder and find the nearest, by number."""

    def build(self, vectors: Floats) -> None:
        """Keep all of them."""

    def open(self) -> None:
        """Make ready to search what was built, maybe by another process."""

    def search(self, query: Floats, count: int) -> list[int]:
        """Give the nearest, best first."""

    def delete(self, number: int) -> None:
        """Remove one for good."""


class Store:
    """Ours: signs in memory, whole numbers in SQLite."""

    def __init__(self, folder: Path) -> None:
        self._path = folder / "store.sqlite"
        self._probe = np.ones(DIMENSIONS, dtype=np.float32)

    def build(self, vectors: Floats) -> None:
        """Put them in batches, as the background does."""
        self.open()
        for start in range(0, len(vectors), BATCH):
            rows = vectors[start : start + BATCH]
            self._store.put([((start + at).to_bytes(16, "big"), row) for at, row in enumerate(rows)])

    def open(self) -> None:
        """Open the file, and read the signs with a first search."""
        self._store = VectorStore(self._path)
        self._store.use(Model("bench", DIMENSIONS), self._probe)
        self._store.nearest(self._probe, 1)

    def search(self, query: Floats, count: int) -> list[int]:
        """Search."""
        return [int.from_bytes(text, "big") for text, _ in self._store.nearest(query, count)]

    def delete(self, number: int) -> None:
        """Remove by text."""
        self._store.remove([number.to_bytes(16, "big")])


class Numpy:
    """A matrix of 32-bit floats in memory."""

    def __init__(self, folder: Path) -> None:
        self._path = folder / "numpy.npy"

    def build(self, vectors: Floats) -> None:
        """Write the matrix."""
        np.save(self._path, vectors)

    def open(self) -> None:
        """Read the matrix."""
        self._matrix: Floats = np.load(self._path)

    def search(self, query: Floats, count: int) -> list[int]:
        """Multiply all."""
        scores = self._matrix @ query
        best = np.argpartition(-scores, count)[:count]
        return [int(number) for number in best[np.argsort(-scores[best])]]

    def delete(self, number: int) -> None:
        """Zero the row and write the file again."""
        self._matrix[number] = 0
        np.save(self._path, self._matrix)


class SqliteVec:
    """sqlite-vec, exact over 32-bit floats."""

    columns = f"vector float[{DIMENSIONS}] distance_metric=cosine"
    placeholders = "?"

    def __init__(self, folder: Path) -> None:
        self._path = folder / f"{type(self).__name__}.sqlite"

    def build(self, vectors: Floats) -> None:
        """Insert in batches."""
        self.open()
        self._db.execute(f"CREATE VIRTUAL TABLE v USING vec0({self.columns})")
        for start in range(0, len(vectors), BATCH):
            rows = vectors[start : start + BATCH]
            with self._db:
                self._db.executemany(
                    f"INSERT INTO v(rowid, vector{self.extra}) VALUES (?, {self.placeholders})",
                    [(start + at, *self._bound(row)) for at, row in enumerate(rows)],
                )

    extra = ""

    def _bound(self, row: Floats) -> tuple[bytes, ...]:
        return (row.tobytes(),)

    def open(self) -> None:
        """Open with the extension."""
        self._db = apsw.Connection(str(self._path))
        self._db.enable_load_extension(True)
        self._db.load_extension(importlib.import_module("sqlite_vec").loadable_path())
        self._db.execute("PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL")

    def search(self, query: Floats, count: int) -> list[int]:
        """Ask for the nearest."""
        rows: Any = self._db.execute("SELECT rowid FROM v WHERE vector MATCH ? AND k = ?", (query.tobytes(), count))
        return [row[0] for row in rows]

    def delete(self, number: int) -> None:
        """Delete the row."""
        self._db.execute("DELETE FROM v WHERE rowid = ?", (number,))


class SqliteVecBits(SqliteVec):
    """sqlite-vec over bits about the mean, the best compared again as floats."""

    columns = f"signs bit[{DIMENSIONS}], +vector blob"
    placeholders = "?, vec_bit(?)"
    extra = ", signs"

    def build(self, vectors: Floats) -> None:
        """Keep the mean too."""
        np.save(self._path.with_suffix(".npy"), vectors[:8_192].mean(axis=0))
        super().build(vectors)

    def open(self) -> None:
        """Read the mean."""
        super().open()
        self._mean: Floats = np.load(self._path.with_suffix(".npy"))

    def _bound(self, row: Floats) -> tuple[bytes, ...]:
        return (row.tobytes(), np.packbits(row > self._mean).tobytes())

    def search(self, query: Floats, count: int) -> list[int]:
        """Ask for the nearest by bits."""
        bits = np.packbits(query > self._mean).tobytes()
        # The extension gives at most 4,096.
        found: Any = self._db.execute(
            "SELECT rowid, vector FROM v WHERE signs MATCH vec_bit(?) AND k = ?", (bits, POOL)
        ).fetchall()
        matrix = np.frombuffer(b"".join(row[1] for row in found), dtype=np.float32).reshape(len(found), -1)
        return [found[at][0] for at in np.argsort(-(matrix @ query))[:count]]


class Usearch:
    """usearch's graph (HNSW) over 8-bit numbers, mapped from its file."""

    def __init__(self, folder: Path) -> None:
        self._path = folder / "usearch.index"
        self._package = importlib.import_module("usearch.index")

    def build(self, vectors: Floats) -> None:
        """Add all, in as many threads as there are cores."""
        index = self._package.Index(ndim=DIMENSIONS, metric="cos", dtype="i8")
        index.add(np.arange(len(vectors)), vectors)
        index.save(str(self._path))

    def open(self) -> None:
        """Load it, since a mapped one can't be changed."""
        self._index: Any = self._package.Index.restore(str(self._path))

    def search(self, query: Floats, count: int) -> list[int]:
        """Walk the graph."""
        return [int(key) for key in self._index.search(query, count).keys]

    def delete(self, number: int) -> None:
        """Mark it as removed, and write the file again."""
        self._index.remove(number)
        self._index.save(str(self._path))


class UsearchBits:
    """usearch, exact over bits about the mean in memory, the best compared again from a mapped matrix."""

    def __init__(self, folder: Path) -> None:
        self._path = folder / "bits.npy"
        self._package = importlib.import_module("usearch.index")

    def build(self, vectors: Floats) -> None:
        """Write floats and bits."""
        mean = vectors[:8_192].mean(axis=0)
        np.save(self._path, vectors)
        np.save(self._path.with_suffix(".mean.npy"), mean)
        np.save(self._path.with_suffix(".bits.npy"), np.packbits(vectors > mean, axis=1))

    def open(self) -> None:
        """Read the bits, map the floats."""
        self._floats: Floats = np.load(self._path, mmap_mode="r+")
        self._mean: Floats = np.load(self._path.with_suffix(".mean.npy"))
        self._bits = np.load(self._path.with_suffix(".bits.npy"))

    def search(self, query: Floats, count: int) -> list[int]:
        """Compare all bits."""
        bits = np.packbits(query > self._mean)[np.newaxis]
        metric = self._package.MetricKind.Hamming
        near = self._package.search(self._bits, bits, min(POOL, len(self._bits)), metric, exact=True).keys
        numbers = np.sort(near.astype(np.int64))
        return [int(number) for number in numbers[np.argsort(-(self._floats[numbers] @ query))[:count]]]

    def delete(self, number: int) -> None:
        """Zero it, and write the bits again."""
        self._floats[number] = 0
        self._bits[number] = 0
        np.save(self._path.with_suffix(".bits.npy"), self._bits)


CONTENDERS: dict[str, Any] = {
    "store": Store,
    "numpy": Numpy,
    "sqlite-vec": SqliteVec,
    "sqlite-vec bits": SqliteVecBits,
    "usearch": Usearch,
    "usearch bits": UsearchBits,
}


def draw(number: int, seed: int, topics: Floats, scale: Floats, common: Floats) -> Floats:
    """Draw vectors of length 1."""
    random = np.random.default_rng(seed)
    spread = topics[random.integers(0, len(topics), number)] + random.normal(size=(number, DIMENSIONS))
    rows = (spread * scale / np.sqrt(2) + common).astype(np.float32)
    drawn: Floats = rows / np.linalg.norm(rows, axis=1, keepdims=True)
    return drawn


def prepare(folder: Path, size: int) -> None:
    """Write vectors, queries, and for each query the numbers of its exact nearest."""
    random = np.random.default_rng(0)
    ranks, shares = zip(*SHARES, strict=True)
    variance = np.exp(np.interp(np.log(np.arange(1, DIMENSIONS + 1)), np.log(ranks), np.log(shares)))
    scale = np.sqrt(variance / variance.sum() * (1 - COMMON**2)).astype(np.float32)
    direction = random.normal(size=DIMENSIONS)
    common: Floats = (direction * (COMMON / np.linalg.norm(direction))).astype(np.float32)
    topics = random.normal(size=(TOPICS, DIMENSIONS)).astype(np.float32)
    # Turned about at random: a model's own numbers do not lie along the directions of its variance.
    turn = np.linalg.qr(random.normal(size=(DIMENSIONS, DIMENSIONS)))[0].astype(np.float32)
    queries = draw(QUERIES, 1, topics, scale, common) @ turn
    shape = (size, DIMENSIONS)
    vectors = np.lib.format.open_memmap(folder / "vectors.npy", mode="w+", dtype=np.float32, shape=shape)
    scores = np.empty((QUERIES, size), dtype=np.float32)
    for start in range(0, size, 10_000):
        rows = draw(min(10_000, size - start), 2 + start, topics, scale, common) @ turn
        vectors[start : start + len(rows)] = rows
        scores[:, start : start + len(rows)] = queries @ rows.T
    vectors.flush()
    np.save(folder / "queries.npy", queries)
    np.save(folder / "nearest.npy", np.argsort(-scores, axis=1)[:, :DEEP])


def build(name: str, folder: Path) -> float:
    """Build one contender; give the seconds."""
    vectors = np.load(folder / "vectors.npy", mmap_mode="r")
    contender: Contender = CONTENDERS[name](folder)
    begun = time.perf_counter()
    contender.build(vectors)
    return time.perf_counter() - begun


def search(name: str, folder: Path, build_seconds: float) -> Figures:
    """Measure one contender that was built."""
    queries, nearest = np.load(folder / "queries.npy"), np.load(folder / "nearest.npy")
    files = sum(file.stat().st_size for file in folder.iterdir()) - _given_bytes(folder)
    contender: Contender = CONTENDERS[name](folder)
    begun = time.perf_counter()
    contender.open()
    opened = time.perf_counter() - begun
    walls, cpus, found = [], [], []
    for query in queries:
        wall, cpu = time.perf_counter(), time.process_time()
        found.append(contender.search(query, DEEP))
        walls.append(time.perf_counter() - wall)
        cpus.append(time.process_time() - cpu)
    memory = _resident()
    begun = time.perf_counter()
    contender.delete(int(nearest[0, 0]))
    deleted = time.perf_counter() - begun
    if int(nearest[0, 0]) in contender.search(queries[0], DEEP):
        raise RuntimeError(f"{name} finds what was deleted")
    return Figures(
        build_seconds=build_seconds,
        open_seconds=opened,
        search_ms=statistics.median(walls) * 1e3,
        search_cpu_ms=statistics.median(cpus) * 1e3,
        delete_ms=deleted * 1e3,
        memory_mb=memory / 1e6,
        file_mb=files / 1e6,
        recall_10=_recall(found, nearest, 10),
        recall_50=_recall(found, nearest, DEEP),
    )


def _given_bytes(folder: Path) -> int:
    return sum((folder / name).stat().st_size for name in ("vectors.npy", "queries.npy", "nearest.npy"))


def _resident() -> float:
    """Give the bytes of this process that are in memory now; where the system does not tell, the most there were."""
    try:
        return float(Path("/proc/self/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")
    except OSError:
        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024.0


def _recall(found: Sequence[Sequence[int]], nearest: NDArray[np.int64], depth: int) -> float:
    pairs = zip(found, nearest[:, :depth].tolist(), strict=True)
    return statistics.mean(len({*one[:depth]} & {*exact}) / depth for one, exact in pairs)


def measure(name: str, given: Path) -> Figures:
    """Build and search one contender, in two processes of its own."""
    with tempfile.TemporaryDirectory(dir=given) as own:
        for file in ("vectors.npy", "queries.npy", "nearest.npy"):
            (Path(own) / file).symlink_to(given / file)
        seconds = _child("--build", name, own)
        return Figures(**_child("--search", name, own, str(seconds)))


def _child(*arguments: str) -> Any:
    command = [sys.executable, "-m", "benchmarks.bench_vectors", *arguments]
    return json.loads(subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True).stdout)


def show(size: int, rows: dict[str, Figures]) -> Table:
    """Lay the figures out."""
    table = Table(title=f"{size:,} vectors of {DIMENSIONS} numbers, the {DEEP} nearest")
    heads = ["", "build s", "open s", "search ms", "of it CPU", "delete ms", "memory MB", "file MB"]
    heads += ["recall@10", "recall@50"]
    for head in heads:
        table.add_column(head, justify="left" if not head else "right")
    for name, row in rows.items():
        digits = (1, 2, 1, 1, 1, 0, 0, 3, 3)
        cells = [f"{value:,.{digit}f}" for value, digit in zip(asdict(row).values(), digits, strict=True)]
        table.add_row(name, *cells)
    return table


def main(arguments: Sequence[str] | None = None) -> None:
    """Run."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--sizes", type=int, nargs="+", default=[10_000])
    parser.add_argument("--only", nargs="+", choices=CONTENDERS, default=list(CONTENDERS))
    parser.add_argument("--build", nargs=2, help=argparse.SUPPRESS)
    parser.add_argument("--search", nargs=3, help=argparse.SUPPRESS)
    chosen = parser.parse_args(arguments)
    if chosen.build:
        print(json.dumps(build(chosen.build[0], Path(chosen.build[1]))))
    elif chosen.search:
        print(json.dumps(asdict(search(chosen.search[0], Path(chosen.search[1]), float(chosen.search[2])))))
    else:
        for size in chosen.sizes:
            with tempfile.TemporaryDirectory() as folder:
                prepare(Path(folder), size)
                Console(width=140).print(show(size, {name: measure(name, Path(folder)) for name in chosen.only}))


if __name__ == "__main__":
    main()
