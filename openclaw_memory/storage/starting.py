"""What a start does before the first write: take the root, keep what is damaged, hold what a crash left unfinished."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

import anyio.to_thread

from openclaw_memory.clock import Clock
from openclaw_memory.storage.areas import area_of, is_pattern
from openclaw_memory.storage.documents import Format
from openclaw_memory.storage.durable import free_path, make_folders, write_whole
from openclaw_memory.storage.files import Files, Stamp
from openclaw_memory.storage.integrity import is_digest
from openclaw_memory.storage.journal import JournalContents, read_journal
from openclaw_memory.storage.leftovers import clean_up
from openclaw_memory.storage.operations import Record
from openclaw_memory.storage.places import Places
from openclaw_memory.storage.recovery import documents_named, held_up_to, operations_on
from openclaw_memory.storage.rootlock import Lock
from openclaw_memory.storage.shelf import Shelf
from openclaw_memory.storage.stamps import read_stamps

log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class RecoveryReport:
    """What was found at start: documents that operations were applied to again, damaged lines of the journal."""

    replayed: dict[str, int]
    damaged_lines: int


def take_root(places: Places, files: Files, lock: Lock, folders: Iterable[str]) -> None:
    """Take the lock of a root and create its own folders. A disk that refuses is told to the log; see `lock.held`.

    Raises: `RootInUseError`.
    """
    root = places.root
    try:
        make_folders(files, root)
    except OSError as error:
        log.warning("%s can't be made (%s)", root, error)
    try:
        lock.acquire()
    except OSError as error:
        # Nothing is written without the lock; each write tries to take it again.
        log.warning("%s can't be locked (%s)", root, error)
        return
    try:
        for area in folders:
            if not is_pattern(area):
                make_folders(files, places.of(area))
            # What a killed process left may be seen and not be durable yet; everything here builds on it.
            if files.is_folder(folder := places.of(area_of(area).folder)):
                files.sync_folder(folder)
    except OSError as error:
        log.warning("%s can't be written (%s)", root, error)


async def found(
    shelf: Shelf, lock: Lock, folders: Sequence[str], format_of: Callable[[str], Format], clock: Clock
) -> JournalContents:
    """Read the journal and how the files were left, note both on the shelf, and clear away what a crash left over.

    A damaged journal is set aside, and the notices say so.
    """
    root, files = shelf.places.root, shelf.files
    folder = root / ".journal"
    contents = await anyio.to_thread.run_sync(read_journal, folder, files)
    left = await anyio.to_thread.run_sync(read_stamps, root, files)
    shelf.recorded = {path: one.stamp for path, one in left.items()}
    shelf.digests = {path: one.digest for path, one in left.items() if one.digest is not None}
    for record in contents.records:
        shelf.recorded |= {f.path: Stamp(*f.stamp) for f in record.flushed if f.stamp is not None}
        shelf.digests |= {f.path: f.version for f in record.flushed if is_digest(f.version)}
    if contents.damaged:
        await anyio.to_thread.run_sync(set_journal_aside, files, folder, clock.now())
        shelf.notices[".journal"] = (
            f"{contents.damaged} lines of the journal were damaged; a copy is in .journal/*.corrupt-*"
        )
    shelf.known = {f.path for record in contents.records for f in record.intents}
    # What was flushed may since have been edited under the same version; what was only intended was not.
    done = {f.version for record in contents.records for f in record.flushed}
    intended = {f.version for record in contents.records for f in record.intents} - done
    # The digest of all bytes names nothing but what we wrote, however long ago.
    intended |= {version for version in (*done, *shelf.digests.values()) if is_digest(version)}
    if lock.held:
        shelf.notices |= await anyio.to_thread.run_sync(
            clean_up, shelf.places, files, [*folders, "."], format_of, intended, clock.now()
        )
    return contents


def set_journal_aside(files: Files, folder: Path, now: datetime) -> None:
    """Keep a copy of a damaged journal: what can be read of it is used, and a person may make out the rest."""
    for name in files.scan(folder):
        if name.endswith(".log"):
            try:
                data = files.read_now(folder / name)
                # `repair` may just have kept it.
                if not any(files.read_now(folder / other) == data for other in _copies(files, folder, name)):
                    write_whole(files, free_path(files, folder / f"{name}.corrupt-{now:%Y%m%dT%H%M%S}"), data)
            except OSError as error:
                log.warning("a copy of %s could not be kept: %s", folder / name, error)


def _copies(files: Files, folder: Path, name: str) -> list[str]:
    return [other for other in files.scan(folder) if other.startswith(f"{name}.corrupt-")]


async def recover_all(shelf: Shelf, records: Sequence[Record], clock: Clock) -> tuple[dict[str, int], list[int]]:
    """Hold every document that the journal names with what its file lacks.

    Gives how many operations that was, by document, and the positions of operations on documents that could not be
    recovered.
    """
    replayed: dict[str, int] = {}
    unrecovered: list[int] = []
    for path in sorted(documents_named(records)):
        try:
            count = await recover(shelf, path, records, clock)
        except Exception:
            # Of a version that knows more than this one, perhaps. The others are recovered all the same.
            log.exception("%s can't be recovered", path)
            shelf.notices[path] = f"the journal names {path}, which can't be recovered; see the log"
            shelf.entries.pop(path, None)
            shelf.active.discard(path)
            # Its operations stay in the journal for a version that understands them.
            unrecovered += [position for position, _ in operations_on(records, path)]
            continue
        if count:
            replayed[path] = count
    return replayed, unrecovered


async def recover(shelf: Shelf, path: str, records: Sequence[Record], clock: Clock) -> int:
    """Hold a document with what its file lacks of the journal; tells how many operations that was."""
    entry = shelf.begin(path)
    operations = operations_on(records, path)
    backup = await shelf.backups.read(path)
    version = None if backup is None else backup[1]
    in_backup = 0 if version is None else held_up_to(records, path, version, on_disk=False)
    # Until the file itself has been read, everything beyond the backup counts as being in the file: that is
    # what has to be applied to the backup should the file be damaged.
    entry.flushed = [item for item in operations if item[0] > in_backup]
    await shelf.reload(path)
    if entry.restored or entry.base is None:
        return len(entry.unflushed)
    held = held_up_to(records, path, entry.format.version(entry.base), digest=entry.digest)
    # An old view that an editor saved holds less than the backup does.
    entry.unflushed = [item for item in operations if item[0] > held]
    entry.flushed = [item for item in entry.flushed if item[0] <= held]
    # Who has had the file open since before the start saves an old view as well, as the journal still tells.
    entry.log = [item for item in operations if item[0] <= held]
    for flush in (flush for record in records for flush in (*record.intents, *record.flushed) if flush.path == path):
        if flush.version:
            entry.versions[flush.version] = max(flush.upto, entry.versions.get(flush.version, 0))
    entry.since = entry.idle_since = clock.monotonic()
    shelf.rebase(path, entry.base, entry.stamp)
    return len(entry.unflushed)
