"""The door to every index, and the one that lives in memory."""

from __future__ import annotations

import heapq
import math
from bisect import bisect_left, insort
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Protocol

from openclaw_memory.retrieval.blocks import Block
from openclaw_memory.retrieval.terms import terms

Allow = Callable[[Block], bool]
"""Tells whether a block may be shown. Asked for every block before it becomes a hit."""

K1 = 1.2
"""How soon repeating a term stops adding to the score."""
B = 0.75
"""How much a long block pays for its length, 0 to 1."""


@dataclass(frozen=True, slots=True)
class Hit:
    """A block that answers a question. Scores compare within one answer; `steps` tell how the score came about."""

    block: Block
    score: float
    steps: tuple[str, ...] = ()


class Index(Protocol):
    """What recall asks of an index. An index is derived: it can be thrown away and filled again from the files."""

    def __len__(self) -> int:
        """Count the blocks."""
        ...

    def add(self, blocks: Iterable[Block]) -> None:
        """Add blocks; one whose key is known already takes the place of the earlier one."""
        ...

    def replace(self, path: str, blocks: Iterable[Block]) -> None:
        """Put these blocks in the place of all blocks of a file."""
        ...

    def remove(self, path: str) -> None:
        """Take out all blocks of a file; unknown files are no error."""
        ...

    def search(self, query_terms: Sequence[str], *, limit: int, allow: Allow) -> list[Hit]:
        """Give the best blocks that hold at least one of the terms (BM25), best first, ties always alike."""
        ...

    def around(self, block: Block, reach: int) -> Sequence[tuple[int, Block]]:
        """Give the messages up to `reach` places before (negative) and after (positive) this one in its session."""
        ...


@dataclass(frozen=True, slots=True)
class _Entry:
    block: Block
    counts: Counter[str]
    place: tuple[float, str, int, int]
    """Where it stands among the messages of its session: time, file, line, number."""


class InMemoryIndex:
    """BM25 over dictionaries. Adding or removing a block costs its own terms; statistics are exact at all times."""

    def __init__(self) -> None:
        self._entries: dict[int, _Entry] = {}
        self._postings: dict[str, dict[int, int]] = {}
        self._by_key: dict[str, list[int]] = {}
        self._by_path: dict[str, dict[int, None]] = {}
        self._sequences: dict[str, list[tuple[float, str, int, int]]] = {}
        self._lengths: dict[int, int] = {}
        self._total_length = 0
        self._next = 0

    def __len__(self) -> int:
        """Count the blocks."""
        return len(self._entries)

    def add(self, blocks: Iterable[Block]) -> None:
        """Add blocks; those whose keys were known before the call take the places of the earlier ones."""
        new = list(blocks)
        # Two blocks of one call may share a key (a heading that a person wrote twice): both stay findable.
        for key in {block.key for block in new}:
            for number in list(self._by_key.get(key, ())):
                self._drop(number)
        for block in new:
            self._put(block)

    def replace(self, path: str, blocks: Iterable[Block]) -> None:
        """Put these blocks in the place of all blocks of a file."""
        new = list(blocks)
        self.remove(path)
        self.add(new)

    def remove(self, path: str) -> None:
        """Take out all blocks of a file; unknown files are no error."""
        for number in list(self._by_path.get(path, ())):
            self._drop(number)

    def search(self, query_terms: Sequence[str], *, limit: int, allow: Allow) -> list[Hit]:
        """Give the best blocks that hold at least one of the terms (BM25), best first; of equals the newest first."""
        scores = self._scores(query_terms)
        hits: list[Hit] = []
        wanted = limit
        while len(hits) < limit:
            best = self._best(scores, wanted)
            hits = [Hit(self._entries[number].block, score) for score, number in best]
            hits = [hit for hit in hits if allow(hit.block)][:limit]
            if len(best) == len(scores):
                break
            # Many of the best may not be shown: look further down.
            wanted *= 4
        return hits

    def around(self, block: Block, reach: int) -> list[tuple[int, Block]]:
        """Give the messages up to `reach` places before (negative) and after (positive) this one in its session."""
        name = sequence_of(block)
        numbers = self._by_key.get(block.key)
        if name is None or not numbers:
            return []
        sequence = self._sequences[name]
        at = bisect_left(sequence, self._entries[numbers[0]].place)
        first = max(0, at - reach)
        return [
            (index - at, self._entries[sequence[index][3]].block)
            for index in range(first, min(len(sequence), at + reach + 1))
            if index != at
        ]

    def _best(self, scores: dict[int, float], wanted: int) -> list[tuple[float, int]]:
        """Give at least the `wanted` best scores, and all equal to the last of them, in order."""
        if wanted < 1 or not scores:
            return []
        least = heapq.nlargest(wanted, scores.values())[-1]
        best = [(score, number) for number, score in scores.items() if score >= least]
        best.sort(key=lambda one: (-one[0], -self._entries[one[1]].place[0], one[1]))
        return best

    def _scores(self, query_terms: Sequence[str]) -> dict[int, float]:
        scores: dict[int, float] = {}
        if not self._entries:
            return scores
        lengths, held = self._lengths, len(self._entries)
        by_length = K1 * B / (self._total_length / held or 1.0)
        for term in dict.fromkeys(query_terms):
            posting = self._postings.get(term)
            if not posting:
                continue
            idf = math.log(1 + (held - len(posting) + 0.5) / (len(posting) + 0.5))
            weight = idf * (K1 + 1)
            for number, count in posting.items():
                score = weight * count / (count + K1 * (1 - B) + by_length * lengths[number])
                scores[number] = scores.get(number, 0.0) + score
        return scores

    def _put(self, block: Block) -> None:
        number = self._next
        self._next += 1
        counts = Counter(terms(searchable(block)))
        seconds = block.time.timestamp() if block.time else 0.0
        entry = _Entry(block, counts, (seconds, block.path, block.start_line, number))
        self._entries[number] = entry
        self._lengths[number] = counts.total()
        self._total_length += self._lengths[number]
        for term, count in counts.items():
            self._postings.setdefault(term, {})[number] = count
        self._by_key.setdefault(block.key, []).append(number)
        self._by_path.setdefault(block.path, {})[number] = None
        name = sequence_of(block)
        if name is not None:
            insort(self._sequences.setdefault(name, []), entry.place)

    def _drop(self, number: int) -> None:
        entry = self._entries.pop(number)
        block = entry.block
        self._total_length -= self._lengths.pop(number)
        for term in entry.counts:
            posting = self._postings[term]
            del posting[number]
            if not posting:
                del self._postings[term]
        _forget(self._by_key, block.key, number)
        del self._by_path[block.path][number]
        if not self._by_path[block.path]:
            del self._by_path[block.path]
        name = sequence_of(block)
        if name is not None:
            sequence = self._sequences[name]
            del sequence[bisect_left(sequence, entry.place)]
            if not sequence:
                del self._sequences[name]


def searchable(block: Block) -> str:
    """Give the text that a block is found by: its own, and the heading that it stands under."""
    return f"{block.section}\n{block.text}" if block.section else block.text


def sequence_of(block: Block) -> str | None:
    """Name the conversation that a message is a part of: its session, else its file. None for what is no message."""
    if block.layer not in ("conversation", "history"):
        return None
    return f"session {block.session}" if block.session else f"file {block.path}"


def _forget(table: dict[str, list[int]], name: str, number: int) -> None:
    table[name].remove(number)
    if not table[name]:
        del table[name]
