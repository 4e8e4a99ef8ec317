"""Do what `verify` says can be done by itself, as the owner of the folder, and tell what is left for a person.

Restoring, cleaning up and replaying is the store's own work, as at any start. What is added here: backups that could
not restore anything are made anew, and, when asked, the checksums of edited documents are renewed.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from datetime import datetime
from functools import partial
from pathlib import Path

import anyio.to_thread

from openclaw_memory.clock import Clock, SystemClock
from openclaw_memory.config import MemoryConfig
from openclaw_memory.errors import UnreadableDocumentError
from openclaw_memory.findings import EDITS, JOURNAL, Code, Finding, Report
from openclaw_memory.layers.rooms import FOLDERS, format_of
from openclaw_memory.markdown.frontmatter import split
from openclaw_memory.markdown.text import decode, encode
from openclaw_memory.storage import durable
from openclaw_memory.storage.buffer import FlushLimits
from openclaw_memory.storage.durable import BACKUP_SUFFIX, free_path, write_whole
from openclaw_memory.storage.files import Files, LocalFiles, Stamp
from openclaw_memory.storage.journal import read_journal
from openclaw_memory.storage.looks import SAVING_SECONDS
from openclaw_memory.storage.recovery import documents_named
from openclaw_memory.storage.stamps import Left, read_stamps, write_stamps
from openclaw_memory.storage.store import Store
from openclaw_memory.verify import verify
from openclaw_memory.workspace import areas, elsewhere, locks

_OURS = (b"checksum:", b"updated:", b"message_count:", "> 最后更新:".encode())
"""Lines that we renew ourselves: an old one holds nothing of a person's."""


@dataclass(frozen=True, slots=True)
class Action:
    """One thing that a repair does. `done` is None while it is only planned; `words`, what is or was done."""

    path: str
    code: Code
    words: str
    done: bool | None = None


@dataclass(frozen=True, slots=True)
class Repair:
    """What was done, and how the folder is now; `trouble`, what the disk refused."""

    actions: tuple[Action, ...]
    left: Report
    trouble: str | None = None

    @property
    def attention(self) -> int:
        """How much is left that needs somebody to do something."""
        return self.left.attention


def plan_repair(report: Report, *, adopt: bool) -> tuple[Action, ...]:
    """Choose what a repair would do about a report. Pure."""
    return tuple(
        Action(finding.path, finding.code, _plan(finding))
        for finding in report.findings
        if finding.remedy == "repair" or (adopt and finding.remedy == "adopt")
    )


def _plan(finding: Finding) -> str:
    match finding.code:
        case Code.DAMAGED:
            return "restore it, with the damaged bytes set aside"
        case Code.BACKUP_UNFIT:
            return "make a fresh backup"
        case Code.LEFT_OVER:
            return "remove it, or keep it as `.recovered-<time>` where it may be a person's save"
        case Code.JOURNAL_DAMAGED:
            return "set a copy aside, apply every line that can be read"
        case Code.PENDING:
            return f"write it to the file ({finding.words})"
        case _:
            return "renew its checksum, with the text as it is"


async def repair(config: MemoryConfig, files: Files, clock: Clock, *, adopt: bool = False) -> Repair:
    """Repair the memory folder of a configuration. What can't be done is left as it is, and told.

    Parameters: `adopt`, whether the checksums of documents that a person edited are renewed.

    Raises: `RootInUseError`, `FolderInUseError`; `OSError` when the folder can't be locked or its journal not be read.
    """
    folder = config.memory_folder
    lock = locks(config)
    await anyio.to_thread.run_sync(lock.acquire)
    try:
        before = await anyio.to_thread.run_sync(verify, folder, files, None)
        planned = plan_repair(before, adopt=adopt)
        if not planned:
            return Repair((), before)
        by_code = {code: [action.path for action in planned if action.code is code] for code in Code}
        await clock.sleep_until(clock.monotonic() + await anyio.to_thread.run_sync(still_saving, folder, files))
        unfit = by_code[Code.BACKUP_UNFIT]
        bench = _Bench(folder, files, clock, config)
        await anyio.to_thread.run_sync(partial(bench.set_aside, unfit, journal=bool(by_code[Code.JOURNAL_DAMAGED])))
        notices, trouble = await bench.start_once()
        edited = [path for code in sorted(EDITS) for path in by_code[code]]
        await anyio.to_thread.run_sync(bench.adopt, edited)
        await anyio.to_thread.run_sync(bench.back_up, unfit)
        after = await anyio.to_thread.run_sync(verify, folder, files, None)
    finally:
        lock.release()
    return Repair(outcome(planned, after, notices), after, trouble or next(iter(bench.refused), None))


async def repair_on_disk(config: MemoryConfig, *, adopt: bool) -> Repair:
    """Do so on the real disk, by the machine's own clock."""
    return await repair(config, LocalFiles(), SystemClock(), adopt=adopt)


def still_saving(folder: Path, files: Files) -> float:
    """Tell for how many seconds an editor may still be saving: a file that was just changed is not written over."""
    ages = [files.age(stamp) for place in FOLDERS for stamp in files.scan(folder / place).values()]
    return max(0.0, SAVING_SECONDS - min(ages, default=SAVING_SECONDS)) if min(ages, default=0.0) >= 0.0 else 0.0


def outcome(planned: Iterable[Action], after: Report, notices: Mapping[str, str]) -> tuple[Action, ...]:
    """Tell what became of each action: it is done when the finding is gone. Pure."""
    left = {(finding.path, finding.code) for finding in after.findings}
    return tuple(
        replace(
            action,
            done=(action.path, action.code) not in left,
            words=_told(action, notices) if action.code is Code.DAMAGED else action.words,
        )
        for action in planned
    )


