"""The index that memory holds: whatever happens to its files, searching goes on, and `problem` says what is wrong."""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from datetime import datetime
from pathlib import Path
from typing import TypeVar

from openclaw_memory.retrieval.blocks import Block, FileRecord
from openclaw_memory.retrieval.engines.committing import no_steps
from openclaw_memory.retrieval.engines.errors import (
    IndexDamagedError,
    IndexFaultError,
    IndexOutdatedError,
    IndexUnavailableError,
    TermsDamagedError,
)
from openclaw_memory.retrieval.engines.faults import told
from openclaw_memory.retrieval.engines.opening import EngineName, open_persistent
from openclaw_memory.retrieval.engines.persistent import MOST, PersistentIndex
from openclaw_memory.retrieval.engines.places import Places
from openclaw_memory.retrieval.hits import Allow, Hit
from openclaw_memory.retrieval.memory import InMemoryIndex
from openclaw_memory.retrieval.neighbours import Neighbour
from openclaw_memory.retrieval.postings import Spot
from openclaw_memory.retrieval.scope import EVERYTHING, Audience, Scope
from openclaw_memory.retrieval.status import IndexStatus, Progress, no_progress

log = logging.getLogger(__name__)

T = TypeVar("T")
Contents = Iterable[tuple[str, Sequence[Block], FileRecord | None]]
"""Files with their blocks and records, as a rebuild takes them in."""


def open_index(
    root: Path,
    name: str,
    engine: EngineName = "tantivy",
    *,
    writable: bool = True,
    clock: Callable[[], float] = time.perf_counter,
    step: Callable[[str], None] = no_steps,
) -> SafeIndex:
    """Open the index `<name>.sqlite` and `<name>.index/` in a folder, or make it. Never raises for what lies there.

    Takes milliseconds, and longer where an interrupted commit has to be put right: best called in a thread. What the
    index holds for sure is told by its `records`: files without a record, or with another one, have to be read.

    Parameters: `root`, the folder; `name`, the agent's id; `engine`; `writable` tells whether this process owns the
    folder, one at a time; `clock` gives seconds; `step` is called with the name of each step of a commit.
    """
    return SafeIndex(Places(root, name), engine, writable=writable, clock=clock, step=step)


