"""Searching without an engine: every block is looked at. For when an engine's files can't be used; slow, and exact."""

from __future__ import annotations

import heapq
from collections.abc import Iterator, Sequence
from typing import Any

import apsw

from openclaw_memory.retrieval.bm25 import Statistics, Weights
from openclaw_memory.retrieval.engines.engine import Delta, Question
from openclaw_memory.retrieval.engines.words import counts_in, digest_of


class ScanEngine:
    """Goes through the packed counts of all blocks. It knows no marks: the index asks the scope of each block."""

    name = "scan"
    view = None
    spare = 0
    own_files = False
    vanished = False

    def refresh(self) -> None:
        """Do nothing: there are no files of its own."""

    def begin(self, delta: Delta) -> None:
        """Do nothing: there are no files of its own."""

    def prepare(self, generation: int) -> None:
        """Do nothing: there are no files of its own."""

    def give_up(self) -> None:
        """Do nothing: there are no files of its own."""

    def restore(self, touched: Sequence[int], delta: Delta, generation: int) -> None:
        """Do nothing: there are no files of its own."""

    def generation(self) -> int | None:
        """Give None: there are no files of its own."""
        return None

    def write(self, connection: apsw.Connection, delta: Delta) -> None:
        """Do nothing."""

    def candidates(self, view: Any, reader: apsw.Connection, question: Question, limit: int) -> list[int]:
        """Give the ids of the best blocks."""
        blocks, length = next(reader.execute("SELECT blocks, length FROM state"))
        held: dict[str, int] = {}
        for word in question.words:
            for (count,) in reader.execute("SELECT held FROM terms WHERE term = ?", (word,)):
                held[word] = count
        weights = Weights(question.words, Statistics(blocks, length, held))
        digests = [(word, digest_of(word)) for word in weights.of_term]
        until = 2**63 - 1 if question.until is None else question.until

        def scored() -> Iterator[tuple[float, int, int]]:
            rows = reader.execute("SELECT id, time, length, counts FROM blocks WHERE time <= ?", (until,))
            for id_, time, size, packed in rows:
                counts = counts_in(packed, digests)
                if counts:
                    yield weights.score(counts, size), time, id_

        return [id_ for _, _, id_ in heapq.nlargest(limit, scored())]

    def close(self) -> None:
        """Do nothing."""
