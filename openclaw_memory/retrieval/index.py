"""The door to every index, and the one that lives in memory."""

from __future__ import annotations

import heapq
import math
import time
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

MOST_WAITING = 5_000
"""Blocks whose words may wait to be entered or taken out; beyond it, each that is added costs that work for one."""


@dataclass(frozen=True, slots=True)
class Hit:
    """A block that answers a question. Scores compare within one answer; `steps` tell how the score came about."""

    block: Block
    score: float
    steps: tuple[str, ...] = ()


class Index(Protocol):
    """What recall asks of an index. An index is derived: it can be thrown away and filled again from the files.

    Adding is cheap, so that a write need not wait for it: an index may take in a block's words later, by `catch_up`,
    at the latest when it is searched. What was added is always found.
    """

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

    def catch_up(self, seconds: float) -> bool:
        """Work off what a search would have to wait for, for about so long; tells whether nothing is left of it."""
        ...

    def search(self, query_terms: Sequence[str], *, limit: int, allow: Allow) -> list[Hit]:
        """Give the best blocks that hold at least one of the terms (BM25), best first, ties always alike."""
        ...

    def around(self, block: Block, reach: int) -> Sequence[tuple[int, Block]]:
        """Give the messages up to `reach` places before (negative) and after (positive) this one in its session."""
        ...


# Not frozen, and terms in a tuple: thousands of entries are made, and the garbage collector passes over a tuple of
# strings, which it does not over a counter.
@dataclass(slots=True)
class _Entry:
    block: Block
    place: tuple[float, str, int, int, int]
    """Where it stands among the messages of its session: time, file, line, how many were added before; its number."""
    terms: tuple[str, ...] | None = None
    """The different terms that it is found by; None until its text was read."""


