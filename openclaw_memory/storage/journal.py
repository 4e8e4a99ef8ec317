"""The write-ahead log: what is acknowledged is on the disk here before anybody is told so.

Records are queued by the event loop, in order. A thread of the journal's own writes whatever is waiting and calls
one `fdatasync` for all of it (group commit), so the cost of a sync is shared by everybody who waited for it.
"""

from __future__ import annotations

import logging
import re
import threading
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Literal

from openclaw_memory.errors import OpenClawMemoryError
from openclaw_memory.storage.durable import make_folders, open_log
from openclaw_memory.storage.files import Files, OpenFile
from openclaw_memory.storage.operations import Record, decode, encode, json_of, json_of_operations, line_of

log = logging.getLogger(__name__)

_LOG = re.compile(r"[0-9]+\.log")

SyncMode = Literal["always", "interval", "never"]

_READS = 5

SYNC_INTERVAL_SECONDS = 1.0
"""How long `interval` leaves a record to the system's cache."""

Failure = Exception
"""Nearly always an `OSError`, or what the guard raises."""

Settled = Callable[[Sequence[int], Failure | None], None]
"""Called in the journal's thread with positions that are durable now, or with the error that prevented it.

Without positions it is about what was settled before: it can't be made durable, or it is after all."""


@dataclass(frozen=True, slots=True)
class JournalContents:
    """What a journal held when it was opened.

    `position` is the last one in use. `damaged` counts lines that are unreadable and were not a torn end.
    """

    records: tuple[Record, ...]
    position: int
    damaged: int


def read_journal(folder: Path, files: Files) -> JournalContents:
    """Read all records, oldest first. A torn last line was never acknowledged and is left out.

    Beside a process that owns the journal a file may be gone between listing and reading; then it is read again.
    """
    for _ in range(_READS):
        with suppress(FileNotFoundError):
            return _read(folder, files)
    return _read(folder, files)


def _read(folder: Path, files: Files) -> JournalContents:
    records: list[Record] = []
    position = damaged = 0
    finished = False
    unfinished: list[Record | None] = []
    for name in _logs(files, folder):
        lines = [decode(line) for line in _lines(files.read_now(folder / name))]
        begin = lines[0] if lines else None
        kept = lines[1 : 1 + begin.keeps] if begin is not None and begin.keeps is not None else []
        if begin is None or begin.keeps is None or len(kept) < begin.keeps or None in kept:
            # The file was never finished, so the one before it is still the whole truth.
            unfinished += lines
            continue
        finished = True
        records = [line for line in lines[1:] if line is not None]
        damaged = sum(line is None for line in lines[1:-1])
        position = max([begin.position, *(record.position for record in records)])
    if not finished and len(unfinished) > 1:
        # Older files are removed only when a new one is on the disk: without any whole one, it was damaged since.
        known = {line.position: line for line in unfinished if line is not None and line.keeps is None}
        records = [known[place] for place in sorted(known)]
        damaged = max(1, sum(line is None for line in unfinished[:-1]))
        position = max((line.position for line in unfinished if line is not None), default=0)
    return JournalContents(tuple(records), position, damaged)


def _logs(files: Files, folder: Path) -> list[str]:
    return sorted(name for name in files.scan(folder) if _LOG.fullmatch(name))


def _lines(data: bytes) -> list[bytes]:
    return [line + b"\n" for line in data.split(b"\n")[:-1]] + ([rest] if (rest := data.rpartition(b"\n")[2]) else [])