def _told(action: Action, notices: Mapping[str, str]) -> str:
    """Say what the store did, without the path, which stands before it anyway."""
    return notices.get(action.path, action.words).removeprefix(f"{action.path} was damaged; ")


def holds_every_line(document: bytes, old: bytes) -> bool:
    """Tell whether an old version holds no line that a document lacks, but for those that are ours to renew. Pure."""
    lines = Counter(line for line in old.split(b"\n") if line.strip() and not line.startswith(_OURS))
    return lines <= Counter(document.split(b"\n"))


class _HeldLock:
    """The lock that the repair holds around the store's work and its own."""

    held = True

    def acquire(self) -> None:
        """Nothing is to be done: it is held."""

    def keep(self) -> None:
        """Nor here."""

    def release(self) -> None:
        """It is held on."""


class _Bench:
    """The single steps. All but `start_once` are called from a thread; `refused` collects what the disk refused."""

    def __init__(self, folder: Path, files: Files, clock: Clock, config: MemoryConfig) -> None:
        self._folder, self._files, self._clock, self._config = folder, files, clock, config
        self.refused: list[str] = []

    def set_aside(self, backups: list[str], *, journal: bool) -> None:
        """Put aside the bytes that the store would write over; without a copy nothing may be put in their place."""
        mark = f".corrupt-{self._clock.now():%Y%m%dT%H%M%S}"
        for backup in backups:
            path = self._folder / backup
            old, document = self._files.read_now(path), self._files.read_now(self._document_of(path))
            if not holds_every_line(document, old):
                write_whole(self._files, free_path(self._files, path.with_name(path.name + mark)), old)
            self._files.remove(path)
        for name in self._files.scan(self._folder / JOURNAL) if journal else ():
            if name.endswith(".log"):
                path = self._folder / JOURNAL / name
                kept = free_path(self._files, path.with_name(name + mark))
                write_whole(self._files, kept, self._files.read_now(path))

    async def start_once(self) -> tuple[dict[str, str], str | None]:
        """Open the store on the folder, look at everything, and close it; gives its notices and its trouble."""
        buffer = self._config.buffer
        store = Store(
            self._folder,
            self._files,
            self._clock,
            format_of,
            FlushLimits(buffer.flush_interval_seconds, buffer.max_entries_per_file, buffer.max_entries_in_all),
            buffer.journal_limit_bytes,
            lambda path, before, after: None,
            lambda reason: None,
            lock=_HeldLock(),
            elsewhere=elsewhere(self._config),
        )
        await store.open(areas(self._config))
        await store.look(areas(self._config))
        await store.close()
        return store.notices(), store.trouble

    def adopt(self, paths: list[str]) -> None:
        """Renew the checksums of edited documents. Every other byte stays, and so does a save that comes in between."""
        if not paths:
            return
        # A version that the journal still names must keep its name until its operations are in the file.
        named = documents_named(read_journal(self._folder / JOURNAL, self._files).records)
        stamps = read_stamps(self._folder, self._files)
        for path in paths:
            try:
                stamp = None if path in named else self._adopt(path)
            except (OSError, UnreadableDocumentError) as error:
                self.refused.append(f"{path}: {error}")
                continue
            if stamp is not None:
                stamps[path] = Left(stamp)
        write_stamps(self._folder, self._files, stamps)

    def back_up(self, backups: list[str]) -> None:
        """Write fresh backups, of edited documents too."""
        for backup in backups:
            path = self._folder / backup
            try:
                _, renewed = self._renewed(backup.removesuffix(BACKUP_SUFFIX))
                write_whole(self._files, path, renewed)
            except (OSError, UnreadableDocumentError) as error:
                self.refused.append(f"{backup}: {error}")

    def _adopt(self, path: str) -> Stamp | None:
        target = self._folder / path
        stamp, renewed = self._renewed(path)
        if stamp is not None and 0.0 <= self._files.age(stamp) < SAVING_SECONDS:
            raise InterruptedError("it is being saved at this moment; repair again")
        text = decode(self._files.read_now(target))
        if not renewed.endswith(encode(split(text.text).body, text.encoding)):
            raise UnreadableDocumentError(
                path, f"{text.encoding} does not go with front matter; save it as UTF-8 first"
            )
        backup = target.with_name(target.name + BACKUP_SUFFIX)
        if self._files.stamp_now(backup) is not None:
            # It has to fit what it restores, and the text is the same.
            write_whole(self._files, backup, renewed)
        return durable.replace(self._files, target, renewed, stamp, keep_backup=False).stamp

    def _renewed(self, path: str) -> tuple[Stamp | None, bytes]:
        """Give a document's bytes with a checksum that fits; the time of the last change is that of the file."""
        stamp = self._files.stamp_now(self._folder / path)
        data = self._files.read_now(self._folder / path)
        form = format_of(path)
        document = form.parse(path, data)
        if form.fits(document) or stamp is None:
            return stamp, data
        at = datetime.fromtimestamp(stamp.mtime_ns / 1e9, self._config.zone)
        renewed: bytes = form.render(replace(document, changed_at=at.isoformat(timespec="seconds")))[0]
        return stamp, renewed

    @staticmethod
    def _document_of(backup: Path) -> Path:
        return backup.with_name(backup.name.removesuffix(BACKUP_SUFFIX))
