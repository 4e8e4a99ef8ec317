"""Documents to disk: some time after they were acknowledged, whole, and never over somebody else's save."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable, Mapping
from typing import Any

import anyio
import anyio.to_thread

from openclaw_memory.clock import Clock
from openclaw_memory.errors import StorageError
from openclaw_memory.storage.buffer import FlushLimits, Waiting, is_sooner, next_flush, plan_flush
from openclaw_memory.storage.commits import Commit
from openclaw_memory.storage.durable import BACKUP_SUFFIX, Replacement, make_folders, replace, write_whole
from openclaw_memory.storage.entries import Entry
from openclaw_memory.storage.files import Stamp
from openclaw_memory.storage.integrity import digest_of, is_digest
from openclaw_memory.storage.operations import Flush
from openclaw_memory.storage.shelf import Shelf

log = logging.getLogger(__name__)

REST_SECONDS = 30.0
"""After so long without a change a document's backup is brought up to date, and the journal lets go of it."""


class Flusher:
    """The coalescing buffer (seed 000 section 5.2).

    Parameters: `shelf`, with the documents; `clock`; `limits`; `record`, which queues flush records for the journal;
    `trouble`, called with a path and the reason when it can't be written, and with None when it can again.
    """

    def __init__(
        self,
        shelf: Shelf,
        clock: Clock,
        limits: FlushLimits,
        record: Callable[[tuple[Flush, ...], tuple[Flush, ...]], Commit],
        trouble: Callable[[str, str | None], None],
    ) -> None:
        self._shelf = shelf
        self._clock = clock
        self._limits = limits
        self._record = record
        self._trouble = trouble
        self._wake = anyio.Event()
        self._wakes_at: float | None = None
        """When the first rewrite is due (seconds of the monotonic clock); None when nothing waits for one."""
        self.rewriting: set[str] = set()
        """Documents that are being rewritten: their files were looked at, and the exchange looks once more."""

    def added(self, paths: Iterable[str]) -> None:
        """Take note that entries were added to these documents, and think again where that makes something due sooner.

        Each time would cost more than the entry itself.
        """
        entries = self._shelf.entries
        changed = [_waiting(entries[path]) for path in paths]
        in_all = sum(len(entries[path].unflushed) for path in self._shelf.active)
        if is_sooner(changed, in_all, self._wakes_at, self._limits):
            self._wake.set()

    async def run(self, after: Callable[[], None]) -> None:
        """Rewrite documents as they become due, until cancelled; `after` is called each time."""
        while True:
            now = self._clock.monotonic()
            waiting = self._waiting(now)
            due = plan_flush(waiting, now, self._limits)
            rested = [path for path, entry in self._active() if self._rested(entry, now)]
            if due or rested:
                await self.flush(due)
                await self.settle_backups(rested)
                after()
                continue
            self._wake = anyio.Event()
            active = [entry for _, entry in self._active()]
            retries = [entry.retry_at for entry in active if entry.to_write and entry.retry_at > now]
            rests = [entry.idle_since + REST_SECONDS for entry in active if entry.flushed and not entry.to_write]
            first = next_flush(waiting, self._limits)
            self._wakes_at = min([*retries, *([] if first is None else [first])], default=None)
            await self._sleep(min([*rests, *([] if self._wakes_at is None else [self._wakes_at])], default=None))

    async def flush(self, paths: Iterable[str] | None = None) -> None:
        """Rewrite documents whose files lag behind; all of them by default. Failures are kept for the next time."""
        entries = self._shelf.entries
        chosen = [path for path in (entries if paths is None else paths) if entries[path].to_write]
        if not chosen:
            return
        async with self._shelf.locks.hold(chosen):
            to_render: dict[str, tuple[Entry, Any, int]] = {}
            try:
                for path in chosen:
                    entry = await self._shelf.refresh_held(path)
                    late_edit_seen = await self._shelf.adopt_late_edit(path)
                    if entry.problem is not None or not late_edit_seen or self._may_be_being_saved(entry):
                        # Looked at again some time later: what can't be read may be readable then, and who saves the
                        # file, or writes into the one that we displaced, is done. What is acknowledged is in the
                        # journal.
                        self._put_off(entry)
                    elif entry.to_write:
                        upto = max((position for position, _ in entry.flushed[-1:] + entry.unflushed[-1:]), default=0)
                        to_render[path] = (entry, entry.committed, upto)
                        # At once: the looks at the others take a while.
                        self.rewriting.add(path)
                done = await self._rewrite(to_render) if to_render else ()
            finally:
                self.rewriting -= to_render.keys()
        if done:
            self._record((), done)

    def _may_be_being_saved(self, entry: Entry) -> bool:
        return entry.stamp is not None and entry.stamp != entry.ours and self._shelf.looks.is_young(entry.stamp)

    async def _rewrite(self, to_render: Mapping[str, tuple[Entry, Any, int]]) -> tuple[Flush, ...]:
        """Rewrite documents while their locks are held; gives what is on the disk now."""
        entries = self._shelf.entries
        begun = self._clock.monotonic()
        # Documents do not change, so the event loop need not wait for some milliseconds of joining and hashing.
        rendered, failed = await anyio.to_thread.run_sync(self._rendered, to_render)
        for path, words in failed.items():
            self._put_off(entries[path])
            self._trouble(path, words)
        if not rendered:
            return ()
        intent = self._record(tuple(flush for _, _, flush in rendered.values()), ())
        await intent.wait()
        if intent.error is not None:
            for path in rendered:
                self._put_off(entries[path])
            return ()
        written = [await self._write(path, *parts) for path, parts in rendered.items()]
        for path in rendered:
            entries[path].took = self._clock.monotonic() - begun
        return tuple(flush for flush in written if flush is not None)

    async def settle_backups(self, paths: Iterable[str] | None = None, *, anyway: bool = False) -> None:
        """Bring backups up to date with documents at rest, so that nothing of the journal is needed for them.

        `anyway`: also those that the journal would not be needed for.
        """
        entries = self._shelf.entries
        for path in [path for path in (entries if paths is None else paths) if anyway or entries[path].flushed]:
            async with self._shelf.locks.hold([path]):
                late_edit_seen = await self._shelf.adopt_late_edit(path)
                entry = await self._shelf.refresh_held(path)
                entry.idle_since = self._clock.monotonic()
                if not late_edit_seen or entry.base is None or entry.to_write or entry.queued:
                    continue
                try:
                    # In a thread: the file of a long day takes some ten milliseconds.
                    with anyio.CancelScope(shield=True):
                        entry.backup = await anyio.to_thread.run_sync(self._back_up, path, entry)
                except OSError as error:
                    self._trouble(path, str(StorageError(f"writing {path}{BACKUP_SUFFIX}", error)))
                    continue
                entry.flushed = []
                self._trouble(path, None)

    async def _write(self, path: str, data: bytes, document: Any, flush: Flush) -> Flush | None:
        entry = self._shelf.entries[path]
        with anyio.CancelScope(shield=True):
            try:
                done = await anyio.to_thread.run_sync(self._replace, path, data, entry.stamp, not entry.restored)
            except OSError as error:
                self._put_off(entry)
                self._trouble(path, str(StorageError(f"writing {path}", error)))
                return None
            self._trouble(path, None)
            if done.stamp is None:
                # A person saved the file a moment ago; the next flush, which is due at once, merges. One that is gone
                # is given time to come back.
                gone = await self._shelf.looks.is_gone(path)
                entry.retry_at = self._clock.monotonic() + (self._limits.interval if gone else 0.0)
                return None
            stamp = done.stamp
            self._written(path, entry, document, flush, stamp, done.backup)
        return Flush(path, flush.version, flush.upto, (stamp.inode, stamp.size, stamp.mtime_ns))

    def _written(
        self, path: str, entry: Entry, document: Any, flush: Flush, stamp: Stamp, backup: Stamp | None
    ) -> None:
        upto, version = flush.upto, flush.version
        moved = [item for item in entry.unflushed if item[0] <= upto]
        # What was displaced is the backup now, and lacks just what was written this time.
        entry.flushed = moved if backup is not None else [*entry.flushed, *moved]
        entry.unflushed = entry.unflushed[len(moved) :]
        entry.remember(entry.format.version(document), upto, moved)
        entry.digest = version if is_digest(version) else None
        entry.base, entry.stamp, entry.ours, entry.backup, entry.restored = document, stamp, stamp, backup, False
        entry.rewrite = False
        entry.since = entry.idle_since = self._clock.monotonic()
        before = entry.committed
        entry.planned = entry.format.flushed(entry.planned, document)
        entry.committed = entry.format.flushed(before, document) if entry.queued else entry.planned
        self._shelf.changed(path, before, entry.committed)

    def _rendered(
        self, documents: Mapping[str, tuple[Entry, Any, int]]
    ) -> tuple[dict[str, tuple[bytes, Any, Flush]], dict[str, str]]:
        """Give bytes, document as it then is on disk, and what the journal is told of it; called in a thread.

        Also, by path, why a document has no bytes: whatever it holds, it costs the others nothing.
        """
        rendered, failed = {}, {}
        for path, (entry, committed, upto) in documents.items():
            try:
                data, document = entry.format.render(committed)
            except Exception as error:
                log.exception("%s can't be rendered; what is acknowledged for it waits in the journal", path)
                failed[path] = f"writing {path} failed: {type(error).__name__}: {error}"
                continue
            version = entry.format.version(document)
            if version is None:
                version = digest_of(data) if self._shelf.places.is_elsewhere(path) else ""
            rendered[path] = (data, document, Flush(path, version, upto))
        return rendered, failed

    def _back_up(self, path: str, entry: Entry) -> Stamp:
        data, _ = entry.format.render(entry.base)
        target = self._shelf.backups.of_now(path)
        make_folders(self._shelf.files, target.parent)
        return write_whole(self._shelf.files, target, data)

    def _replace(self, path: str, data: bytes, expected: Stamp | None, keep_backup: bool) -> Replacement:
        places, files = self._shelf.places, self._shelf.files
        place = places.of(path)
        make_folders(files, place.parent)
        backup = places.companion(path, BACKUP_SUFFIX) if places.is_elsewhere(path) else None
        return replace(files, place, data, expected, keep_backup=keep_backup, backup=backup)

    def _put_off(self, entry: Entry) -> None:
        entry.retry_at = self._clock.monotonic() + self._limits.interval

    def _waiting(self, now: float) -> dict[str, Waiting]:
        return {path: _waiting(entry) for path, entry in self._active() if entry.to_write and entry.retry_at <= now}

    def _active(self) -> list[tuple[str, Entry]]:
        """List the documents that the journal is still needed for."""
        active = self._shelf.active
        entries = self._shelf.entries
        active -= {path for path in active if entries[path].needed_from is None and not entries[path].to_write}
        return [(path, entries[path]) for path in active]

    @staticmethod
    def _rested(entry: Entry, now: float) -> bool:
        return bool(entry.flushed) and not entry.to_write and now - entry.idle_since >= REST_SECONDS

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


def _waiting(entry: Entry) -> Waiting:
    return Waiting(max(1, len(entry.unflushed)), entry.since, entry.idle_since, entry.took)
