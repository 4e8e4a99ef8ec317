"""What was changed since the last commit: blocks that are searched beside the rows, and rows that hide behind it."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from itertools import islice

from openclaw_memory.retrieval.blocks import Block, FileRecord
from openclaw_memory.retrieval.breathing import breathing
from openclaw_memory.retrieval.postings import Entry, Postings


@dataclass(frozen=True, slots=True)
class Batch:
    """What one commit takes in: entries, files and keys whose rows go, records of files."""

    entries: Sequence[tuple[int, Entry]]
    paths: frozenset[str]
    keys: frozenset[str]
    records: dict[str, FileRecord | None]

    @property
    def size(self) -> int:
        """Count the changes."""
        return len(self.entries) + len(self.paths) + len(self.keys) + len(self.records)


@dataclass(frozen=True, slots=True)
class HiddenRow:
    """A row that the overlay hides, with what the statistics lose by it."""

    id: int
    length: int
    terms: frozenset[str]


@dataclass(frozen=True, slots=True)
class Masks:
    """Files and keys whose rows are hidden."""

    paths: frozenset[str]
    keys: frozenset[str]

    def hide(self, block: Block) -> bool:
        """Tell whether a row with this block is hidden."""
        if not self.paths and not self.keys:
            return False
        return block.path in self.paths or block.key in self.keys


class Overlay:
    """Changes that no commit has brought to the disk. Not thread-safe by itself: whoever holds it has a lock.

    A file that was replaced or removed hides all rows of that file, a block all rows with its key. Which rows that are
    is found out when somebody searches (`unresolved`, `hide`), so that changing asks nothing of the disk.
    """

    def __init__(self, clock: Callable[[], float] = time.perf_counter) -> None:
        self.held = Postings(clock)
        self._paths: set[str] = set()
        self._keys: set[str] = set()
        self._records: dict[str, FileRecord | None] = {}
        self._batch: Batch | None = None
        self._masks: Masks | None = None
        self._unresolved: dict[tuple[bool, str], None] = {}
        """(whether it is a file, file or key) whose rows are not known yet."""
        self._hidden: set[int] = set()
        self._hidden_by: Counter[str] = Counter()
        self._hidden_length = 0

    # -- changing -------------------------------------------------------------------------------------------------

    def add(self, blocks: Iterable[Block]) -> None:
        """Add blocks; those that had their keys are dropped, or hidden."""
        new = list(blocks)
        for block in breathing(new):
            self._mask(False, block.key, self._keys)
        self.held.add(new)

    def replace(self, path: str, blocks: Iterable[Block], record: FileRecord | None) -> None:
        """Put blocks and a record in the place of all those of a file."""
        new = list(blocks)
        self._mask(True, path, self._paths)
        self.held.drop_path(path)
        self.add(new)
        self._records[path] = record

    def record(self, path: str, record: FileRecord | None) -> None:
        """Note the record of a file."""
        self._records[path] = record

    def _mask(self, is_path: bool, name: str, masks: set[str]) -> None:
        if name not in masks:
            masks.add(name)
            self._masks = None
            self._unresolved[is_path, name] = None

    # -- looking --------------------------------------------------------------------------------------------------

    @property
    def waiting(self) -> int:
        """Count the changes that are not on the disk."""
        held = len(self.held) + len(self._paths) + len(self._records)
        return held if held or not self._keys else len(self._keys)

    def masks(self) -> Masks:
        """Give what tells which rows are hidden now, as a value that does not change any more."""
        if self._masks is None:
            batch = self._batch
            paths = frozenset(self._paths) if batch is None else batch.paths | self._paths
            keys = frozenset(self._keys) if batch is None else batch.keys | self._keys
            self._masks = Masks(paths, keys)
        return self._masks

    def matches(self, terms: Sequence[str]) -> list[tuple[Block, dict[str, int], int]]:
        """Give the blocks that hold one of the terms, how often they hold each, and their lengths."""
        held = self.held
        counts: dict[int, dict[str, int]] = {}
        for term in terms:
            for number, count in held.posting(term).items():
                counts.setdefault(number, {})[term] = count
        return [(held.entries[number].block, found, held.lengths[number]) for number, found in counts.items()]

    def records(self, stored: dict[str, FileRecord]) -> dict[str, FileRecord]:
        """Lay the records that wait over those that are stored."""
        found: dict[str, FileRecord | None] = dict(stored)
        if self._batch is not None:
            found |= self._batch.records
        found |= self._records
        return {path: record for path, record in found.items() if record is not None}

    # -- statistics -----------------------------------------------------------------------------------------------

    @property
    def settled(self) -> bool:
        """Tell whether all words are entered, and all rows that are hidden are known."""
        return not self.held.behind and not self._unresolved

    def some_unresolved(self, most: int) -> list[tuple[bool, str]]:
        """Give some of the files and keys whose rows are not known yet."""
        return list(islice(self._unresolved, most))

    def hide(self, resolved: Iterable[tuple[bool, str]], rows: Iterable[HiddenRow]) -> None:
        """Take note of all rows that these files and keys hide."""
        for one in resolved:
            self._unresolved.pop(one, None)
        for row in rows:
            if row.id not in self._hidden:
                self._hidden.add(row.id)
                self._hidden_by.update(row.terms)
                self._hidden_length += row.length

    @property
    def hidden(self) -> tuple[int, int]:
        """Give how many rows are hidden, and their terms in all."""
        return len(self._hidden), self._hidden_length

    def hidden_by(self, term: str) -> int:
        """Tell how many of the hidden rows hold a term."""
        return self._hidden_by[term]

    # -- committing -----------------------------------------------------------------------------------------------

    def freeze(self, most: int) -> Batch:
        """Begin a commit of about `most` blocks. Everything goes on being searched and hidden until `finish`.

        A file's record goes with the last of its blocks; until then the file has none, and would be read again.
        """
        entries = list(islice(self.held.entries.items(), most))
        keys = {entry.block.key for _, entry in entries}
        left: list[Entry] = []
        for number, entry in islice(self.held.entries.items(), len(entries), None):
            # Blocks that share a key go together: the one that waited would hide the row of the other.
            if entry.block.key in keys:
                entries.append((number, entry))
            else:
                left.append(entry)
        later_paths, later_keys = {entry.block.path for entry in left}, {entry.block.key for entry in left}
        records = {path: None if path in later_paths else record for path, record in self._records.items()}
        records |= dict.fromkeys(self._paths & later_paths)
        batch = Batch(entries, frozenset(self._paths), frozenset(self._keys - later_keys), records)
        self._paths.clear()
        self._keys &= later_keys
        self._records = {path: record for path, record in self._records.items() if path in later_paths}
        self._batch, self._masks = batch, None
        return batch

    def finish(self) -> None:
        """End a commit: its rows are visible now."""
        batch = self._batch
        assert batch is not None
        self._batch = self._masks = None
        for number, entry in breathing(batch.entries):
            # It may have been dropped meanwhile, and its number been given to another.
            if self.held.entries.get(number) is entry:
                self.held.drop(number)
        self.held.tidy()
        # What was masked meanwhile hides rows that this commit wrote.
        self.ask_again()

    def ask_again(self) -> None:
        """Forget which rows are hidden: there are others now."""
        self._hidden.clear()
        self._hidden_by.clear()
        self._hidden_length = 0
        self._unresolved = {(True, path): None for path in self._paths} | {(False, key): None for key in self._keys}

    def give_back(self) -> None:
        """Undo `freeze`, when the commit failed."""
        batch = self._batch
        assert batch is not None
        self._batch = self._masks = None
        self._paths |= batch.paths
        self._keys |= batch.keys
        kept = {path: record for path, record in batch.records.items() if record is not None or path in batch.paths}
        self._records = {**kept, **self._records}
