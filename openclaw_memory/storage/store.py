"""The documents of one root: planned, committed, flushed.

An event is planned synchronously on the newest planned documents, its operations are queued for the journal, and the
next event may be planned at once. When the journal's thread has made them durable the planned documents become the
committed ones, which readers see. The files themselves are rewritten some time later, whole, by `flush`.

A file that changed on disk was changed by a person: it becomes the new base, and the operations that were not in it
yet are applied to it again. That is what makes an edit between our read and our write keep both changes.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import anyio
import anyio.to_thread

from openclaw_memory.clock import Clock
from openclaw_memory.errors import ClosedError, OpenClawMemoryError, StorageError, UnreadableDocumentError
from openclaw_memory.storage.buffer import FlushLimits, Waiting, next_flush, plan_flush
from openclaw_memory.storage.documents import Draft, Format
from openclaw_memory.storage.files import Files, Stamp
from openclaw_memory.storage.journal import Journal, read_journal
from openclaw_memory.storage.locks import KeyedLocks
from openclaw_memory.storage.operations import Flush, Operation, Record
from openclaw_memory.storage.recovery import documents_named, plan_recovery
from openclaw_memory.storage.rootlock import RootLock

log = logging.getLogger(__name__)

_FLUSHES_AT_CLOSE = 3
"""More than one, since a person may save a file just when it is about to be rewritten."""

Entries = list[tuple[int, Operation]]


@dataclass(slots=True)
class _Entry:
    """All that is known of one document. `base` is the file as it is on disk; None while it can't be read."""

    base: Any
    stamp: Stamp | None
    problem: UnreadableDocumentError | None = None
    committed: Any = None
    planned: Any = None
    unflushed: Entries = field(default_factory=list)
    queued: Entries = field(default_factory=list)
    since: float = 0.0
    retry_at: float = 0.0
    doubted: Stamp | None = None
    rebased: int = 0
    """Last position when the file was read anew: commits up to it were planned on another base."""