class InMemoryIndex:
    """BM25 over dictionaries. Adding or removing a block costs its own terms; statistics are exact in every search.

    Parameters: `clock`, which gives seconds, for `catch_up`.
    """

    def __init__(self, clock: Callable[[], float] = time.perf_counter) -> None:
        self._clock = clock
        self._entries: dict[int, _Entry] = {}
        self._unread: dict[int, _Entry] = {}
        """Entries whose words are in no posting yet."""
        self._left: dict[str, list[tuple[int, tuple[str, ...]]]] = {}
        """By text, numbers and terms of what was taken out and whose words are in the postings still: it often comes
        back at once, at another place or in another file."""
        self._leaving = 0
        self._postings: dict[str, dict[int, int]] = {}
        self._by_key: dict[str, tuple[int, ...]] = {}
        self._by_path: dict[str, dict[int, None]] = {}
        self._sequences: dict[str, list[tuple[float, str, int, int, int]]] = {}
        self._lengths: dict[int, int] = {}
        self._total_length = 0
        self._added = 0

    def __len__(self) -> int:
        """Count the blocks."""
        return len(self._entries)

    def add(self, blocks: Iterable[Block]) -> None:
        """Add blocks; those whose keys were known before the call take the places of the earlier ones."""
        new = list(blocks)
        # Two blocks of one call may share a key (a heading that a person wrote twice): both stay findable.
        for key in {block.key for block in new}:
            for number in self._by_key.get(key, ()):
                self._drop(number)
        for block in new:
            self._put(block)
        while len(self._unread) + self._leaving > MOST_WAITING:
            self._work_off_one()

    def replace(self, path: str, blocks: Iterable[Block]) -> None:
        """Put these blocks in the place of all blocks of a file."""
        new = list(blocks)
        self._drop_file(path)
        self.add(new)

    def remove(self, path: str) -> None:
        """Take out all blocks of a file; unknown files are no error."""
        self._drop_file(path)
        if not self._entries:
            # Nothing comes back, and nobody need go through the postings word by word.
            self._postings.clear()
            self._lengths.clear()
            self._left.clear()
            self._total_length = self._leaving = 0

    def catch_up(self, seconds: float) -> bool:
        """Enter and take out the words that wait for it, for about so long; tells whether none are left."""
        end = self._clock() + seconds
        while self._unread or self._left:
            if self._clock() >= end:
                return False
            self._work_off_one()
        return True

    def search(self, query_terms: Sequence[str], *, limit: int, allow: Allow) -> list[Hit]:
        """Give the best blocks that hold at least one of the terms (BM25), best first; of equals the newest first."""
        while self._unread or self._left:
            self._work_off_one()
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
            (index - at, self._entries[sequence[index][4]].block)
            for index in range(first, min(len(sequence), at + reach + 1))
            if index != at
        ]

    def _best(self, scores: dict[int, float], wanted: int) -> list[tuple[float, int]]:
        """Give at least the `wanted` best scores, and all equal to the last of them, in order."""
        if wanted < 1 or not scores:
            return []
        least = heapq.nlargest(wanted, scores.values())[-1]
        best = [(score, number) for number, score in scores.items() if score >= least]
        places = {number: self._entries[number].place for _, number in best}
        best.sort(key=lambda one: (-one[0], -places[one[1]][0], places[one[1]][3]))
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
        text = searchable(block)
        seconds = block.time.timestamp() if block.time else 0.0
        added = number = self._added
        self._added += 1
        found_by = None
        if text in self._left:
            number, found_by = self._taken_back(text)
        entry = _Entry(block, (seconds, block.path, block.start_line, added, number), found_by)
        self._entries[number] = entry
        if found_by is None:
            self._unread[number] = entry
        self._by_key[block.key] = (*self._by_key.get(block.key, ()), number)
        self._by_path.setdefault(block.path, {})[number] = None
        name = sequence_of(block)
        if name is not None:
            insort(self._sequences.setdefault(name, []), entry.place)

    def _drop_file(self, path: str) -> None:
        for number in list(self._by_path.get(path, ())):
            self._drop(number)

    def _drop(self, number: int) -> None:
        entry = self._entries.pop(number)
        block = entry.block
        if entry.terms is None:
            del self._unread[number]
        else:
            self._left.setdefault(searchable(block), []).append((number, entry.terms))
            self._leaving += 1
        rest = tuple(other for other in self._by_key.pop(block.key) if other != number)
        if rest:
            self._by_key[block.key] = rest
        del self._by_path[block.path][number]
        if not self._by_path[block.path]:
            del self._by_path[block.path]
        name = sequence_of(block)
        if name is not None:
            sequence = self._sequences[name]
            del sequence[bisect_left(sequence, entry.place)]
            if not sequence:
                del self._sequences[name]

    def _taken_back(self, text: str) -> tuple[int, tuple[str, ...]]:
        """Give number and terms of one that left with this text; its words stay where they are."""
        leaving = self._left[text]
        taken = leaving.pop()
        self._leaving -= 1
        if not leaving:
            del self._left[text]
        return taken

    def _work_off_one(self) -> None:
        """Take out the words of one block that has left or, when there is none, enter those of an unread one.

        The last of them, since a dictionary gives its last item fastest; the order makes no difference.
        """
        if self._left:
            text, leaving = self._left.popitem()
            number, left = leaving.pop()
            self._leaving -= 1
            if leaving:
                self._left[text] = leaving
            self._total_length -= self._lengths.pop(number)
            for term in left:
                posting = self._postings[term]
                del posting[number]
                if not posting:
                    del self._postings[term]
            return
        number, entry = self._unread.popitem()
        counts = Counter(terms(searchable(entry.block)))
        entry.terms = tuple(counts)
        self._lengths[number] = length = counts.total()
        self._total_length += length
        for term, count in counts.items():
            entered = self._postings.get(term)
            if entered is None:
                self._postings[term] = {number: count}
            else:
                entered[number] = count


def searchable(block: Block) -> str:
    """Give the text that a block is found by: its own, and the heading that it stands under."""
    return f"{block.section}\n{block.text}" if block.section else block.text


def sequence_of(block: Block) -> str | None:
    """Name the conversation that a message is a part of: its session, else its file. None for what is no message."""
    if block.layer not in ("conversation", "history"):
        return None
    return f"session {block.session}" if block.session else f"file {block.path}"
