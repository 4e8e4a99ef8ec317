"""The documents of one root: planned, committed, flushed.

An event is planned synchronously on the newest planned documents, its operations are queued for the journal, and the
next event may be planned at once. When the journal's thread has made them durable the planned documents become the
committed ones, which readers see. The files themselves are rewritten some time later, whole, by the flusher.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Iterable, Mapping, Sequence
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from typing import Any

import anyio
import anyio.to_thread

from openclaw_memory.clock import Clock
from openclaw_memory.errors import ClosedError, StorageError
from openclaw_memory.storage.buffer import FlushLimits
from openclaw_memory.storage.commits import Commit
from openclaw_memory.storage.documents import Draft, Format
from openclaw_memory.storage.files import Files
from openclaw_memory.storage.flusher import Flusher
from openclaw_memory.storage.journal import Journal, SyncMode
from openclaw_memory.storage.ledger import Ledger
from openclaw_memory.storage.operations import Operation, Record
from openclaw_memory.storage.places import Places
from openclaw_memory.storage.reading import Reading
from openclaw_memory.storage.rootlock import Lock, RootLock
from openclaw_memory.storage.shelf import Shelf
from openclaw_memory.storage.stamps import remember_stamps
from openclaw_memory.storage.starting import RecoveryReport, found, recover_all, take_root

_FLUSHES_AT_CLOSE = 3
"""More than one, since a person may save a file just when it is about to be rewritten."""


class Store(Reading):
    """The documents below one root.

    Parameters: `root`; `files` and `clock`; `format_of`, which gives the format of a relative path; `limits` of the
    buffer; `journal_limit`, bytes after which the journal is shortened; `changed`, called with path, old and new
    document whenever what readers see changes; `troubled`, called with the reason when the disk begins to refuse
    and with None when it no longer does; `mode`, when a record is on the disk; `lock`, which excludes other owners, by
    default that of the folder; `elsewhere`, folders of other people's by the beginnings of the paths of documents.
    """

    def __init__(
        self,
        root: Path,
        files: Files,
        clock: Clock,
        format_of: Callable[[str], Format],
        limits: FlushLimits,
        journal_limit: int,
        changed: Callable[[str, Any, Any], None],
        troubled: Callable[[str | None], None],
        mode: SyncMode = "always",
        lock: Lock | None = None,
        elsewhere: Mapping[str, Path] | None = None,
    ) -> None:
        self._root = root
        self._mode = mode
        self._files = files
        self._format_of = format_of
        self._clock = clock
        self._journal_limit = journal_limit
        self._troubled = troubled
        self._troubles: dict[str, str] = {}
        self._unrecovered: list[int] = []
        """Positions of operations on documents that could not be recovered."""
        self._journal: Journal | None = None
        self._held: anyio.Event | None = None
        self._lock = RootLock(root) if lock is None else lock
        places = Places(root, elsewhere or {})
        shelf = Shelf(places, files, format_of, changed, clock.now, lambda: self._ledger.position, self._keep_again)
        super().__init__(shelf)
        self._ledger = Ledger(shelf, clock, lambda paths: self._flusher.added(paths), self.report_trouble)
        self._flusher = Flusher(shelf, clock, limits, self._ledger.record, self.report_trouble)

    # -- opening and closing ------------------------------------------------------------------------------------

    async def open(self, folders: Iterable[str]) -> RecoveryReport:
        """Take the root, create missing folders, finish what a crash interrupted, and begin to accept drafts.

        A disk that refuses is trouble and no error: what can be read is read, and writes fail until it relents.

        Raises: `RootInUseError`.
        """
        folders = list(folders)
        folder = self._root / ".journal"
        await anyio.to_thread.run_sync(take_root, self._shelf.places, self._files, self._lock, [*folders, ".journal"])
        try:
            contents = await found(self._shelf, self._lock, folders, self._format_of, self._clock)
            self._ledger.position = contents.position
            replayed, self._unrecovered = await recover_all(self._shelf, contents.records, self._clock)
            self._journal = Journal(
                folder, self._files, contents.position, self._ledger.settled_in_thread, self._mode, self._keep_lock
            )
            self._ledger.begin(self._journal)
            problem = await anyio.to_thread.run_sync(self._journal.start, contents.records, self._lock.held)
            if problem is not None:
                self.report_trouble("journal", str(StorageError("writing the journal", problem)))
        except BaseException:
            self._lock.release()
            raise
        try:
            await self.flush(replayed)
        except BaseException:
            with anyio.CancelScope(shield=True):
                await self.close()
            raise
        return RecoveryReport(replayed, contents.damaged)

    async def run(self) -> None:
        """Rewrite documents as they become due, until cancelled."""
        await self._flusher.run(self._shorten_journal)

    async def close(self) -> None:
        """Flush everything, empty the journal and let go of the root. What can't be flushed stays in the journal."""
        if self._journal is None:
            return
        await self.settled()
        for _ in range(_FLUSHES_AT_CLOSE):
            # Bringing backups up to date may find what an editor wrote into a file that we had displaced.
            await self.flush()
            if self._lock.held:
                await self._flusher.settle_backups()
        self._ledger.submit_open()
        self._shorten_journal(everything=True)
        journal, self._journal = self._journal, None
        self._ledger.end()
        with anyio.CancelScope(shield=True):
            if self._lock.held:
                await anyio.to_thread.run_sync(remember_stamps, self._shelf)
            await anyio.to_thread.run_sync(journal.close)
            await anyio.to_thread.run_sync(self._lock.release)

    # -- writing ------------------------------------------------------------------------------------------------

    async def draft(self, paths: Iterable[str], *, known: Iterable[str] = (), holds: bool = False) -> Draft:
        """Load documents and give them for planning. Hand the draft to `commit` before anything else is awaited.

        What is planned on `paths` depends on what they hold, so their files are looked at once more. Those in `known`
        have just been looked at, or something is only added to them: the look before the next flush is soon enough.
        `holds` tells that it is asked for within `held`, for which every other draft waits.

        Raises: `UnreadableDocumentError`, since what can't be read must not be written over.
        """
        paths, known = list(paths), list(known)
        entries = self._shelf.entries
        while True:
            unknown = [path for path in known if (e := entries.get(path)) is None or e.base is None]
            await self._shelf.refresh_all(paths + unknown)
            if self._held is None or holds:
                break
            await self._held.wait()
        paths += known
        for path in paths:
            if (problem := entries[path].problem) is not None:
                raise problem
        return Draft(
            formats={path: entries[path].format for path in paths},
            planned={path: entries[path].planned for path in paths},
        )

    def ahead(self, path: str) -> tuple[Any, int] | None:
        """Give a state of a document that something may be added to at once, and how much was added to it since.

        None where the document is not loaded, can't be read, or all drafts wait: then `draft` has to be waited for.
        """
        entry = self._shelf.entries.get(path)
        if entry is None or entry.base is None or entry.problem is not None or self._held is not None:
            return None
        return entry.ahead

    def planned(self, path: str) -> Any:
        """Give a document that `ahead` has given with everything that was added to it."""
        return self._shelf.entries[path].planned

    def add(self, operation: Operation) -> Commit:
        """Queue one operation on a document that `ahead` has given: one that adds something, whatever is there.

        Raises: `ClosedError`.
        """
        return self._ledger.add(operation)

    @asynccontextmanager
    async def held(self) -> AsyncIterator[None]:
        """Have all other drafts wait: nothing is added to what is looked at within."""
        while self._held is not None:
            await self._held.wait()
        self._held = mine = anyio.Event()
        try:
            yield
        finally:
            self._held = None
            mine.set()

    def is_rewritten_now(self, path: str) -> bool:
        """Tell whether a document's file is being written: who writes it looks at it, before and after."""
        return path in self._flusher.rewriting

    @property
    def position(self) -> int:
        """Position of the record that was made last."""
        return self._ledger.position

    @property
    def active(self) -> list[str]:
        """Documents that were written so lately that the journal may be needed for them."""
        return list(self._shelf.active)

    async def still_holds(self, draft: Draft) -> bool:
        """Tell whether all that a draft was planned on is still as it was: it may be committed if nothing is awaited.

        Raises: `UnreadableDocumentError`.
        """
        again = await self.draft(draft.planned)
        return all(again.planned[path] is document for path, document in draft.planned.items())

    def commit(self, draft: Draft) -> Commit:
        """Queue a draft for the journal; its documents are what the next draft is planned on.

        Raises: `ClosedError`.
        """
        return self._ledger.commit(draft)

    def is_current(self, draft: Draft) -> bool:
        """Tell whether nothing was planned since on the documents that a draft has changed."""
        return all(self._shelf.entries[path].planned is draft.planned[path] for path in draft.changed)

    @property
    def in_flight(self) -> int:
        """How many drafts are not decided yet."""
        return self._ledger.drafts

    async def settled(self) -> None:
        """Return when every commit made so far is decided."""
        await self._ledger.settled()

    async def flush(self, paths: Iterable[str] | None = None) -> None:
        """Rewrite documents whose files lag behind; all of them by default. Failures are kept for the next time."""
        if self._lock.held:
            await self._flusher.flush(paths)
            self._shorten_journal()

    async def purge(
        self,
        change: Callable[[Operation], Operation | None],
        line: Callable[[bytes], bytes | None],
        backups: Iterable[str] = (),
    ) -> None:
        """Leave nothing in journal and backups of what the documents no longer hold.

        Everything is flushed, backups are brought up to date, those of `backups` whatever is in them, and the journal
        is begun anew; drafts wait meanwhile, since a backup can't be made of a document that is being written to. What
        is still needed there, for files that can't be written now, goes through `change`, and its lines through `line`.

        Raises: `StorageError` when the disk refuses; it may be asked again.
        """
        if self._journal is None:
            raise ClosedError("the store")
        async with self.held():
            await self.settled()
            await self._flusher.flush()
            await self._flusher.settle_backups()
            entries = self._shelf.entries
            await self._flusher.settle_backups([path for path in backups if path in entries], anyway=True)
            await self.settled()
            self._shelf.scrub(change)
            self._shorten_journal(everything=True)
            await self._rewrite_journal(line)

    async def _rewrite_journal(self, line: Callable[[bytes], bytes | None]) -> None:
        assert self._journal is not None
        loop, done = asyncio.get_running_loop(), anyio.Event()
        problem: list[Exception | None] = []

        def told(error: Exception | None) -> None:
            problem.append(error)
            with suppress(RuntimeError):
                loop.call_soon_threadsafe(done.set)

        self._journal.rewrite(line, told)
        await done.wait()
        if problem[0] is not None:
            raise StorageError("writing the journal", problem[0])

    async def settle(self, paths: Iterable[str]) -> None:
        """Rewrite documents whose files lag behind, and bring their backups up to date."""
        paths = list(paths)
        await self._flusher.flush(paths)
        await self._flusher.settle_backups(paths)

    async def discard(self, path: str) -> bool:
        """Remove the file of a document that says nothing any more, with its backup; False where it is in use again.

        Raises: `StorageError`.
        """
        try:
            return await self._shelf.discard(path)
        except OSError as error:
            raise StorageError(f"removing {path}", error) from error

    # -- the journal, and what the disk refuses -----------------------------------------------------------------

    def _keep_again(self, records: Sequence[Record]) -> None:
        if self._journal is not None:
            self._journal.keep_again(records)

    def _keep_lock(self) -> None:
        """See to it, in the journal's thread, that nobody else writes here: once a batch, since it costs a look.

        Raises: `RootInUseError` when the lock's file was removed and another process has taken the root.
        """
        try:
            self._lock.keep()
        except OSError as error:
            raise StorageError("locking the folder", error) from error

    def report_trouble(self, place: str, reason: str | None) -> None:
        """Note that a place, the journal or a document, can't be written, or with None that it can again."""
        before = self.trouble
        if reason is None:
            self._troubles.pop(place, None)
        else:
            self._troubles[place] = reason
        if (before is None) != (self.trouble is None):
            self._troubled(self.trouble)

    @property
    def trouble(self) -> str | None:
        """What the disk refuses at the moment; None when all is well."""
        return next(iter(self._troubles.values()), None)

    def _shorten_journal(self, *, everything: bool = False) -> None:
        """Let go of what every document, and every backup, holds."""
        if self._journal is None or not self._lock.held:
            return
        if self._journal.size < self._journal_limit and not everything:
            return
        needed = [
            position for path in self._shelf.active if (position := self._shelf.entries[path].needed_from) is not None
        ]
        last = self._ledger.position
        upto = min([*needed, *self._unrecovered, *self._ledger.undecided, last + 1]) - 1
        # What is needed still is written again each time, so as much must go at least. Records stand for bytes here.
        if everything or last - upto <= upto - self._journal.first:
            self._journal.shorten(upto, if_worth_it=not everything)