class Journal:
    """The log of one root. `submit`, `shorten` and `resume` are called from the event loop and never wait.

    Parameters: `folder`; `files`; `position`, the last one in use; `settled`; `mode`, when a record is on the disk:
    `always` before it is settled, `interval` at most a second later, `never` when the system likes (the words are
    those of Redis). Records about flushes are always synced, since a file must not know more than its journal.
    `guard` is called in the thread before each batch, and raises an `OpenClawMemoryError` to have it fail.
    """

    def __init__(
        self,
        folder: Path,
        files: Files,
        position: int,
        settled: Settled,
        mode: SyncMode = "always",
        guard: Callable[[], None] = lambda: None,
    ) -> None:
        self._guard = guard
        self._folder = folder
        self._files = files
        self._settled = settled
        self._mode = mode
        self._changed = threading.Condition()
        self._queue: list[tuple[int, bytes]] = []
        """Positions, and records as JSON."""
        self._must_sync = False
        self._upto: int | None = None
        self._anyway = False
        """Whether the file is to be begun anew for `_upto`, however little of it may go."""
        self._again: list[Record] = []
        self._rewrites: list[tuple[Callable[[bytes], bytes | None], Callable[[Failure | None], None]]] = []
        self._closing = False
        self._failure: Failure | None = None
        self._thread = threading.Thread(target=self._run, name="openclaw-memory journal", daemon=True)
        # Only the thread touches these once it runs.
        self._file: OpenFile | None = None
        self._kept: list[tuple[int, bytes]] = []
        self._last = position
        self._unsynced_since: float | None = None
        self._late = False
        """Whether the last late sync failed."""
        self.size = 0
        """Bytes in the journal file, for deciding when to shorten it."""
        self.first = position
        """Position before that of the first record in the file."""

    def start(self, kept: Sequence[Record], begin: bool = True) -> OSError | None:
        """Begin a new file with the records that are still needed, then serve. Call it from a thread.

        Gives the error when no file can be written now; each later record tries again, and so it is without `begin`.
        """
        self._kept = [(record.position, encode(record)) for record in kept]
        problem = None
        try:
            if begin:
                self._begin()
        except OSError as error:
            self._abandon()
            problem = error
        self._thread.start()
        return problem

    def submit(self, record: Record) -> None:
        """Queue a record; `settled` hears when it is durable or has failed."""
        self._queue_up(record.position, json_of(record), bool(record.intents))

    def submit_operations(self, position: int, operations: Sequence[bytes]) -> None:
        """Queue a record of operations that are JSON already (`json_of_operation`)."""
        self._queue_up(position, json_of_operations(position, operations), False)

    def _queue_up(self, position: int, text: bytes, must_sync: bool) -> None:
        with self._changed:
            self._queue.append((position, text))
            self._must_sync |= must_sync
            self._changed.notify()

    def shorten(self, upto: int, *, if_worth_it: bool = False) -> None:
        """Let go of all records up to position `upto`: their documents hold them now.

        `if_worth_it`: the file stays as it is where most of it is needed still. To write that anew would hold up
        acknowledgements for little.
        """
        with self._changed:
            self._upto = upto
            self._anyway |= not if_worth_it
            self._changed.notify()

    def keep_again(self, records: Sequence[Record]) -> None:
        """Take up records that were let go of, at their old places: something rests on them once more."""
        with self._changed:
            self._again += records
            self._changed.notify()

    def rewrite(self, change: Callable[[bytes], bytes | None], done: Callable[[Failure | None], None]) -> None:
        """Begin a new file with every line changed, or left out for None, after what was asked for before.

        `done` is called in the journal's thread, with the error when the disk refused; then the old file stays until
        the next one can be begun.
        """
        with self._changed:
            self._rewrites.append((change, done))
            self._changed.notify()

    def resume(self, upto: int) -> None:
        """Accept records again after a failure: everything up to position `upto` was undone, and is not written."""
        with self._changed:
            self._failure = None
            self._queue = [(position, text) for position, text in self._queue if position > upto]

    def close(self) -> None:
        """Write what is queued, then end the thread. Waits for it: call it from a thread."""
        with self._changed:
            self._closing = True
            self._changed.notify()
        self._thread.join()
        self._abandon()

    def _run(self) -> None:
        while True:
            with self._changed:
                self._changed.wait_for(
                    lambda: self._queue or self._again or self._rewrites or self._upto is not None or self._closing,
                    self._until_sync(),
                )
                appends, self._queue = self._queue, []
                upto, self._upto = self._upto, None
                anyway, self._anyway = self._anyway, False
                again, self._again = self._again, []
                rewrites, self._rewrites = self._rewrites, []
                must_sync, self._must_sync = self._must_sync, False
                failure, closing = self._failure, self._closing
            if again:
                # What was let go of before is let go of first; otherwise acknowledgements do not wait for that.
                if upto is not None and failure is None:
                    self._tried(partial(self._shorten, upto, anyway))
                    upto = None
                self._tried(partial(self._keep_again, again))
                if not appends and not rewrites:
                    continue
            if not appends and upto is None and not rewrites:
                self._tried(self._sync_late)
                if closing:
                    return
                continue
            if appends:
                if failure is None:
                    lines = [(position, line_of(text)) for position, text in appends]
                    failure = self._tried(partial(self._write, lines, must_sync or self._mode == "always"))
                    if failure is not None:
                        with self._changed:
                            self._failure = failure
                self._settled([position for position, _ in appends], failure)
            if upto is not None and failure is None:
                self._tried(partial(self._shorten, upto, anyway))
            for change, done in rewrites:
                done(self._tried(partial(self._rewrite, change)))

    def _tried(self, what: Callable[[], Failure | None]) -> Failure | None:
        """Do something, and give what went wrong: without this thread everybody would wait for ever."""
        try:
            return what()
        except Exception as error:
            log.exception("the journal's thread met something that it does not know")
            # As after a disk that failed: nobody knows what is in the file.
            self._abandon()
            with suppress(Exception):
                self._begin()
            return error

    def _until_sync(self) -> float | None:
        """Tell how many seconds written records may still wait for their sync; None when none wait."""
        if self._unsynced_since is None or self._mode != "interval":
            return None
        return max(0.0, self._unsynced_since + SYNC_INTERVAL_SECONDS - time.monotonic())

    def _sync_late(self) -> None:
        """Sync what was settled before it was on the disk; what fails is told, and tried again until it succeeds."""
        if self._unsynced_since is None:
            return
        try:
            if self._file is None:
                self._begin()
            else:
                self._file.sync()
        except Exception as error:  # noqa: BLE001  # it is told
            # What was promised was `buffered`. Nobody knows what of this file is on the disk: a new one repeats it all.
            self._abandon()
            self._unsynced_since, self._late = time.monotonic(), True
            self._settled((), error)
            return
        self._unsynced_since = None
        if self._late:
            self._late = False
            self._settled((), None)

    def _write(self, appends: list[tuple[int, bytes]], sync: bool) -> Failure | None:
        data = b"".join(line for _, line in appends)
        try:
            self._guard()
        except OpenClawMemoryError as error:
            return error
        try:
            if self._file is None:
                self._begin()
            assert self._file is not None
            if not sync and self._until_sync() != 0.0:
                self._file.append(data)
                if self._unsynced_since is None:
                    self._unsynced_since = time.monotonic()
            elif self._unsynced_since is None:
                self._file.append_synced(data)
            else:
                # All of it: a file must not know more than its journal.
                self._file.append(data)
                self._file.sync()
                self._unsynced_since = None
            if not self._file.has_name():
                # Somebody removed the journal under us: what is written into it is gone with the file.
                log.error("the journal was removed while in use; it is begun anew")
                before, self._kept = self._kept, self._kept + appends
                try:
                    self._begin()
                except BaseException:
                    self._kept = before
                    raise
                self._last = appends[-1][0]
                return None
        except OSError as error:
            # Nobody knows what of these bytes reached the disk: the file is never appended to again. A new one is
            # begun at once, so that a crash right now does not bring back what is answered as failed.
            self._abandon()
            with suppress(OSError):
                self._begin()
            return error
        self.size += len(data)
        self._last = appends[-1][0]
        self._kept += appends
        return None

    def _keep_again(self, records: list[Record]) -> None:
        kept = {position for position, _ in self._kept}
        # Of records that are still there, whole, only what these say of a flush is new.
        new = [replace(record, operations=()) if record.position in kept else record for record in records]
        lines = [(record.position, encode(record)) for record in new if record.operations or record.flushed]
        self._kept = sorted([*self._kept, *lines])
        with suppress(OSError):
            # Where there is no room the next record begins the file with all of it, and reports.
            self._begin()
            return
        self._abandon()

    def _shorten(self, upto: int, anyway: bool) -> None:
        self._kept = [(position, line) for position, line in self._kept if position > upto]
        if not anyway and sum(len(line) for _, line in self._kept) > self.size // 2:
            return
        try:
            self._begin()
        except OSError:
            # Nothing is lost: the longer file stays until the next write begins a new one, and reports if it can't.
            self._abandon()

    def _rewrite(self, change: Callable[[bytes], bytes | None]) -> OSError | None:
        changed = [(position, change(line)) for position, line in self._kept]
        self._kept = [(position, line) for position, line in changed if line is not None]
        try:
            self._begin()
            # What the older files held must not come back with their names.
            self._files.sync_folder(self._folder)
        except OSError as error:
            self._abandon()
            return error
        return None

    def _begin(self) -> None:
        """Start a new file that repeats what is still needed, and then remove the older ones."""
        make_folders(self._files, self._folder)
        older = _logs(self._files, self._folder)
        number = int(older[-1].removesuffix(".log")) + 1 if older else 1
        begin = encode(Record(position=self._last, keeps=len(self._kept)))
        data = begin + b"".join(line for _, line in self._kept)
        file = open_log(self._files, self._folder / f"{number:010}.log")
        try:
            file.append(data)
            file.sync()
        except BaseException:
            _close(file)
            raise
        self._abandon()
        self._file, self.size = file, len(data)
        self.first = self._kept[0][0] - 1 if self._kept else self._last
        for name in older:
            self._files.remove(self._folder / name)

    def _abandon(self) -> None:
        file, self._file = self._file, None
        if file is not None:
            _close(file)


def _close(file: OpenFile) -> None:
    """Let go of a file whose bytes are synced, or written off: whatever the disk says to that changes nothing."""
    try:
        file.close()
    except OSError as error:
        log.warning("a file of the journal could not be closed: %s", error)