class SafeIndex:
    """An `Index` that never raises for what the disk does.

    It passes everything on to an index on disk. When that fails, one in memory takes its place, with what no commit had
    taken in yet. `lost` tells that the rest has to be filled in again, also when opening found damaged files: call
    `reopen`, in a thread, then `replace` for every file, the newest first, then `filled`.
    """

    def __init__(
        self,
        places: Places,
        engine: EngineName,
        *,
        writable: bool = True,
        clock: Callable[[], float] = time.perf_counter,
        step: Callable[[str], None] = no_steps,
    ) -> None:
        self.lost = False
        self._places = places
        self._engine = engine
        self._writable = writable
        self._clock = clock
        self._step = step
        self._changing = threading.RLock()
        """Held while something is changed, and while one index takes another's place."""
        self._maintaining = threading.Lock()
        """Held by what works on the files as a whole: one at a time."""
        self._since: list[Callable[[InMemoryIndex | PersistentIndex], None]] | None = None
        """Changes since a rebuild began."""
        self._problem: str | None = None
        self._damaged = False
        """Whether the files that gave way to an index in memory are damaged, and of no use any more."""
        self._inner: InMemoryIndex | PersistentIndex = self._opened()

    # -- changing -------------------------------------------------------------------------------------------------

    def add(self, blocks: Iterable[Block]) -> None:
        """Add blocks; those whose keys were known before the call take the places of the earlier ones."""
        new = list(blocks)
        self._change(lambda index: index.add(new))

    def replace(self, path: str, blocks: Iterable[Block], record: FileRecord | None = None) -> None:
        """Put these blocks in the place of all blocks of a file, and this record in the place of its record."""
        new = list(blocks)
        self._change(lambda index: index.replace(path, new, record))

    def remove(self, path: str) -> None:
        """Take out all blocks of a file, and its record; unknown files are no error."""
        self._change(lambda index: index.remove(path))

    def record(self, path: str, record: FileRecord | None) -> None:
        """Note, or forget, which state of a file its blocks stand for."""
        self._change(lambda index: index.record(path, record))

    def _change(self, change: Callable[[InMemoryIndex | PersistentIndex], None]) -> None:
        with self._changing:
            change(self._inner)
            if self._since is not None:
                self._since.append(change)

    # -- looking --------------------------------------------------------------------------------------------------

    @property
    def problem(self) -> str | None:
        """Say what is wrong with the index's files, in words for a person; None when all is well."""
        return self._inner.problem or self._problem

    @property
    def waiting(self) -> int:
        """Count the changes that no commit has taken in yet."""
        return self._inner.waiting

    def __len__(self) -> int:
        """Count the blocks."""
        return self._ask(len)

    def catch_up(self, seconds: float) -> bool:
        """Work off what a search would have to wait for, for about so long; tells whether nothing is left of it."""
        return self._ask(lambda index: index.catch_up(seconds))

    def search(self, query_terms: Sequence[str], *, limit: int, allow: Allow, scope: Scope = EVERYTHING) -> list[Hit]:
        """Give the best blocks that hold at least one of the terms (BM25), best first; of equals the newest first."""
        return self._ask(lambda index: index.search(query_terms, limit=limit, allow=allow, scope=scope))

    def around_many(self, blocks: Sequence[Block], reach: int) -> list[list[Neighbour]]:
        """Give for each block the messages up to `reach` places before and after it in its session, in their order."""
        return self._ask(lambda index: index.around_many(blocks, reach))

    def spots_after(self, blocks: Sequence[Block], places: int) -> list[Spot | None]:
        """Give for each message where the one so many places after it, or one later, stands; None where unknown."""
        return self._ask(lambda index: index.spots_after(blocks, places))

    def find(self, key: str) -> list[Block]:
        """Give the blocks that have this address: none, one or, where a person wrote it twice, several, by line."""
        return self._ask(lambda index: index.find(key))

    def find_many(self, keys: Sequence[str]) -> dict[str, list[Block]]:
        """Give by address what `find` gives; addresses that no block has are left out."""
        return self._ask(lambda index: index.find_many(keys))

    def blocks_of(self, path: str) -> list[Block]:
        """Give the blocks of a file in the order of its lines."""
        return self._ask(lambda index: index.blocks_of(path))

    def blocks_of_texts(self, ids: Sequence[bytes]) -> list[list[Block]]:
        """Give for each address of a text the blocks that have it; none where no block has."""
        return self._ask(lambda index: index.blocks_of_texts(ids))

    def text_ids(self, after: bytes, most: int) -> list[bytes]:
        """Give the next addresses of texts in order, each once; no block may have some of them any more."""
        return self._ask(lambda index: index.text_ids(after, most))

    def within(self, audiences: Sequence[Audience], most: int) -> list[Block] | None:
        """List what these audiences may see; None when there is more than `most`, or only everything could tell."""
        return self._ask(lambda index: index.within(audiences, most))

    def newest(self, session: str, until: datetime | None = None) -> Iterator[Block]:
        """Yield the messages of a session, the newest first, none of them after `until`."""
        given: set[str] = set()
        while True:
            inner, before = self._inner, frozenset(given)
            try:
                for block in inner.newest(session, until):
                    if block.key not in before:
                        given.add(block.key)
                        yield block
                return
            except IndexFaultError as error:
                # Another one may have taken its place meanwhile, and tells the rest.
                self._fall_back(inner, error)

    def newest_paths(self, session: str, most: int) -> list[str]:
        """Give the files that hold the newest `most` messages of a session, each once, the newest first."""
        return self._ask(lambda index: index.newest_paths(session, most))

    def paths_holding(self, keys: Iterable[str]) -> dict[str, tuple[str, ...]]:
        """Tell in which files the blocks with these addresses lie; unknown addresses are left out."""
        asked = list(keys)
        return self._ask(lambda index: index.paths_holding(asked))

    def records(self) -> dict[str, FileRecord]:
        """Give the record of every file that has one."""
        return self._ask(lambda index: index.records())

    def status(self) -> IndexStatus:
        """Tell what it holds, and how it is."""
        return self._ask(lambda index: index.status())

    def _ask(self, look: Callable[[InMemoryIndex | PersistentIndex], T]) -> T:
        while True:
            inner = self._inner
            if not self._writable:
                inner = self._followed(inner)
            try:
                return look(inner)
            except IndexFaultError as error:
                self._fall_back(inner, error)

    # -- the disk -------------------------------------------------------------------------------------------------

    def commit(self, most: int = MOST) -> bool:
        """Bring about `most` of the changes that wait to the disk; tells whether none are left. For a thread.

        Files that somebody deleted or replaced meanwhile are made anew from what is still open.
        """
        if not self._writable:
            return False
        with self._maintaining:
            inner = self._inner
            if isinstance(inner, PersistentIndex) and inner.vanished:
                log.warning("the files of the index %s are gone; they are made anew", self._places.database)
                self._ask(lambda index: self._rebuilt(_contents(index), no_progress))
            return self._ask(lambda index: index.commit(most))

    def purge(self, progress: Progress = no_progress) -> None:
        """Make what was taken out unreadable in the index's files as well, its words too. For a thread.

        All terms are made anew from the rows; no file is read. So this is the quick rebuild as well.

        Raises: `IndexUnavailableError` when the disk refuses; what was taken out may be there still.
        """
        with self._maintaining:
            inner = self._inner
            try:
                inner.purge(progress)
            except IndexDamagedError as error:
                self._fall_back(inner, error)
                raise IndexUnavailableError("purging the index", f"{error}; it has to be made anew") from error

    def rebuild(self, files: Contents, progress: Progress = no_progress) -> None:
        """Make the index anew from files, beside the old one, and put it into its place in one step. For a thread.

        Searches go on with the old one. What is changed meanwhile is not lost: it is done to the new one as well.
        `progress` is called with the number of files that are done, and 0 since nobody knows how many there are.

        Raises: `IndexUnavailableError` when the disk refuses; the old index stays.
        """
        with self._maintaining:
            self._rebuilt(files, progress)

    def reopen(self) -> None:
        """Open the files again, and make them anew where they are damaged; then fill in every file. For a thread.

        What was changed while the index was in memory is kept.
        """
        with self._maintaining, self._changing:
            old = self._inner
            if isinstance(old, InMemoryIndex):
                if self._damaged:
                    self._clear()
                self._inner = self._opened()
                _pour(old, self._inner)

    def filled(self) -> None:
        """Take note that every file was read, after the index had been `lost`."""
        self.lost, self._problem = False, None

    def close(self) -> None:
        """Let go of the files; what waits for a commit is dropped."""
        _close(self._inner)

    # -- when something is wrong ----------------------------------------------------------------------------------

    def _opened(self) -> InMemoryIndex | PersistentIndex:
        try:
            try:
                return self._open(self._places)
            except (IndexDamagedError, IndexOutdatedError) as error:
                if not self._writable:
                    raise
                log.warning("%s; it is made anew", error)
                self._clear()
                self.lost, self._problem = True, f"{error}; it is filled again from the files"
                return self._open(self._places)
        except IndexFaultError as error:
            return self._in_memory(error)

    def _clear(self) -> None:
        with told("clearing the index away"):
            self._places.clear()
        self._damaged = False

    def _open(self, places: Places) -> PersistentIndex:
        return open_persistent(places, self._engine, writable=self._writable, clock=self._clock, step=self._step)

    def _in_memory(self, error: IndexFaultError) -> InMemoryIndex:
        log.warning("%s; the index is kept in memory", error)
        return InMemoryIndex(self._clock, problem=f"{error}; the index is kept in memory")

    def _fall_back(self, inner: InMemoryIndex | PersistentIndex, error: IndexFaultError) -> None:
        """Let an index in memory take the place of the one that failed, unless something else did already.

        Where only the terms are damaged the rows are scanned.
        """
        with self._changing:
            if self._inner is not inner or not isinstance(inner, PersistentIndex):
                return
            if isinstance(error, TermsDamagedError):
                inner.scan_instead(error)
                return
            self._damaged = not isinstance(error, IndexUnavailableError)
            self._inner = self._in_memory(error)
            self._inner.add(inner.unwritten())
            self.lost = True
        _close(inner)

    def _rebuilt(self, files: Contents, progress: Progress) -> None:
        """Fill an index beside this one, and let it take its place."""
        beside = self._places.beside()
        with told("rebuilding the index"):
            beside.clear_database()
        with self._changing:
            self._since = []
        try:
            new = self._open(beside)
            try:
                for done, (path, blocks, record) in enumerate(files, 1):
                    new.replace(path, blocks, record)
                    if new.waiting >= MOST:
                        _commit_all(new)
                    progress(done, 0)
                _commit_all(new)
            finally:
                new.close()
            self._take_place(beside)
        finally:
            with self._changing:
                self._since = None

    def _take_place(self, beside: Places) -> None:
        with self._changing:
            old, since = self._inner, self._since or []
            _close(old)
            with told("putting the index into its place"):
                beside.put_into_place(self._places)
            self._inner = self._opened()
            for change in since:
                change(self._inner)
            self.filled()

    def _followed(self, inner: InMemoryIndex | PersistentIndex) -> InMemoryIndex | PersistentIndex:
        """Beside the owner: open the files again when the owner has made them, or made them anew."""
        with self._changing:
            gone = inner.vanished if isinstance(inner, PersistentIndex) else self._places.database.exists()
            if self._inner is inner and gone:
                self._inner = self._opened()
                _pour(inner, self._inner)
                _close(inner)
            return self._inner


def _contents(index: InMemoryIndex | PersistentIndex) -> Contents:
    """Give what an index holds, file by file."""
    records = index.records()
    for path in sorted({*index.paths(), *records}):
        yield path, index.blocks_of(path), records.get(path)


def _pour(old: InMemoryIndex | PersistentIndex, new: InMemoryIndex | PersistentIndex) -> None:
    """Let an index have what another one holds and has not written."""
    if isinstance(old, InMemoryIndex):
        for path, blocks, record in _contents(old):
            new.add(blocks)
            if record is not None:
                new.record(path, record)
    else:
        new.add(old.unwritten())


def _commit_all(index: PersistentIndex) -> None:
    while not index.commit():
        if index.problem:
            raise IndexUnavailableError("rebuilding the index", index.problem)


def _close(index: InMemoryIndex | PersistentIndex) -> None:
    """Let go of an index that is not asked any more."""
    try:
        index.close()
    except IndexFaultError as error:
        log.warning("%s", error)
