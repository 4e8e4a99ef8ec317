"""The vectors of one memory: put by the background, searched by readers, in any thread."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from threading import Lock

import numpy as np

from openclaw_memory.retrieval.embedding.protocol import Model, Vector
from openclaw_memory.retrieval.vectors.errors import (
    OtherModelError,
    VectorsError,
    VectorsLostError,
    VectorsUnavailableError,
)
from openclaw_memory.retrieval.vectors.file import Known, VectorsFile, remove_files
from openclaw_memory.retrieval.vectors.held import (
    Held,
    Numbers,
    View,
    centre_of,
    chunk_signs,
    stored,
    vectors_of,
    whole,
)
from openclaw_memory.retrieval.vectors.signs import Floats, cosines, unit

POOL = 1_600
"""How many candidates by sign are compared exactly at the least. `benchmarks.bench_vectors` tells what it is worth: of
the true 50 nearest 0.98 are found among ten thousand, 0.96 among a million; each costs about 4 microseconds."""
CHUNK_NUMBERS = 8_192 * 384
"""Numbers in a chunk: fits the processor's cache as signs and 13 MB as floats, whatever the dimensions."""
SAME_MODEL = 0.99
"""Cosine between the vectors of one text above which two answers come from one model; rounding leaves it near 1."""
PAGE = 4_096
"""Rows in memory at a time."""


@dataclass(frozen=True, slots=True)
class _InUse:
    model: Model
    probe: Floats
    id: int


