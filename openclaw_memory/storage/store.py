"""The documents of one root: planned, committed, flushed.

An event is planned synchronously on the newest planned documents, its operations are queued for the journal, and the
next event may be planned at once. When the journal's thread has made them durable the planned documents become the
committed ones, which readers see. The files themselves are rewritten some time later, whole, by the flusher.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import anyio
import anyio.to_thread

from openclaw_memory.clock import Clock
from openclaw_memory.errors import ClosedError, OpenClawMemoryError, StorageError
from openclaw_memory.storage.buffer import FlushLimits
from openclaw_memory.storage.commits import Commit
from openclaw_memory.storage.documents import Draft, Format
from openclaw_memory.storage.files import Files, Stamp
from openclaw_memory.storage.flusher import Flusher
from openclaw_memory.storage.integrity import is_digest
from openclaw_memory.storage.journal import Failure, Journal, SyncMode, read_journal
from openclaw_memory.storage.leftovers import clean_up
from openclaw_memory.storage.operations import Flush, Operation, Record
from openclaw_memory.storage.places import Places
from openclaw_memory.storage.recovery import documents_named, operations_on
from openclaw_memory.storage.rootlock import Lock, RootLock
from openclaw_memory.storage.shelf import Shelf
from openclaw_memory.storage.stamps import Left, read_stamps, write_stamps
from openclaw_memory.storage.starting import recover, set_journal_aside, take_root

log = logging.getLogger(__name__)

MOST_IN_A_RECORD = 64
"""Drafts that share a record at most: the event loop writes it down in one go."""

_FLUSHES_AT_CLOSE = 3
"""More than one, since a person may save a file just when it is about to be rewritten."""


@dataclass(frozen=True, slots=True)
class RecoveryReport:
    """What was found at start: documents that operations were applied to again, damaged lines of the journal."""

    replayed: dict[str, int]
    damaged_lines: int


class Store:
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
        self._places = Places(root, elsewhere or {})
        self._mode = mode
        self._files = files
        self._format_of = format_of
        self._clock = clock
        self._journal_limit = journal_limit
        self._troubled = troubled
        self._troubles: dict[str, str] = {}
        self._position = 0
        self._unrecovered: list[int] = []
        """Positions of operations on documents that could not be recovered."""
        self._commits: dict[int, Commit] = {}
        self._open: Commit | None = None
        """The commit that further drafts may join: its record is not with the journal yet."""
        self._drafts = 0
        """How many drafts are in commits that are not decided."""
        self._journal: Journal | None = None
        self._lock = RootLock(root) if lock is None else lock
        self._loop: asyncio.AbstractEventLoop | None = None
        self._shelf = Shelf(
            self._places, files, format_of, changed, clock.now, lambda: self._position, self._keep_again
        )
        self._flusher = Flusher(self._shelf, clock, limits, self._record, self.report_trouble)

    # -- opening and closing ------------------------------------------------------------------------------------

    async def open(self, folders: Iterable[str]) -> RecoveryReport:
        """Take the root, create missing folders, finish what a crash interrupted, and begin to accept drafts.

        A disk that refuses is trouble and no error: what can be read is read, and writes fail until it relents.

        Raises: `RootInUseError`.
        """
        self._loop = asyncio.get_running_loop()
        folders = list(folders)
        folder = self._root / ".journal"
        await anyio.to_thread.run_sync(take_root, self._places, self._files, self._lock, [*folders, ".journal"])
        try:
            contents = await anyio.to_thread.run_sync(read_journal, folder, self._files)
            self._position = contents.position
            left = await anyio.to_thread.run_sync(read_stamps, self._root, self._files)
            self._shelf.recorded = {path: one.stamp for path, one in left.items()}
            self._shelf.digests = {path: one.digest for path, one in left.items() if one.digest is not None}
            for record in contents.records:
                self._shelf.recorded |= {f.path: Stamp(*f.stamp) for f in record.flushed if f.stamp is not None}
                self._shelf.digests |= {f.path: f.version for f in record.flushed if is_digest(f.version)}
            if contents.damaged:
                await anyio.to_thread.run_sync(set_journal_aside, self._files, folder, self._clock.now())
                self._shelf.notices[".journal"] = (
                    f"{contents.damaged} lines of the journal were damaged; a copy is in .journal/*.corrupt-*"
                )
            self._shelf.known = {f.path for record in contents.records for f in record.intents}
            # What was flushed may since have been edited under the same version; what was only intended was not.
            done = {f.version for record in contents.records for f in record.flushed}
            intended = {f.version for record in contents.records for f in record.intents} - done
            # The digest of all bytes names nothing but what we wrote, however long ago.
            intended |= {version for version in (*done, *self._shelf.digests.values()) if is_digest(version)}
            if self._lock.held:
                self._shelf.notices |= await anyio.to_thread.run_sync(
                    clean_up, self._places, self._files, [*folders, "."], self._format_of, intended, self._clock.now()
                )
            replayed = {}
            for path in sorted(documents_named(contents.records)):
                try:
                    count = await recover(self._shelf, path, contents.records, self._clock)
                except Exception:
                    # Of a version that knows more than this one, perhaps. The others are recovered all the same.
                    log.exception("%s can't be recovered", path)
                    self._shelf.notices[path] = f"the journal names {path}, which can't be recovered; see the log"
                    self._shelf.entries.pop(path, None)
                    self._shelf.active.discard(path)
                    # Its operations stay in the journal for a version that understands them.
                    self._unrecovered += [position for position, _ in operations_on(contents.records, path)]
                    continue
                if count:
                    replayed[path] = count
            self._journal = Journal(
                folder, self._files, self._position, self._settled_in_thread, self._mode, self._keep_lock
            )
            problem = await anyio.to_thread.run_sync(self._journal.start, contents.records, self._lock.held)
            if problem is not None:
                self.report_trouble("journal", str(StorageError("writing the journal", problem)))
        except BaseException:
            self._lock.release()
            raise
        await self.flush(replayed)
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
        self._submit(self._open)
        self._shorten_journal(everything=True)
        journal, self._journal = self._journal, None
        with anyio.CancelScope(shield=True):
            if self._lock.held:
                await anyio.to_thread.run_sync(self._remember_stamps)
            await anyio.to_thread.run_sync(journal.close)
            await anyio.to_thread.run_sync(self._lock.release)

    async def settled(self) -> None:
        """Return when every commit made so far is decided."""
        for commit in list(self._commits.values()):
            await commit.wait()

    # -- reading ------------------------------------------------------------------------------------------------

    async def scan(self, folder: str) -> list[str]:
        """List the documents right in a folder, on disk or not yet there, by relative path, sorted."""
        return await self._shelf.scan(folder)

    async def readable(self, paths: Iterable[str]) -> list[str]:
        """Choose the paths whose documents can be read."""
        return [path for path in paths if (await self._shelf.refresh(path)).problem is None]

    async def looked_through(self, folder: str) -> list[str]:
        """Look at all files of a folder at once, and list the documents that can be read."""
        await self._shelf.look([folder], wake=True)
        return sorted(
            path
            for path, entry in self._shelf.entries.items()
            if path.rpartition("/")[0] == folder and entry.problem is None
        )

    async def read(self, path: str) -> Any:
        """Give the committed document, with what a person did to its file in the meantime.

        Raises: `UnreadableDocumentError`.
        """
        entry = await self._shelf.refresh(path)
        if entry.problem is not None:
            raise entry.problem
        return entry.committed

    async def look(self, folders: Iterable[str], *, wake: bool = False) -> None:
        """Read what a person changed, added or took away in these folders; costs one look at each file's stamp.

        `wake`: read files at rest as well, so that their documents are known.
        """
        await self._shelf.look(folders, wake=wake)

    def rest(self, files: Mapping[str, Stamp]) -> None:
        """Leave files in these states unread, since readers know them already, until they change or are needed."""
        entries = self._shelf.entries
        self._shelf.at_rest = {path: stamp for path, stamp in files.items() if path not in entries}

    def is_being_saved(self, path: str) -> bool:
        """Tell whether somebody else changed a file so lately that they may still be saving it."""
        entry = self._shelf.entries.get(path)
        return (
            entry is not None
            and entry.stamp is not None
            and entry.stamp != entry.ours
            and self._shelf.is_young(entry.stamp)
        )

    def file_of(self, path: str) -> tuple[Stamp, str] | None:
        """Give stamp and version of a file that holds all that is acknowledged of its document; else None."""
        entry = self._shelf.entries[path]
        if entry.base is None or entry.stamp is None or entry.to_write or entry.queued:
            return None
        return entry.stamp, entry.format.version(entry.base) or ""

    async def wake(self, paths: Iterable[str]) -> None:
        """Read those of these documents that are at rest."""
        await self._shelf.wake(paths)

    async def look_at(self, paths: Iterable[str]) -> bool:
        """Read those of these documents that a person changed; tells whether there were any."""
        return await self._shelf.look_at(paths)

    def newest_part(self, path: str, most: int) -> tuple[bytes, Stamp] | None:
        """Give the end of a file that is too large to be held; as `Shelf.newest_part`."""
        return self._shelf.newest_part(path, most)

    def problems(self) -> dict[str, str]:
        """Tell which documents can't be read, and why."""
        return self._shelf.problems()

    def tell(self, place: str, words: str | None) -> None:
        """Add to the notices what a person should know of a place, or with None take it back."""
        if words is None:
            self._shelf.notices.pop(place, None)
        else:
            self._shelf.notices[place] = words

    def notices(self) -> dict[str, str]:
        """Tell, by document, what a person should know: that it was damaged and restored, that edits collided."""
        return dict(self._shelf.notices)

    @property
    def in_flight(self) -> int:
        """How many drafts are not decided yet."""
        return self._drafts

    def unflushed(self) -> dict[str, int]:
        """Count, by document, the acknowledged entries that are in the journal and not yet in the file."""
        return {path: len(entry.unflushed) for path, entry in self._shelf.entries.items() if entry.unflushed}

    @property
    def trouble(self) -> str | None:
        """What the disk refuses at the moment; None when all is well."""
        return next(iter(self._troubles.values()), None)

    # -- writing ------------------------------------------------------------------------------------------------

    async def draft(self, paths: Iterable[str], *, known: Iterable[str] = ()) -> Draft:
        """Load documents and give them for planning. Hand the draft to `commit` before anything else is awaited.

        What is planned on `paths` depends on what they hold, so their files are looked at once more. Those in `known`
        have just been looked at, or something is only added to them: the look before the next flush is soon enough.

        Raises: `UnreadableDocumentError`, since what can't be read must not be written over.
        """
        paths, known = list(paths), list(known)
        entries = self._shelf.entries
        for path in paths + [path for path in known if (e := entries.get(path)) is None or e.base is None]:
            await self._shelf.refresh(path)
        paths += known
        for path in paths:
            if (problem := entries[path].problem) is not None:
                raise problem
        return Draft(
            formats={path: entries[path].format for path in paths},
            planned={path: entries[path].planned for path in paths},
        )

    def commit(self, draft: Draft) -> Commit:
        """Queue a draft for the journal; its documents are what the next draft is planned on.

        Raises: `ClosedError`.
        """
        if self._journal is None:
            raise ClosedError("the store")
        if not draft.operations:
            return self._nothing_to_do()
        entries = self._shelf.entries
        stale = [path for path in draft.changed if entries[path].planned is not draft.planned[path]]
        if stale:
            raise RuntimeError(f"a draft was kept while {stale} changed; plan and commit without awaiting in between")
        commit = self._open
        if commit is None:
            assert self._loop is not None
            commit = self._open = self._next_commit()
            # What else is planned before the event loop comes to this goes into the same record: a burst costs one.
            self._loop.call_soon(self._submit, commit)
        commit.add(draft)
        for operation in draft.operations:
            entries[operation.path].queued.append((commit.position, operation))
        for path, document in draft.changed.items():
            entries[path].planned = document
        self._shelf.active |= draft.changed.keys()
        self._drafts += 1
        if commit.drafts >= MOST_IN_A_RECORD:
            self._submit(commit)
        return commit

    def _next_commit(self) -> Commit:
        self._position += 1
        commit = self._commits[self._position] = Commit(self._position)
        return commit

    def _submit(self, commit: Commit | None) -> None:
        """Hand a record over to the journal, once; nothing more goes into it."""
        if commit is None or commit is not self._open:
            return
        self._open = None
        if self._journal is not None:
            self._journal.submit(Record(commit.position, operations=tuple(commit.operations)))

    async def flush(self, paths: Iterable[str] | None = None) -> None:
        """Rewrite documents whose files lag behind; all of them by default. Failures are kept for the next time."""
        if self._lock.held:
            await self._flusher.flush(paths)
            self._shorten_journal()

    def is_current(self, draft: Draft) -> bool:
        """Tell whether nothing was planned since on the documents that a draft has changed."""
        return all(self._shelf.entries[path].planned is draft.planned[path] for path in draft.changed)

    def lagging(self, paths: Iterable[str]) -> list[str]:
        """Choose those of these documents whose files can't be said to hold what is acknowledged."""
        entries = self._shelf.entries
        return [path for path in paths if path in entries and (entries[path].to_write or entries[path].queued)]

    async def purge(
        self,
        change: Callable[[Operation], Operation | None],
        line: Callable[[bytes], bytes | None],
        backups: Iterable[str] = (),
    ) -> None:
        """Leave nothing in journal and backups of what the documents no longer hold.

        Everything is flushed, backups are brought up to date, those of `backups` whatever is in them, and the journal
        is begun anew. What is still needed there, for files that can't be written now, goes through `change`, and its
        lines through `line`.

        Raises: `StorageError` when the disk refuses; it may be asked again.
        """
        if self._journal is None:
            raise ClosedError("the store")
        await self.settled()
        await self._flusher.flush()
        await self._flusher.settle_backups()
        entries = self._shelf.entries
        await self._flusher.settle_backups([path for path in backups if path in entries], anyway=True)
        await self.settled()
        self._shelf.scrub(change)
        self._shorten_journal(everything=True)
        done = anyio.Event()
        problem: list[OSError | None] = []

        def told(error: OSError | None) -> None:
            problem.append(error)
            assert self._loop is not None
            with suppress(RuntimeError):
                self._loop.call_soon_threadsafe(done.set)

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

    def _keep_again(self, records: Sequence[Record]) -> None:
        if self._journal is not None:
            self._journal.keep_again(records)

    def _nothing_to_do(self) -> Commit:
        """Give a commit without operations: nothing to make durable, but its answer may rest on what is on its way."""
        commit = Commit(self._position)
        last = next(reversed(self._commits), None)
        if last is None:
            commit.settle(None)
        else:
            self._commits[last].call_when_settled(lambda earlier: commit.settle(earlier.error))
        return commit

    def _record(self, intents: tuple[Flush, ...], flushed: tuple[Flush, ...]) -> Commit:
        if self._journal is None:
            raise ClosedError("the store")
        # Positions lie in the journal in order.
        self._submit(self._open)
        commit = self._next_commit()
        self._journal.submit(Record(self._position, intents=intents, flushed=flushed))
        return commit

    # -- what the journal's thread reports ----------------------------------------------------------------------

    def _keep_lock(self) -> None:
        """See to it, in the journal's thread, that nobody else writes here: once a batch, since it costs a look.

        Raises: `RootInUseError` when the lock's file was removed and another process has taken the root.
        """
        try:
            self._lock.keep()
        except OSError as error:
            raise StorageError("locking the folder", error) from error

    def _settled_in_thread(self, positions: Sequence[int], error: Failure | None) -> None:
        assert self._loop is not None
        # The loop may be gone when a program ends without closing; then nobody is left to be told.
        with suppress(RuntimeError):
            self._loop.call_soon_threadsafe(self._settle, positions, error)

    def _settle(self, positions: Sequence[int], error: Failure | None) -> None:
        if error is not None and not positions:
            self.report_trouble("journal", str(_problem(error)))
            return
        if error is not None:
            # A batch that was taken before the failure was undone fails late; its commits are decided already.
            if any(position in self._commits for position in positions):
                self._undo(error)
            return
        settled = [commit for position in positions if (commit := self._commits.pop(position, None)) is not None]
        latest = {path: commit for commit in settled for path in commit.documents}
        for path, commit in latest.items():
            self._promote(path, commit)
        for commit in settled:
            self._drafts -= commit.drafts
            commit.settle(None)
        if latest:
            self._flusher.added(latest)
        self.report_trouble("journal", None)

    def _promote(self, path: str, commit: Commit) -> None:
        """Make what was planned with `commit` the committed document."""
        entry = self._shelf.entries[path]
        done = [item for item in entry.queued if item[0] <= commit.position]
        del entry.queued[: len(done)]
        if not entry.unflushed:
            entry.since = self._clock.monotonic()
        entry.unflushed += done
        if entry.base is None:
            return
        before = entry.committed
        if not entry.queued:
            entry.committed = entry.planned
        elif entry.rebased >= commit.position:
            # A person's edit came in between; the operations were applied to the new base, one by one.
            entry.committed = entry.apply(before, done)
        else:
            entry.committed = entry.format.flushed(commit.documents[path], entry.base)
        self._shelf.changed(path, before, entry.committed)

    def _undo(self, error: Failure) -> None:
        """Fail everything that is planned and not durable: it was planned on records that are lost."""
        failed, self._commits = self._commits, {}
        self._open, self._drafts = None, 0
        for entry in self._shelf.entries.values():
            entry.queued.clear()
            entry.planned = entry.committed
        if self._journal is not None:
            self._journal.resume(self._position)
        problem = _problem(error)
        self.report_trouble("journal", str(problem))
        for commit in failed.values():
            commit.settle(problem)

    def report_trouble(self, place: str, reason: str | None) -> None:
        """Note that a place, the journal or a document, can't be written, or with None that it can again."""
        before = self.trouble
        if reason is None:
            self._troubles.pop(place, None)
        else:
            self._troubles[place] = reason
        if (before is None) != (self.trouble is None):
            self._troubled(self.trouble)

    def _shorten_journal(self, *, everything: bool = False) -> None:
        """Let go of what every document, and every backup, holds."""
        if self._journal is None or not self._lock.held:
            return
        # What is needed still is written again each time, so it must have doubled at least.
        if self._journal.size < max(self._journal_limit, 2 * self._journal.begun_with) and not everything:
            return
        needed = [
            position for path in self._shelf.active if (position := self._shelf.entries[path].needed_from) is not None
        ]
        self._journal.shorten(min([*needed, *self._unrecovered, *self._commits, self._position + 1]) - 1)

    def _remember_stamps(self) -> None:
        held = self._shelf.entries
        # Files that nobody needed in this run are as an earlier one left them, or somebody has changed them since.
        left = {
            path: Left(stamp, self._shelf.digests.get(path))
            for path, stamp in self._shelf.recorded.items()
            if path not in held and not self._is_gone(path)
        }
        left |= {path: Left(one.ours, one.digest) for path, one in held.items() if one.ours and not one.to_write}
        write_stamps(self._root, self._files, left)

    def _is_gone(self, path: str) -> bool:
        try:
            return self._files.stamp_now(self._places.of(path)) is None
        except OSError:
            # It can't be looked at now; perhaps the next time.
            return False


def _problem(error: Failure) -> OpenClawMemoryError:
    return StorageError("writing the journal", error) if isinstance(error, OSError) else error
