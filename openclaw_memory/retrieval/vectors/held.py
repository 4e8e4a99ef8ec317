"""What of the vectors is held in memory: the signs of full chunks, and the newest vectors themselves.

A million vectors of 384 numbers are 48 MB of signs; the newest, fewer than a chunk, at most 13 MB of floats, searched
exactly. A full chunk never changes, so a search works on a view while more is added.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from openclaw_memory.retrieval.vectors.file import Known, Row, VectorsFile
from openclaw_memory.retrieval.vectors.signs import Floats, Signs, cosines, differing, fewest, signs, unit, words

Numbers = NDArray[np.int64]


def vectors_of(rows: list[Row], dimensions: int) -> Floats:
    """Give the vectors of rows, one a line, of length 1."""
    return unit(whole([row.vector for row in rows], dimensions).astype(np.float32))


def whole(stored: list[bytes], dimensions: int) -> NDArray[np.int8]:
    """Give stored vectors, one a line, in the whole numbers that they are kept in."""
    return np.frombuffer(b"".join(stored), dtype=np.int8).reshape(len(stored), dimensions)


def stored(vector: Floats) -> bytes:
    """Give a vector (one row) as it is kept: whole numbers from -127 to 127; a direction needs no scale.

    Against 32-bit floats a cosine is off by 0.0002 (root mean square over e5), for a quarter of the bytes; 16-bit
    floats take twenty times as long to turn into 32-bit ones.
    """
    largest = np.abs(vector).max()
    return np.rint(vector * (127 / largest if largest else 0)).astype(np.int8).tobytes()


def chunk_signs(model: Known, chunk: int, rows: list[Row], centre: Floats) -> Signs:
    """Give the signs of a chunk from its rows; numbers without a row get zeros."""
    result: Signs = np.zeros((words(model.dimensions), model.chunk), dtype=np.uint64)
    rows = [row for row in rows if row.number <= (chunk + 1) * model.chunk]
    if rows:
        result[:, [row.number - 1 - chunk * model.chunk for row in rows]] = signs(
            vectors_of(rows, model.dimensions), centre
        )
    return result


def centre_of(model: Known) -> Floats:
    """Give what signs are taken about; zeros before the first chunk was full."""
    return np.frombuffer(model.centre or bytes(4 * model.dimensions), dtype=np.float32)


@dataclass(frozen=True, slots=True)
class View:
    """The vectors of one model at one moment."""

    model: Known
    centre: Floats
    chunks: tuple[Signs, ...]
    numbers: Numbers
    newest: Floats

    @property
    def size(self) -> int:
        """Count all, removed ones included."""
        return len(self.chunks) * self.model.chunk + len(self.numbers)

    def candidates(self, query: Floats, wanted: int, pool: int) -> Numbers:
        """Give the numbers among which the `wanted` nearest are: `pool` of the old ones by sign, of the new exactly.

        `query` has one row of length 1. Removed vectors may be among them, and more than were asked for.
        """
        found: list[Numbers] = []
        if self.chunks:
            counts = differing(list(self.chunks), signs(query, self.centre))
            found.append(fewest(counts, pool).astype(np.int64) + 1)
        if len(self.numbers):
            near = cosines(self.newest, query)
            best = np.argpartition(-near, wanted)[:wanted] if wanted < len(near) else np.arange(len(near))
            found.append(self.numbers[best])
        return np.sort(np.concatenate(found)) if found else np.empty(0, dtype=np.int64)


class Held:
    """Keeps in memory what searches need, in step with the file, whoever writes that."""

    def __init__(self, model: Known) -> None:
        self.generation = model.generation
        """Numbers hold within one generation."""
        self._model = model
        self._chunks: list[Signs] = []
        self._last = 0
        """The highest number that was taken in."""
        self._filled = 0
        self._numbers: Numbers = np.empty(model.chunk, dtype=np.int64)
        self._newest: Floats = np.empty((0, model.dimensions), dtype=np.float32)

    def follow(self, file: VectorsFile, model: Known) -> View:
        """Take in what was added since; `model` is the file's present knowledge of our model."""
        self._model = model
        centre = centre_of(model)
        # A chunk beyond all numbers comes of damage.
        sealed = min(file.chunks(model.id), file.last_number(model.id) // model.chunk + 1)
        for chunk in range(len(self._chunks), sealed):
            self._chunks.append(self._signs(file, chunk, centre))
            self._last = max(self._last, (chunk + 1) * model.chunk)
        self._forget_chunked()
        rows = file.rows_after(model.id, self._last, model.chunk)
        if rows:
            self._append(rows)
        self._last = file.last_number(model.id)
        filled = self._filled
        return View(model, centre, tuple(self._chunks), self._numbers[:filled], self._newest[:filled])

    def _signs(self, file: VectorsFile, chunk: int, centre: Floats) -> Signs:
        model = self._model
        shape = (words(model.dimensions), model.chunk)
        kept = file.signs(model.id, chunk)
        # Missing or damaged signs are taken again from the vectors, each time until the next purge.
        if kept is not None and len(kept) == shape[0] * shape[1] * 8:
            return np.frombuffer(kept, dtype=np.uint64).reshape(shape)
        rows = file.rows_after(model.id, chunk * model.chunk, model.chunk)
        return chunk_signs(model, chunk, rows, centre)

    def _forget_chunked(self) -> None:
        """Drop from the newest what the chunks hold; into new arrays, since views hold the old ones."""
        stay = self._numbers[: self._filled] > len(self._chunks) * self._model.chunk
        if not stay.all():
            numbers, newest = self._numbers[: self._filled][stay], self._newest[: self._filled][stay]
            self._filled = len(numbers)
            self._numbers = np.empty(self._model.chunk, dtype=np.int64)
            self._newest = np.empty((0, self._model.dimensions), dtype=np.float32)
            self._grow(self._filled)
            self._numbers[: self._filled], self._newest[: self._filled] = numbers, newest

    def _append(self, rows: list[Row]) -> None:
        end = self._filled + len(rows)
        self._grow(end)
        self._numbers[self._filled : end] = [row.number for row in rows]
        self._newest[self._filled : end] = vectors_of(rows, self._model.dimensions)
        self._filled = end

    def _grow(self, needed: int) -> None:
        if needed > len(self._newest):
            grown = np.empty((min(self._model.chunk, max(256, 2 * needed)), self._model.dimensions), dtype=np.float32)
            grown[: min(self._filled, len(self._newest))] = self._newest[: self._filled]
            self._newest = grown