class VectorStore:
    """Vectors by text id. `use` or `choose` comes before everything else but `remove`, `purge` and `renew`.

    Parameters: `path` of the file, made when absent; `chunk`, vectors whose signs lie together (a multiple of 16);
    `writable`, false beside the process that owns the file: then it is only searched.

    What lies at `path` and is no such file is replaced by its owner: everything in it can be made again.

    Raises: `VectorsLostError` (any method) when the file was removed or damaged since: call `renew` and put again what
    `missing` names; `VectorsUnavailableError` (the constructor too) when it can't be read or written now.
    """

    def __init__(self, path: Path, *, chunk: int | None = None, writable: bool = True) -> None:
        self._path = path
        self._chunk = chunk
        self._writable = writable
        self._writing, self._reading = Lock(), Lock()
        self._in_use: _InUse | None = None
        self._held: Held | None = None
        self._view: View | None = None
        self._seen = -1
        try:
            self._open()
        except VectorsLostError:
            if not writable:
                raise
            # Something else lies there: all of ours can be made again from the texts.
            remove_files(self._path)
            self._open()

    def _open(self) -> None:
        self._writer = VectorsFile(self._path, writable=self._writable)
        try:
            self._reader = VectorsFile(self._path, writable=self._writable)
        except VectorsError:
            self._writer.close()
            raise

    def use(self, model: Model, probe: Vector) -> None:
        """Go on with the vectors that are there. `probe` is the model's vector of a fixed text.

        Raises: `OtherModelError` when they were made with another model, or this one answers otherwise than it did.
        """
        with self._writing:
            chosen = self._writer.chosen()
        if chosen is None:
            if not self._writable:
                raise VectorsUnavailableError(str(self._path), "it holds no vectors yet")
            self.choose(model, probe)
            return
        made_with = Model(chosen.name, chosen.dimensions)
        if made_with != model:
            raise OtherModelError(str(made_with), str(model))
        if not _same(chosen, probe):
            raise OtherModelError(f"{model} as it answered then", f"{model} as it answers now")
        self._in_use = _InUse(model, _row(probe), chosen.id)

    def choose(self, model: Model, probe: Vector) -> None:
        """Search this model's vectors from now on. Those of others stay as a cache, but for its own former self."""
        row = _row(probe)
        with self._writing, self._writer.change():
            known = next(
                (k for k in self._writer.models() if (k.name, k.dimensions) == (model.name, model.dimensions)), None
            )
            if known is not None and not _same(known, probe):
                self._writer.drop_model(known.id)
                known = None
            chunk = self._chunk or max(64, CHUNK_NUMBERS // model.dimensions // 64 * 64)
            made = known.id if known else self._writer.add_model(model.name, model.dimensions, row.tobytes(), chunk)
            self._writer.choose(made)
        with self._reading:
            self._in_use, self._held, self._view, self._seen = _InUse(model, row, made), None, None, -1

    def count(self) -> int:
        """Count the vectors of the model in use."""
        with self._reading:
            return self._reader.count(self._used().id)

    def missing(self, texts: Iterable[bytes]) -> list[bytes]:
        """Give those texts that have no vector yet, each once."""
        wanted = list(dict.fromkeys(texts))
        with self._reading:
            known = self._reader.numbers(self._used().id, wanted)
        return [text for text in wanted if text not in known]

    def put(self, vectors: Iterable[tuple[bytes, Vector]]) -> None:
        """Keep vectors by text id; a text that has one keeps it."""
        used = self._used()
        pairs = {text: stored(_row(vector)) for text, vector in vectors}
        with self._writing, self._writer.change():
            self._remove_damaged(used.id)
            known = self._writer.numbers(used.id, list(pairs))
            new = [(text, vector) for text, vector in pairs.items() if text not in known]
            self._writer.add(used.id, new)
            self._seal(self._known(used.id, self._writer), len(new))

    def remove(self, texts: Sequence[bytes]) -> None:
        """Remove the vectors of texts, whatever model they were made with; `purge` takes them out of the file too."""
        with self._writing, self._writer.change():
            for model in self._writer.models():
                self._blot(model, self._writer.remove(model.id, texts))

    def sweep(self, used: Callable[[Sequence[bytes]], Iterable[bytes]]) -> int:
        """Remove the vectors of all texts that are used no more; `used` tells which of some are. Gives their number."""
        removed = 0
        for model in self._models():
            last = 0
            while page := self._texts_after(model, last):
                last = page[-1][0]
                still = set(used([text for _, text in page]))
                gone = [text for _, text in page if text not in still]
                removed += len(gone)
                if gone:
                    self.remove(gone)
        return removed

    def purge(self) -> None:
        """Leave no trace of removed vectors in the file, and take all signs anew."""
        with self._writing, self._reading:
            with self._writer.change():
                for model in self._writer.models():
                    self._writer.renumber(model.id)
                    self._seal(self._known(model.id, self._writer), self._writer.count(model.id))
            self._writer.vacuum()

    def renew(self) -> None:
        """Begin with an empty file, after the old one was lost; the model in use stays in use."""
        with self._writing, self._reading:
            self._close()
            remove_files(self._path)
            self._open()
            used, self._held, self._view, self._seen = self._in_use, None, None, -1
        if used is not None:
            self.choose(used.model, used.probe[0])

    def close(self) -> None:
        """Close the file."""
        with self._writing, self._reading:
            self._close()

    def nearest(self, query: Vector, count: int) -> list[tuple[bytes, float]]:
        """Give the texts whose vectors are nearest to the query, with their cosines, best first; ties oldest first.

        Old vectors are preselected by sign, so one of the nearest may be missing, but no cosine is estimated. Fewer
        than `count` only when there are no more; `count` at or above the number of vectors gives all of them.
        """
        row = _row(query)
        with self._reading:
            view = self._current()
            self._check(row, view.model)
        wanted = count
        while True:
            everything = wanted >= view.size
            near, pool = (view.size, view.size) if everything else (wanted, max(POOL, 4 * wanted))
            best = self._best(view.model, row, view.candidates(row, near, pool), count)
            if everything or len(best) >= count:
                return best
            # Vectors that were removed since they were read into memory took the places of others.
            wanted *= 4

    def cosines(self, query: Vector, texts: Sequence[bytes]) -> dict[bytes, float]:
        """Give the cosines of those of the texts that have a vector."""
        row = _row(query)
        wanted = list(dict.fromkeys(texts))
        with self._reading:
            model = self._current().model
            self._check(row, model)
            numbers = [
                number
                for start in range(0, len(wanted), PAGE)
                for number in self._reader.numbers(model.id, wanted[start : start + PAGE]).values()
            ]
        return dict(self._best(model, row, np.array(sorted(numbers), dtype=np.int64), len(numbers)))

    def vectors(self, texts: Sequence[bytes]) -> dict[bytes, Floats]:
        """Give the vectors, of length 1, of those of the texts that have one. For a few: each is checked."""
        with self._reading:
            model = self._current().model
            numbers = self._reader.numbers(model.id, list(dict.fromkeys(texts)))
            rows = self._reader.rows(model.id, np.array(sorted(numbers.values()), dtype=np.int64))
        return {row.text: vector for row, vector in zip(rows, vectors_of(rows, model.dimensions), strict=True)}

    def sample(self, most: int) -> Floats:
        """Give vectors of length 1, one a line, from all ages alike: all of them, or about `most` at the most."""
        found: list[Floats] = []
        with self._reading:
            model = self._current().model
            last = self._reader.last_number(model.id)
        numbers = np.unique(np.linspace(1, last, min(most, last)).round().astype(np.int64))
        for start in range(0, len(numbers), PAGE):
            with self._reading:
                near = self._reader.vectors(model, numbers[start : start + PAGE])
            found.append(unit(whole([vector for _, vector in near], model.dimensions).astype(np.float32)))
        return np.concatenate(found) if found else np.empty((0, model.dimensions), dtype=np.float32)

    def _best(self, model: Known, query: Floats, numbers: Numbers, count: int) -> list[tuple[bytes, float]]:
        """Compare exactly; a page at a time, so that others get at the file between."""
        found: list[Numbers] = []
        scores: list[Floats] = []
        for start in range(0, len(numbers), PAGE):
            with self._reading:
                near = self._reader.vectors(model, numbers[start : start + PAGE])
            found.append(np.array([number for number, _ in near], dtype=np.int64))
            scores.append(cosines(whole([vector for _, vector in near], model.dimensions), query))
        if not found:
            return []
        all_found, all_scores = np.concatenate(found), np.concatenate(scores)
        order = np.lexsort((all_found, -all_scores))[:count]
        best = dict(zip(all_found[order].tolist(), all_scores[order].tolist(), strict=True))
        texts: dict[int, bytes] = {}
        for start in range(0, len(order), PAGE):
            with self._reading:
                rows = self._reader.rows(model.id, all_found[order[start : start + PAGE]])
            texts.update((row.number, row.text) for row in rows)
        return [(texts[number], cosine) for number, cosine in best.items() if number in texts]

    def _current(self) -> View:
        """Bring what is held in memory in step with the file. Called with the lock for reading."""
        used = self._used()
        if not self._writable:
            # Its owner may have begun another file.
            self._reader.check_place()
        seen = self._reader.data_version()
        if self._view is None or seen != self._seen:
            with self._reader.snapshot():
                known = self._known(used.id, self._reader)
                if self._held is None or self._held.generation != known.generation:
                    self._held = Held(known)
                self._view = self._held.follow(self._reader, known)
            self._seen = seen
        return self._view

    def _check(self, query: Floats, model: Known) -> None:
        if query.shape[1] != model.dimensions:
            raise VectorsUnavailableError(str(self._path), "it was rebuilt for another model meanwhile")

    def _seal(self, model: Known, added: int) -> None:
        """Take the signs of chunks that have become full; the first full chunk gives the centre."""
        file, size = self._writer, model.chunk
        last, sealed = file.last_number(model.id), file.chunks(model.id)
        # Numbers that nobody gave come of damage, and would be counted up to for ever.
        if last > (sealed + 1) * size + added:
            raise VectorsLostError(str(self._path), f"is damaged (number {last} after {sealed} chunks)")
        centre = centre_of(model)
        while last >= (sealed + 1) * size:
            rows = file.rows_after(model.id, sealed * size, size)
            if rows and not model.centre:
                centre = vectors_of(rows, model.dimensions).mean(axis=0)
                file.set_centre(model.id, centre.tobytes())
                model = model._replace(centre=centre.tobytes())
            file.add_signs(model.id, sealed, chunk_signs(model, sealed, rows, centre).tobytes())
            sealed += 1

    def _blot(self, model: Known, numbers: Sequence[int]) -> None:
        """Put zeros in the place of the signs of removed vectors."""
        for chunk in {(number - 1) // model.chunk for number in numbers}:
            kept = self._writer.signs(model.id, chunk)
            if kept is not None:
                bits = np.frombuffer(kept, dtype=np.uint64).reshape(-1, model.chunk).copy()
                bits[:, [(n - 1) % model.chunk for n in numbers if (n - 1) // model.chunk == chunk]] = 0
                self._writer.add_signs(model.id, chunk, bits.tobytes())

    def _remove_damaged(self, model: int) -> None:
        """Remove rows that were found damaged, so that they count as missing."""
        damaged = self._reader.damaged | self._writer.damaged
        if damaged:
            self._writer.remove_numbers(model, sorted(damaged))
            self._reader.damaged.clear()
            self._writer.damaged.clear()

    def _models(self) -> list[Known]:
        with self._reading:
            return self._reader.models()

    def _texts_after(self, model: Known, number: int) -> list[tuple[int, bytes]]:
        with self._reading:
            return self._reader.texts_after(model.id, number, PAGE)

    def _used(self) -> _InUse:
        if self._in_use is None:
            raise RuntimeError("no model is in use; call use() or choose() first")
        return self._in_use

    def _known(self, model: int, file: VectorsFile) -> Known:
        known = next((known for known in file.models() if known.id == model), None)
        if known is None:
            raise VectorsUnavailableError(str(self._path), "another process rebuilt it for another model")
        return known

    def _close(self) -> None:
        self._reader.close()
        self._writer.close()


def _row(vector: Vector) -> Floats:
    """Give a vector as one row of length 1."""
    return unit(np.asarray(vector, dtype=np.float32).reshape(1, -1))


def _same(known: Known, probe: Vector) -> bool:
    return bool(np.frombuffer(known.probe, dtype=np.float32) @ _row(probe)[0] >= SAME_MODEL)
