"""The documents in memory, kept in step with files that other people change.

A file that changed on disk was changed by a person: it becomes the new base, and the operations that are not in it
yet are applied to it again. That is what makes an edit between our read and our write keep both changes. A damaged
file is set aside and restored from its backup and the journal (seed 000 section 7.1).
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable, Sequence
from datetime import datetime
from pathlib import Path
from typing import Any

import anyio
import anyio.to_thread

from openclaw_memory.errors import UnreadableDocumentError
from openclaw_memory.storage.areas import Held, tells_of
from openclaw_memory.storage.backups import Backups
from openclaw_memory.storage.documents import Format
from openclaw_memory.storage.durable import BACKUP_SUFFIX, remove
from openclaw_memory.storage.entries import Entries, Entry, Merged
from openclaw_memory.storage.files import Files, Stamp
from openclaw_memory.storage.integrity import Verdict, digest_of, judge
from openclaw_memory.storage.locks import KeyedLocks
from openclaw_memory.storage.looks import Looks
from openclaw_memory.storage.operations import Flush, Operation, Record
from openclaw_memory.storage.places import Places

PARSED_AT_ONCE = 65_536
"""Bytes of a file that are parsed on the event loop; a larger one, in a thread."""

MERGED_APART = 3
"""How often an edit of a large file is merged in a thread while more is written to it; then on the event loop."""

COMPRESSED = ".zst"
"""How names of files end whose bytes tell nothing of how much is to be parsed."""

log = logging.getLogger(__name__)


class Shelf:
    """Entries by relative path.

    Parameters: `places` of the documents; `files`; `format_of`, which gives the format of a path; `changed`, called
    with path, old and new document whenever what readers see changes; `now`, the time of day, for the names of damaged
    files; `position`, which gives the last position of the journal; `again`, called with records that the journal may
    have let go of and that are needed once more; `restores`, whether damaged files are restored, which only their owner
    may do.
    """

    def __init__(
        self,
        places: Places,
        files: Files,
        format_of: Callable[[str], Format],
        changed: Callable[[str, Any, Any], None],
        now: Callable[[], datetime],
        position: Callable[[], int],
        again: Callable[[Sequence[Record]], None],
        *,
        restores: bool = True,
    ) -> None:
        self.places = places
        self.files = files
        self.entries: dict[str, Entry] = {}
        self.active: set[str] = set()
        """Documents that the journal may still be needed for."""
        self.locks = KeyedLocks()
        self.digests: dict[str, str] = {}
        """What files that name no version held as an earlier run left them."""
        self.recorded: dict[str, Stamp] = {}
        """Stamps of files as an earlier run left them."""
        self._unlistable: dict[str, str] = {}
        self.at_rest: dict[str, Stamp] = {}
        """Files that readers know in this state without their documents: not read until they change or are needed."""
        self.known: set[str] = set()
        """Documents that the journal knows to have been written by us."""
        self.notices: dict[str, str] = {}
        """By document, what a person should know: that it was damaged and restored, that an edit collided."""
        self.looks = Looks(places, files)
        self.backups = Backups(places, files, format_of, now)
        self._format_of = format_of
        self._changed = changed
        self._position = position
        self._again = again
        self._restores = restores

    def changed(self, path: str, before: Any, after: Any) -> None:
        """Tell that readers see another document."""
        if after is not before:
            self._changed(path, before, after)

    def begin(self, path: str) -> Entry:
        """Hold a document that the journal is needed for, of which nothing is known yet."""
        entry = self.entries[path] = Entry(self._format_of(path))
        self.active.add(path)
        return entry

    async def refresh(self, path: str) -> Entry:
        """Look at a file, and read it when it is not as we know it."""
        async with self.locks.hold([path]):
            return await self.refresh_held(path)

    async def refresh_all(self, paths: Sequence[str]) -> None:
        """Do so for several files, which are looked at in one go; a hop to a thread costs more than the look."""
        held = [path for path in paths if path in self.entries]
        found = await self.looks.stamps(held) if len(held) > 1 else {}
        for path in paths:
            entry = self.entries.get(path)
            if (
                entry is None
                or path not in found
                or found[path] != entry.stamp
                or entry.problem is not None
                or self.locks.is_held(path)
            ):
                await self.refresh(path)

    async def refresh_held(self, path: str) -> Entry:
        """Do the same while the document's lock is held."""
        entry = self.entries.get(path)
        if entry is None:
            return await self._load(path)
        try:
            stamp = await self.looks.stamp(path)
        except OSError as error:
            self._fail(entry, UnreadableDocumentError(path, error.strerror or str(error)))
            return entry
        if stamp == entry.stamp and entry.problem is None:
            return entry
        if stamp is not None and stamp.size == 0 and entry.stamp and entry.stamp.size and self.looks.is_young(stamp):
            # An editor that saves in place empties the file first; a file that stays empty is believed.
            return entry
        return await self._load(path)

    async def scan(self, folder: str) -> list[str]:
        """List the documents of an area, on disk or not yet there, by relative path, sorted."""
        found = await self._found([folder])
        area = Held([folder])
        held = {path for path, entry in self.entries.items() if (entry.to_write or entry.queued) and path in area}
        return sorted(found.keys() | held)

    async def look(self, folders: Iterable[str], *, wake: bool = False) -> None:
        """Read what a person changed, added or took away in these areas; costs one look at each file's stamp.

        `folders` are areas as `areas.area_of` reads them. `wake`: read files at rest as well.
        """
        folders = list(folders)
        found = await self._found(folders)
        areas = Held(folders)
        held = {*self.entries, *self.at_rest} - found.keys()
        for path in found.keys() | {path for path in held if path in areas}:
            entry = self.entries.get(path)
            known = self._known_stamp(path)
            if await self._rests_while_saved(path, known, found.get(path)):
                continue
            if known != found.get(path) or (entry is None and (known is None or wake)):
                await self.refresh(path)

    async def wake(self, paths: Iterable[str]) -> None:
        """Read those of these documents that are at rest."""
        for path in paths:
            if path not in self.entries:
                await self.refresh(path)

    async def look_at(self, paths: Iterable[str]) -> bool:
        """Read those of these documents that a person changed; tells whether there were any."""
        before = {path: self._known_stamp(path) for path in paths if path in self.entries or path in self.at_rest}
        found = await self.looks.stamps(before)
        for path, stamp in before.items():
            entry = self.entries.get(path)
            if await self._rests_while_saved(path, stamp, found.get(path)):
                continue
            if found.get(path) != stamp or (entry is not None and entry.problem is not None):
                await self.refresh(path)
        return any(self._known_stamp(path) != stamp for path, stamp in before.items())

    async def _rests_while_saved(self, path: str, known: Stamp | None, found: Stamp | None) -> bool:
        """Tell whether a file is at rest and being saved right now: it is left at rest until that is over."""
        if path in self.entries or known is None:
            return False
        return await self.looks.is_saved_right_now(path, known, found)

    def _known_stamp(self, path: str) -> Stamp | None:
        entry = self.entries.get(path)
        return self.at_rest.get(path) if entry is None else entry.stamp

    def problems(self) -> dict[str, str]:
        """Tell which documents and folders can't be read, and why."""
        return self._unlistable | {
            path: str(entry.problem) for path, entry in self.entries.items() if entry.problem is not None
        }

    async def _found(self, areas: Sequence[str]) -> dict[str, Stamp]:
        found = await self.looks.everything_in(areas)
        self._unlistable = {
            place: why for place, why in self._unlistable.items() if not any(tells_of(area, place) for area in areas)
        } | found.problems
        return found.documents

    def scrub(self, change: Callable[[Operation], Operation | None]) -> None:
        """Change what is held of operations, or leave it out for None.

        That is what is remembered for editors with an old view, and what waits for files that can't be read.
        """
        for entry in self.entries.values():
            entry.log = _changed_entries(entry.log, change)
            if entry.base is None:
                entry.flushed = _changed_entries(entry.flushed, change)
                entry.unflushed = _changed_entries(entry.unflushed, change)

    async def discard(self, path: str) -> bool:
        """Remove the file of a document that says nothing any more, with its backup; False where it is in use again.

        Raises: `OSError`.
        """
        async with self.locks.hold([path]):
            entry = await self.refresh_held(path)
            if entry.base is None or entry.to_write or entry.queued:
                return False
            backup = await self.backups.of(path)
            await anyio.to_thread.run_sync(remove, self.files, self.places.of(path), backup)
            entry.flushed, entry.backup, entry.ours, entry.digest = [], None, None, None
            self._rebase(path, entry, entry.format.new(path), None)
            return True

    async def reload(self, path: str) -> None:
        """Read a file whatever is known of it."""
        async with self.locks.hold([path]):
            await self._load(path)

    def rebase(self, path: str, base: Any, stamp: Stamp | None) -> None:
        """Take another base for a document; what is not in it yet is applied to it again."""
        entry = self.entries[path]
        entry.lacks_unflushed(entry.format.version(base))
        self._rebase(path, entry, base, stamp)

    def withdraw(self, paths: Iterable[str], position: int) -> None:
        """Take back the operations of a position that the journal knows nothing of; the others are applied anew.

        A document to which they can't be is one that can't be read, until it is looked at again.
        """
        entries = {path: self.entries[path] for path in paths}
        for entry in entries.values():
            entry.queued = [item for item in entry.queued if item[0] != position]
            entry.planned = entry.committed
        for path, entry in entries.items():
            if entry.base is not None:
                self._rebase(path, entry, entry.base, entry.stamp)

    # -- reading a file -----------------------------------------------------------------------------------------

    async def _load(self, path: str) -> Entry:
        """Read a file and make it the base of what is held of it."""
        entry = self.entries.setdefault(path, Entry(self._format_of(path)))
        self.at_rest.pop(path, None)
        try:
            data, stamp = await self.looks.read(path)
        except (FileNotFoundError, NotADirectoryError):
            known = entry.base is not None and entry.stamp is not None
            if not (known and await self.looks.is_just_gone(path)):
                self._rebase(path, entry, entry.format.new(path), None)
            return entry
        except OSError as error:
            self._fail(entry, UnreadableDocumentError(path, error.strerror or str(error)))
            return entry
        recorded = entry.ours if entry.base is not None else self.recorded.get(path)
        as_left = entry.digest if entry.base is not None else self.digests.get(path)
        try:
            if len(data) <= PARSED_AT_ONCE and not path.endswith(COMPRESSED):
                document = _parse(entry.format, path, data)
            else:
                document = await anyio.to_thread.run_sync(_parse, entry.format, path, data)
        except UnreadableDocumentError as problem:
            if entry.base is not None and self.looks.is_young(stamp):
                # Half of a save may end within a character; it is looked at again.
                return entry
            never_ours = recorded is None and path not in self.known and await self.backups.read(path) is None
            saved = recorded is None or (stamp.inode, stamp.mtime_ns) != (recorded.inode, recorded.mtime_ns)
            if problem.is_whole or never_ours or (saved and self.places.is_elsewhere(path)):
                # Whatever it is, somebody wrote it, and it is left as it is.
                self._fail(entry, problem)
            else:
                await self._restore(path, entry, data, stamp, None)
            return entry
        fits = entry.format.fits(document)
        if fits is None and self.places.is_elsewhere(path):
            # It names no checksum, and need not: what we left there is remembered here.
            entry.digest = digest_of(data)
            fits, recorded = as_left == entry.digest, recorded if as_left is not None else None
        if judge(fits=fits, stamp=stamp, recorded=recorded) is Verdict.DAMAGED:
            await self._restore(path, entry, data, stamp, document)
        else:
            version = entry.format.version(document)
            merged = await self._merged(path, entry, document, version, len(data))
            entry.ours = stamp if fits else None
            if missing := entry.catch_up(version):
                log.info("%s was saved from an old view; %d operations since are applied again", path, len(missing))
                self.active.add(path)
                self._again(_records(path, version or "", entry.versions[version or ""], missing))
            elif fits or (version is not None and version not in entry.versions):
                # Also of a file that was edited: who has it open will save it under the version that it names.
                entry.remember(version, entry.unflushed[0][0] - 1 if entry.unflushed else self._position())
            if merged is not None and merged.told:
                self.notices[path] = f"{path}#{'; '.join(merged.told)}"
                log.warning("%s", self.notices[path])
            self._rebase(path, entry, document, stamp, merged)
        return entry

    async def _merged(self, path: str, entry: Entry, document: Any, version: str | None, size: int) -> Merged | None:
        """Apply what a file does not hold yet to it again, for a large file in a thread; None where that fails."""
        try:
            if size > PARSED_AT_ONCE and (entry.log or entry.unflushed or entry.queued):
                for _ in range(MERGED_APART):
                    merged = await anyio.to_thread.run_sync(entry.merged, document, version)
                    if entry.is_current(merged, version):
                        return merged
            return entry.merged(document, version)
        except Exception:
            log.exception("what is written to %s meanwhile can't be merged", path)
            return None

    def _rebase(self, path: str, entry: Entry, base: Any, stamp: Stamp | None, merged: Merged | None = None) -> None:
        before = entry.committed
        try:
            entry.rebase(base, stamp, self._position(), merged)
            self.changed(path, before, entry.committed)
        except Exception as error:
            # Whatever one file holds, the others go on; what is acknowledged for it waits in the journal.
            log.exception("%s can't be used", path)
            self._fail(entry, UnreadableDocumentError(path, f"{type(error).__name__}: {error}"))
            entry.stamp = stamp

    def _fail(self, entry: Entry, problem: UnreadableDocumentError) -> None:
        """Hold nothing of a file that can't be read. What readers saw of it before they go on seeing."""
        if str(problem) != str(entry.problem):
            log.warning("%s", problem)
        entry.base, entry.problem = None, problem

    # -- damage -------------------------------------------------------------------------------------------------

    async def _restore(self, path: str, entry: Entry, data: bytes, stamp: Stamp, readable: Any) -> None:
        """Set damaged bytes aside, and hold the best that is left: backup and journal, the readable part, nothing."""
        if not self._restores:
            self._fail(entry, UnreadableDocumentError(path, "damaged; its owner restores it"))
            return
        try:
            aside = await self.backups.set_aside(path, "corrupt", data)
        except OSError as error:
            # Without a copy of the bytes nothing may be put in their place.
            self._fail(entry, UnreadableDocumentError(path, f"damaged, and not set aside: {error.strerror or error}"))
            return
        lacking = len(entry.flushed)
        entry.go_back()
        backup, origin = await self.backups.read(path), "its backup and the journal"
        base = None if backup is None else backup[0]
        if base is None:
            base = entry.format.salvage(path, data) if readable is None else readable
            origin = "what is readable of it and the journal"
            # What the readable part holds in a later state is not brought back.
            again = [item for item in entry.unflushed[:lacking] if entry.format.collision(base, item[1]) is None]
            entry.unflushed = again + entry.unflushed[lacking:]
        self.notices[path] = f"{path} was damaged; it was restored from {origin}, and the damaged bytes are in {aside}"
        log.error("%s", self.notices[path])
        entry.restored = True
        self.active.add(path)
        self._rebase(path, entry, base, stamp)

    async def adopt_late_edit(self, path: str) -> bool:
        """Take up what an editor wrote into the file that we displaced, because it still held it open.

        Gives False while somebody may still be writing into it: then it must stay where it is for now.
        """
        entry = self.entries[path]
        if entry.backup is None:
            return True
        try:
            backup, stamp = await self.backups.look(path)
            if stamp == entry.backup:
                return True
            if stamp is not None and stamp.inode == entry.backup.inode and self.looks.is_young(stamp):
                return False
            late = stamp is not None and stamp.inode == entry.backup.inode and stamp.size > 0
            entry.backup = None
            if not late or entry.stamp != entry.ours:
                # Another file by now, or the document itself was edited since: that edit is the newer one.
                if late:
                    await self._keep_late_edit(path, backup)
                return True
            data, _ = await self.files.read(backup)
            document = _parse(entry.format, path, data)
        except (OSError, UnreadableDocumentError) as error:
            entry.backup = None
            self.notices[path] = f"{path}{BACKUP_SUFFIX} was changed and can't be read: {error}"
            log.warning("%s", self.notices[path])
            return True
        entry.go_back()
        # The file itself is ours and whole; only the base that the next flush starts from is the edited text.
        entry.rewrite = True
        self.active.add(path)
        self._rebase(path, entry, document, entry.stamp)
        return True

    async def _keep_late_edit(self, path: str, backup: Path) -> None:
        """Keep a late edit that can't be merged, since the document was edited elsewhere as well."""
        data, _ = await self.files.read(backup)
        kept = await self.backups.set_aside(path, "recovered", data)
        self.notices[path] = f"{path} was saved by two editors at once; one of the two texts is in {kept}"
        log.warning("%s", self.notices[path])


def _changed_entries(entries: Entries, change: Callable[[Operation], Operation | None]) -> Entries:
    changed = ((position, change(operation)) for position, operation in entries)
    return [(position, operation) for position, operation in changed if operation is not None]


def _parse(form: Format, path: str, data: bytes) -> Any:
    """Parse a file, whatever it holds. Raises: `UnreadableDocumentError`."""
    try:
        return form.parse(path, data)
    except UnreadableDocumentError:
        raise
    except Exception as error:
        log.exception("%s can't be parsed", path)
        raise UnreadableDocumentError(path, f"{type(error).__name__}: {error}") from error


def _records(path: str, version: str, held: int, missing: Entries) -> list[Record]:
    """Make the records by which a start after a crash would find what an old view of a document lacks."""
    operations: dict[int, list[Operation]] = {}
    for position, operation in missing:
        operations.setdefault(position, []).append(operation)
    flush = Flush(path, version, held)
    return [
        Record(position, operations=tuple(of_one), flushed=(flush,) if position == missing[0][0] else ())
        for position, of_one in operations.items()
    ]
