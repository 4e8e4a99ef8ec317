"""Blocks and the terms that they are found by, in memory."""

from __future__ import annotations

import sys
import time
from bisect import bisect_left, insort
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import TypeVar

from openclaw_memory.retrieval.blocks import Block, searchable, sequence_of
from openclaw_memory.retrieval.breathing import breathing
from openclaw_memory.retrieval.moments import microseconds
from openclaw_memory.retrieval.passages import id_of
from openclaw_memory.retrieval.terms import terms

MOST_WAITING = 5_000
"""Blocks whose words may wait to be entered or taken out; beyond it, each that is added costs that work for one."""

Spot = tuple[int, str, int]
"""Where a message stands in its session: time in microseconds, file, line."""
Place = tuple[int, str, int, int, int]
"""Its spot, how many were added before it, and its number."""


Name = TypeVar("Name", str, bytes)

AFTER_ALL: Spot = (sys.maxsize, "", 0)


def spot_of(block: Block) -> Spot:
    """Give the place of a message in its session."""
    return (microseconds(block.time), block.path, block.start_line)


# Not frozen, and terms in a tuple: thousands of entries are made, and the garbage collector passes over a tuple of
# strings, which it does not over a counter.
@dataclass(slots=True)
class Entry:
    """A block that is held."""

    block: Block
    place: Place
    text_id: bytes | None
    """The address of its vector."""
    terms: tuple[str, ...] | None = None
    """The different terms that it is found by; None until its text was read."""