class Commit:
    """What becomes of a draft: `wait` for it, or be called. `error` is None when it is durable."""

    def __init__(self, position: int, operations: tuple[Operation, ...], documents: dict[str, Any]) -> None:
        self.position = position
        self.operations = operations
        self.documents = documents
        self.error: StorageError | None = None
        self._settled = anyio.Event()
        self._callbacks: list[Callable[[Commit], None]] = []

    async def wait(self) -> None:
        """Return when it is decided whether the draft is durable; cancelling the wait changes nothing."""
        await self._settled.wait()

    def call_when_settled(self, callback: Callable[[Commit], None]) -> None:
        """Call `callback` in the event loop once it is decided; at once when it is already."""
        if self._settled.is_set():
            callback(self)
        else:
            self._callbacks.append(callback)

    def settle(self, error: StorageError | None) -> None:
        self.error = error
        self._settled.set()
        for callback in self._callbacks:
            callback(self)


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
    and with None when it no longer does.
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
    ) -> None:
        self._root = root
        self._files = files
        self._clock = clock
        self._format_of = format_of
        self._limits = limits
        self._journal_limit = journal_limit
        self._changed = changed
        self._troubled = troubled
        self._entries: dict[str, _Entry] = {}
        self._locks = KeyedLocks()
        self._commits: dict[int, Commit] = {}
        self._position = 0
        self._journal: Journal | None = None
        self._lock = RootLock(root)
        self._wake = anyio.Event()
        self._troubles: dict[str, str] = {}
        self._loop: asyncio.AbstractEventLoop | None = None

    # -- opening and closing ------------------------------------------------------------------------------------

    async def open(self, folders: Iterable[str]) -> RecoveryReport:
        """Take the root, create missing folders, finish what a crash interrupted, and begin to accept drafts.

        A disk that refuses is trouble and no error: what can be read is read, and writes fail until it relents.

        Raises: `RootInUseError`.
        """
        self._loop = asyncio.get_running_loop()
        folder = self._root / ".journal"
        await anyio.to_thread.run_sync(self._take_root, [*folders, ".journal"])
        try:
            contents = await anyio.to_thread.run_sync(read_journal, folder, self._files)
            for path in documents_named(contents.records):
                await self._load(path)
            missing = plan_recovery(contents.records, self._version_on_disk)
            for path, entries in missing.items():
                entry = self._entries[path]
                entry.unflushed, entry.since = list(entries), self._clock.monotonic()
                self._rebase(path, entry)
            self._position = contents.position
            self._journal = Journal(folder, self._files, self._position, self._settled_in_thread)
            problem = await anyio.to_thread.run_sync(self._journal.start, contents.records)
            if problem is not None:
                self._report_trouble("journal", str(StorageError("writing the journal", problem)))
        except BaseException:
            self._lock.release()
            raise
        await self.flush(missing)
        return RecoveryReport({path: len(entries) for path, entries in missing.items()}, contents.damaged)

    def _take_root(self, folders: Iterable[str]) -> None:
        try:
            self._files.make_folder(self._root)
            self._lock.acquire()
            for folder in folders:
                self._files.make_folder(self._root / folder)
        except OSError as error:
            log.warning("%s can't be written (%s)", self._root, error)

    async def run(self) -> None:
        """Rewrite documents as they become due, until cancelled."""
        while True:
            now = self._clock.monotonic()
            due = plan_flush(self._waiting(now), now, self._limits)
            if due:
                await self.flush(due)
                continue
            self._wake = anyio.Event()
            deadlines = [entry.retry_at for entry in self._entries.values() if entry.unflushed and entry.retry_at > now]
            at = next_flush(self._waiting(now), self._limits)
            await self._sleep(min([*deadlines, *([] if at is None else [at])], default=None))

    async def _sleep(self, deadline: float | None) -> None:
        if deadline is None:
            await self._wake.wait()
            return
        async with anyio.create_task_group() as group:

            async def wake() -> None:
                await self._wake.wait()
                group.cancel_scope.cancel()

            group.start_soon(wake)
            await self._clock.sleep_until(deadline)
            group.cancel_scope.cancel()

    async def close(self) -> None:
        """Flush everything, empty the journal and let go of the root. What can't be flushed stays in the journal."""
        if self._journal is None:
            return
        await self.settled()
        for _ in range(_FLUSHES_AT_CLOSE):
            await self.flush()
        if not any(entry.unflushed for entry in self._entries.values()):
            self._journal.shorten(self._position)
        journal, self._journal = self._journal, None
        with anyio.CancelScope(shield=True):
            await anyio.to_thread.run_sync(journal.close)
            await anyio.to_thread.run_sync(self._lock.release)

    async def settled(self) -> None:
        """Return when every commit made so far is decided."""
        for commit in list(self._commits.values()):
            await commit.wait()

    # -- reading ------------------------------------------------------------------------------------------------

    async def scan(self, folder: str) -> list[str]:
        """List the Markdown files right in a folder, and those that are not on disk yet, by relative path, sorted."""
        stamps = await anyio.to_thread.run_sync(self._files.scan, self._root / folder)
        on_disk = {f"{folder}/{name}" for name in stamps if name.endswith(".md") and not name.startswith(".")}
        held = {
            path
            for path, entry in self._entries.items()
            if path.rpartition("/")[0] == folder and (entry.unflushed or entry.queued) and path.endswith(".md")
        }
        return sorted(on_disk | held)

    async def readable(self, paths: Iterable[str]) -> list[str]:
        """Choose the paths whose documents can be read."""
        paths = list(paths)
        for path in paths:
            await self._refresh(path)
        return [path for path in paths if self._entries[path].problem is None]

    async def read(self, path: str) -> Any:
        """Give the committed document, with what a person did to its file in the meantime.

        Raises: `UnreadableDocumentError`.
        """
        await self._refresh(path)
        entry = self._entries[path]
        if entry.problem is not None:
            raise entry.problem
        return entry.committed

    async def look(self, folders: Iterable[str]) -> None:
        """Read what a person changed, added or took away in these folders; costs one look at each file's stamp."""
        folders = list(folders)
        found = await anyio.to_thread.run_sync(self._stamps, folders)
        for path in found.keys() | {path for path in self._entries if path.rpartition("/")[0] in folders}:
            entry = self._entries.get(path)
            if entry is None or entry.stamp != found.get(path):
                await self._refresh(path)

    def _stamps(self, folders: Iterable[str]) -> dict[str, Stamp]:
        return {
            f"{folder}/{name}": stamp
            for folder in folders
            for name, stamp in self._files.scan(self._root / folder).items()
            if name.endswith((".md", ".json")) and not name.startswith(".")
        }

    def problems(self) -> dict[str, str]:
        """Tell which documents can't be read, and why."""
        return {path: str(entry.problem) for path, entry in self._entries.items() if entry.problem is not None}

    async def look_at(self, paths: Iterable[str]) -> bool:
        """Read those of these documents that a person changed; tells whether there were any."""
        before = {path: self._entries[path].stamp for path in paths if path in self._entries}
        for path in before:
            await self._refresh(path)
        return any(self._entries[path].stamp != stamp for path, stamp in before.items())

    @property
    def in_flight(self) -> int:
        """How many commits are not decided yet."""
        return len(self._commits)

    def unflushed(self) -> dict[str, int]:
        """Count, by document, the acknowledged entries that are in the journal and not yet in the file."""
        return {path: len(entry.unflushed) for path, entry in self._entries.items() if entry.unflushed}

    @property
    def trouble(self) -> str | None:
        """What the disk refuses at the moment; None when all is well."""
        return next(iter(self._troubles.values()), None)

    # -- writing ------------------------------------------------------------------------------------------------

    async def draft(self, paths: Iterable[str], *, appended: Iterable[str] = ()) -> Draft:
        """Load documents and give them for planning. Hand the draft to `commit` before anything else is awaited.

        What is planned on `paths` depends on what they hold, so their files are looked at once more. To those in
        `appended` something is only added; the look before the next flush is soon enough.

        Raises: `UnreadableDocumentError`, since what can't be read must not be written over.
        """
        paths, appended = list(paths), list(appended)
        for path in paths + [path for path in appended if (e := self._entries.get(path)) is None or e.base is None]:
            await self._refresh(path)
        paths += appended
        for path in paths:
            if (problem := self._entries[path].problem) is not None:
                raise problem
        return Draft(
            formats={path: self._format_of(path) for path in paths},
            planned={path: self._entries[path].planned for path in paths},
        )

    def commit(self, draft: Draft) -> Commit:
        """Queue a draft for the journal; its documents are what the next draft is planned on.

        Raises: `ClosedError`.
        """
        if self._journal is None:
            raise ClosedError("the store")
        if not draft.operations:
            commit = Commit(self._position, (), {})
            # Nothing to make durable, but what the answer rests on may still be on its way.
            last = next(reversed(self._commits), None)
            if last is None:
                commit.settle(None)
            else:
                self._commits[last].call_when_settled(lambda earlier: commit.settle(earlier.error))
            return commit
        stale = [path for path in draft.changed if self._entries[path].planned is not draft.planned[path]]
        if stale:
            raise RuntimeError(f"a draft was kept while {stale} changed; plan and commit without awaiting in between")
        self._position += 1
        commit = Commit(self._position, tuple(draft.operations), dict(draft.changed))
        self._commits[commit.position] = commit
        for operation in commit.operations:
            self._entries[operation.path].queued.append((commit.position, operation))
        for path, document in commit.documents.items():
            self._entries[path].planned = document
        self._journal.submit(Record(commit.position, operations=commit.operations))
        return commit

    def _settled_in_thread(self, positions: Sequence[int], error: OSError | None) -> None:
        assert self._loop is not None
        # The loop may be gone when a program ends without closing; then nobody is left to be told.
        with suppress(RuntimeError):
            self._loop.call_soon_threadsafe(self._settle, positions, error)

    def _settle(self, positions: Sequence[int], error: OSError | None) -> None:
        if error is not None:
            self._undo(error)
            return
        settled = [commit for position in positions if (commit := self._commits.pop(position, None)) is not None]
        latest = {path: commit for commit in settled for path in commit.documents}
        for path, commit in latest.items():
            self._promote(path, commit)
        for commit in settled:
            commit.settle(None)
        self._wake.set()
        self._report_trouble("journal", None)

    def _promote(self, path: str, commit: Commit) -> None:
        """Make what was planned with `commit` the committed document."""
        entry = self._entries[path]
        done = [item for item in entry.queued if item[0] <= commit.position]
        del entry.queued[: len(done)]
        if not entry.unflushed:
            entry.since = self._clock.monotonic()
        entry.unflushed += done
        if entry.base is None:
            return
        before, form = entry.committed, self._format_of(path)
        if not entry.queued:
            entry.committed = entry.planned
        elif entry.rebased >= commit.position:
            # A person's edit came in between; the operations were applied to the new base, one by one.
            entry.committed = self._apply(path, before, done)
        else:
            entry.committed = form.flushed(commit.documents[path], entry.base)
        self._changed(path, before, entry.committed)

    def _undo(self, error: OSError) -> None:
        """Fail everything that is planned and not durable: it was planned on records that are lost."""
        failed, self._commits = self._commits, {}
        for entry in self._entries.values():
            entry.queued.clear()
            entry.planned = entry.committed
        assert self._journal is not None or not failed
        if self._journal is not None:
            self._journal.resume()
        problem = StorageError("writing the journal", error)
        self._report_trouble("journal", str(problem))
        for commit in failed.values():
            commit.settle(problem)

    def _report_trouble(self, place: str, reason: str | None) -> None:
        """Note that a place, the journal or a document, can't be written, or with None that it can again."""
        before = self.trouble
        if reason is None:
            self._troubles.pop(place, None)
        else:
            self._troubles[place] = reason
        if (before is None) != (self.trouble is None):
            self._troubled(self.trouble)

    # -- flushing -----------------------------------------------------------------------------------------------

    async def flush(self, paths: Iterable[str] | None = None) -> None:
        """Rewrite documents whose files lag behind; all of them by default. Failures are kept for the next time."""
        chosen = [
            path
            for path in (self._entries if paths is None else paths)
            if (entry := self._entries[path]).unflushed and entry.problem is None
        ]
        if not chosen:
            return
        async with self._locks.hold(chosen):
            for path in chosen:
                await self._refresh_locked(path)
            chosen = [path for path in chosen if self._entries[path].problem is None and self._entries[path].unflushed]
            rendered = {}
            for path in chosen:
                data, document = self._format_of(path).render(self._entries[path].committed)
                flush = Flush(path, self._format_of(path).version(document) or "", self._entries[path].unflushed[-1][0])
                rendered[path] = (data, document, flush)
            intent = self._record(intents=tuple(flush for _, _, flush in rendered.values()))
            await intent.wait()
            if intent.error is not None:
                self._put_off(chosen)
                return
            written = [await self._write(path, *rendered[path]) for path in chosen]
            flushed = [flush for flush in written if flush is not None]
        if flushed:
            self._record(flushed=tuple(flushed))
        self._shorten_journal()

    async def _write(self, path: str, data: bytes, document: Any, flush: Flush) -> Flush | None:
        entry = self._entries[path]
        if await self._files.stamp(self._root / path) != entry.stamp:
            # A person saved the file a moment ago; the next flush merges.
            self._put_off([path], soon=True)
            return None
        with anyio.CancelScope(shield=True):
            try:
                stamp = await anyio.to_thread.run_sync(self._replace, self._root / path, data)
            except OSError as error:
                self._put_off([path])
                self._report_trouble(path, str(StorageError(f"writing {path}", error)))
                return None
            self._report_trouble(path, None)
            entry.base, entry.stamp = document, stamp
            entry.unflushed = [item for item in entry.unflushed if item[0] > flush.upto]
            entry.since = self._clock.monotonic()
            before, form = entry.committed, self._format_of(path)
            entry.planned = form.flushed(entry.planned, document)
            entry.committed = form.flushed(before, document) if entry.queued else entry.planned
            self._changed(path, before, entry.committed)
        return flush

    def _replace(self, path: Path, data: bytes) -> Stamp:
        self._files.make_folder(path.parent)
        return self._files.replace(path, data)

    def _record(self, *, intents: tuple[Flush, ...] = (), flushed: tuple[Flush, ...] = ()) -> Commit:
        if self._journal is None:
            raise ClosedError("the store")
        self._position += 1
        commit = Commit(self._position, (), {})
        self._commits[commit.position] = commit
        self._journal.submit(Record(self._position, intents=intents, flushed=flushed))
        return commit

    def _put_off(self, paths: Iterable[str], *, soon: bool = False) -> None:
        now = self._clock.monotonic()
        for path in paths:
            entry = self._entries[path]
            entry.retry_at = now if soon else now + self._limits.interval

    def _shorten_journal(self) -> None:
        if self._journal is None or self._journal.size < self._journal_limit:
            return
        waiting = [
            position for entry in self._entries.values() for position, _ in (entry.unflushed[:1] or entry.queued[:1])
        ]
        self._journal.shorten(min([*waiting, *self._commits, self._position + 1]) - 1)

    def _waiting(self, now: float) -> dict[str, Waiting]:
        return {
            path: Waiting(len(entry.unflushed), entry.since)
            for path, entry in self._entries.items()
            if entry.unflushed and entry.retry_at <= now and entry.problem is None
        }

    # -- files that change under us -----------------------------------------------------------------------------

    async def _refresh(self, path: str) -> None:
        async with self._locks.hold([path]):
            await self._refresh_locked(path)

    async def _refresh_locked(self, path: str) -> None:
        entry = self._entries.get(path)
        if entry is None:
            await self._load(path)
            return
        try:
            stamp = await self._files.stamp(self._root / path)
        except OSError as error:
            entry.problem = UnreadableDocumentError(path, error.strerror or str(error))
            return
        if stamp == entry.stamp and entry.problem is None:
            return
        if stamp is not None and stamp.size == 0 and stamp != entry.doubted and entry.stamp and entry.stamp.size:
            # An editor that saves in place empties the file first. It is believed when it is still empty next time.
            entry.doubted = stamp
            return
        await self._load(path)

    async def _load(self, path: str) -> None:
        """Read a file and make it the base of what is held of it."""
        entry = self._entries.setdefault(path, _Entry(base=None, stamp=None))
        try:
            entry.base, entry.stamp = await self._read_file(path)
            entry.problem = None
        except UnreadableDocumentError as problem:
            if str(problem) != str(entry.problem):
                log.warning("%s", problem)
            entry.base, entry.problem = None, problem
            return
        self._rebase(path, entry)

    async def _read_file(self, path: str) -> tuple[Any, Stamp | None]:
        form = self._format_of(path)
        try:
            data, stamp = await self._files.read(self._root / path)
        except (FileNotFoundError, NotADirectoryError):
            return form.new(path), None
        except OSError as error:
            raise UnreadableDocumentError(path, error.strerror or str(error)) from error
        return form.parse(path, data), stamp

    def _rebase(self, path: str, entry: _Entry) -> None:
        """Apply to the base what is not in it yet."""
        if entry.base is None:
            return
        before, entry.rebased = entry.committed, self._position
        try:
            entry.committed = self._apply(path, entry.base, entry.unflushed)
            entry.planned = self._apply(path, entry.committed, entry.queued)
        except OpenClawMemoryError as error:
            entry.base, entry.problem = None, UnreadableDocumentError(path, str(error))
            return
        if entry.committed is not before:
            self._changed(path, before, entry.committed)

    def _apply(self, path: str, document: Any, entries: Entries) -> Any:
        form = self._format_of(path)
        for _, operation in entries:
            document = form.apply(document, operation)
        return document

    def _version_on_disk(self, path: str) -> str | None:
        entry = self._entries.get(path)
        return None if entry is None or entry.base is None else self._format_of(path).version(entry.base)