class Postings:
    """Entries by number, key, file, session, text and term. Adding or removing one costs its own terms, later.

    Parameters: `clock`, which gives seconds, for `catch_up`; `most_waiting` blocks whose words may wait.
    """

    def __init__(self, clock: Callable[[], float] = time.perf_counter, most_waiting: int = MOST_WAITING) -> None:
        self._clock = clock
        self._most_waiting = most_waiting
        self.entries: dict[int, Entry] = {}
        self.lengths: dict[int, int] = {}
        self.total_length = 0
        self._unread: dict[int, Entry] = {}
        """Entries whose words are in no posting yet."""
        self._left: dict[str, list[tuple[int, tuple[str, ...]]]] = {}
        """By text, numbers and terms of what was taken out and whose words are in the postings still: it often comes
        back at once, at another place or in another file."""
        self._leaving = 0
        self._postings: dict[str, dict[int, int]] = {}
        self._by_key: dict[str, tuple[int, ...]] = {}
        self._by_path: dict[str, dict[int, None]] = {}
        self._by_text: dict[bytes, dict[int, None]] = {}
        self._sequences: dict[str, list[Place]] = {}
        self._added = 0

    def __len__(self) -> int:
        """Count the blocks."""
        return len(self.entries)

    @property
    def behind(self) -> int:
        """Count the blocks whose words wait to be entered or taken out."""
        return len(self._unread) + self._leaving

    def add(self, blocks: Iterable[Block]) -> None:
        """Add blocks; those whose keys were known before the call take the places of the earlier ones."""
        new = list(blocks)
        # Two blocks of one call may share a key (a heading that a person wrote twice): both stay findable.
        for key in {block.key for block in new}:
            for number in self._by_key.get(key, ()):
                self.drop(number)
        for block in breathing(new):
            self._put(block)
        for _ in breathing(range(max(0, self.behind - self._most_waiting))):
            self.work_off_one()

    def remove(self, path: str) -> None:
        """Take out all blocks of a file; unknown files are no error."""
        self.drop_path(path)
        self.tidy()

    def drop_path(self, path: str) -> None:
        """Take out all blocks of a file that may come back at once."""
        for number in list(self._by_path.get(path, ())):
            self.drop(number)

    def tidy(self) -> None:
        """When nothing is left, and nothing comes back: spare the way through the postings word by word."""
        if not self.entries:
            self._postings.clear()
            self.lengths.clear()
            self._left.clear()
            self.total_length = self._leaving = 0

    def catch_up(self, seconds: float) -> bool:
        """Enter and take out the words that wait for it, for about so long; tells whether none are left."""
        end = self._clock() + seconds
        while self.behind:
            if self._clock() >= end:
                return False
            self.work_off_one()
        return True

    def work_off(self) -> None:
        """Enter and take out all words that wait for it."""
        while self.behind:
            self.work_off_one()

    def posting(self, term: str) -> dict[int, int]:
        """Give how often the term stands in each of the blocks that hold it, by number; exact when nothing waits."""
        return self._postings.get(term, {})

    def of_key(self, key: str) -> list[Block]:
        """Give the blocks with this address, in the order in which they were added."""
        return [self.entries[number].block for number in self._by_key.get(key, ())]

    def of_path(self, path: str) -> list[Block]:
        """Give the blocks of a file, in no order."""
        return [self.entries[number].block for number in self._by_path.get(path, ())]

    def of_text(self, text_id: bytes) -> list[Block]:
        """Give the blocks with this text, in no order."""
        return [self.entries[number].block for number in self._by_text.get(text_id, ())]

    def text_ids(self, after: bytes) -> list[bytes]:
        """Give the addresses of all texts that come after one, in no order."""
        return [text_id for text_id in list(self._by_text) if text_id > after]

    def paths(self) -> Iterable[str]:
        """Give the files that have blocks."""
        return self._by_path.keys()

    def has_sequence(self, name: str) -> bool:
        """Tell whether there are messages of a session."""
        return name in self._sequences

    def backwards(self, name: str, before: Spot) -> Iterator[Block]:
        """Yield a session's messages, the newest first, from right before a place on."""
        sequence = self._sequences.get(name, [])
        # A place is longer than a spot, so those at the spot itself are not before it.
        for at in range(bisect_left(sequence, before) - 1, -1, -1):
            yield self.entries[sequence[at][4]].block

    def forwards(self, name: str, after: Spot) -> Iterator[Block]:
        """Yield a session's messages, the oldest first, from right after a place on."""
        sequence = self._sequences.get(name, [])
        for at in range(bisect_left(sequence, (*after, sys.maxsize)), len(sequence)):
            yield self.entries[sequence[at][4]].block

    def drop(self, number: int) -> None:
        """Take out one block."""
        entry = self.entries.pop(number)
        block = entry.block
        if entry.terms is None:
            del self._unread[number]
        else:
            self._left.setdefault(searchable(block), []).append((number, entry.terms))
            self._leaving += 1
        rest = tuple(other for other in self._by_key.pop(block.key) if other != number)
        if rest:
            self._by_key[block.key] = rest
        _let_go(self._by_path, block.path, number)
        if entry.text_id is not None:
            _let_go(self._by_text, entry.text_id, number)
        name = sequence_of(block)
        if name is not None:
            sequence = self._sequences[name]
            del sequence[bisect_left(sequence, entry.place)]
            if not sequence:
                del self._sequences[name]

    def _put(self, block: Block) -> None:
        text = searchable(block)
        added = number = self._added
        self._added += 1
        found_by = None
        if text in self._left:
            number, found_by = self._taken_back(text)
        entry = Entry(block, (*spot_of(block), added, number), id_of(block), found_by)
        self.entries[number] = entry
        if found_by is None:
            self._unread[number] = entry
        self._by_key[block.key] = (*self._by_key.get(block.key, ()), number)
        self._by_path.setdefault(block.path, {})[number] = None
        if entry.text_id is not None:
            self._by_text.setdefault(entry.text_id, {})[number] = None
        name = sequence_of(block)
        if name is not None:
            insort(self._sequences.setdefault(name, []), entry.place)

    def _taken_back(self, text: str) -> tuple[int, tuple[str, ...]]:
        """Give number and terms of one that left with this text; its words stay where they are."""
        leaving = self._left[text]
        taken = leaving.pop()
        self._leaving -= 1
        if not leaving:
            del self._left[text]
        return taken

    def work_off_one(self) -> None:
        """Take out the words of one block that has left or, when there is none, enter those of an unread one.

        The last of them, since a dictionary gives its last item fastest; the order makes no difference.
        """
        if self._left:
            text, leaving = self._left.popitem()
            number, left = leaving.pop()
            self._leaving -= 1
            if leaving:
                self._left[text] = leaving
            self.total_length -= self.lengths.pop(number)
            for term in left:
                posting = self._postings[term]
                del posting[number]
                if not posting:
                    del self._postings[term]
            return
        number, entry = self._unread.popitem()
        counts = Counter(terms(searchable(entry.block)))
        entry.terms = tuple(counts)
        self.lengths[number] = length = counts.total()
        self.total_length += length
        for term, count in counts.items():
            entered = self._postings.get(term)
            if entered is None:
                self._postings[term] = {number: count}
            else:
                entered[number] = count


def _let_go(numbers: dict[Name, dict[int, None]], name: Name, number: int) -> None:
    del numbers[name][number]
    if not numbers[name]:
        del numbers[name]
