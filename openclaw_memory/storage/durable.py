"""Durable writing, put together from single steps. All of it is called from a thread, never from the event loop."""

from __future__ import annotations

import errno
import secrets
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from openclaw_memory.storage.files import PRIVATE_FILE, Files, OpenFile, Stamp

TEMPORARY_SUFFIX = ".tmp"
BACKUP_SUFFIX = ".backup"


@dataclass(frozen=True, slots=True)
class Replacement:
    """What became of a replacement: the stamp of the new file; None when somebody else had changed the old one.

    `backup` is the stamp of the file that was displaced, which is the backup now; None where there was none.
    """

    stamp: Stamp | None
    backup: Stamp | None = None


def backup_path(files: Files, path: Path) -> Path:
    """Name the backup of a file: beside the file that is meant, also where a link leads to it."""
    path = files.real(path)
    return path.with_name(path.name + BACKUP_SUFFIX)


def free_path(files: Files, path: Path) -> Path:
    """Give a path that no file has: this one, or with `-2`, `-3` ... after it. For who alone gives such names."""
    number, free = 1, path
    while files.stamp_now(free) is not None:
        number += 1
        free = path.with_name(f"{path.name}-{number}")
    return free


def make_folders(files: Files, path: Path) -> None:
    """Create a folder with its parents; the names of all are durable on return, each before anything is put into it.

    A folder that exists may be left over from a call that failed, or was killed, before its name was durable. That can
    only be the innermost one, so its name is synced each time.
    """
    missing = []
    while not files.is_folder(path):
        missing.append(path)
        path = path.parent
    # Who may not read the folder around it has not made this one.
    with suppress(PermissionError):
        files.sync_folder(path.parent)
    for folder in reversed(missing):
        files.make_folder(folder)
        files.sync_folder(folder.parent)


def open_log(files: Files, path: Path) -> OpenFile:
    """Open a file for appending; its name is durable on return."""
    file = files.open_append(path)
    try:
        files.sync_folder(path.parent)
    except BaseException:
        file.close()
        raise
    return file


def write_whole(files: Files, path: Path, data: bytes) -> Stamp:
    """Put `data` in the place of a file that nobody else writes: whole or as it was, and durable on return."""
    temporary, stamp = _write_temporary(files, path, data, files.mode(path) or PRIVATE_FILE)
    try:
        files.rename(temporary, path)
    except BaseException:
        files.remove(temporary)
        raise
    files.sync_folder(path.parent)
    return stamp


def replace(
    files: Files, path: Path, data: bytes, expected: Stamp | None, *, keep_backup: bool, backup: Path | None = None
) -> Replacement:
    """Put `data` in the place of the file that has the stamp `expected`, or that does not exist (None).

    A file that somebody else saved meanwhile is put back, and the replacement has no stamp: read it, and try again.
    Where the system can exchange two files in one step nothing that was saved is ever lost; elsewhere a save in
    the microseconds between the last look and the rename is. The file before becomes `backup`, by default
    `<name>.backup` beside it.
    """
    path = files.real(path)
    backup = backup or backup_path(files, path)
    temporary, stamp = _write_temporary(files, path, data, files.mode(path) or PRIVATE_FILE)
    displaced = False
    try:
        if expected is None:
            files.rename_new(temporary, path)
        else:
            displaced = files.exchange(temporary, path)
            if not displaced and files.stamp_now(path) != expected:
                files.remove(temporary)
                return Replacement(None)
            if not displaced:
                files.rename(temporary, path)
    except (FileExistsError, FileNotFoundError):
        # Created, or removed, by somebody else since we looked.
        files.remove(temporary)
        return Replacement(None)
    except BaseException:
        files.remove(temporary)
        raise
    if displaced and files.stamp_now(temporary) != expected:
        _put_back(files, temporary, path, stamp)
        return Replacement(None)
    if displaced and keep_backup:
        move(files, temporary, backup)
    # The journal lets go of what file and backup hold, so both names must be durable.
    files.sync_folder(path.parent)
    if backup.parent != path.parent and displaced and keep_backup:
        files.sync_folder(backup.parent)
    if not displaced:
        return Replacement(stamp)
    if keep_backup:
        return Replacement(stamp, files.stamp_now(backup))
    files.remove(temporary)
    return Replacement(stamp)


def remove(files: Files, *paths: Path) -> None:
    """Remove files; on return no crash brings back the name of any. Fine for those that are gone already."""
    for path in paths:
        files.remove(path)
    for folder in dict.fromkeys(path.parent for path in paths):
        if files.is_folder(folder):
            files.sync_folder(folder)


def move(files: Files, source: Path, target: Path) -> None:
    """Rename a file; copy it where the target is on another disk."""
    if target.parent != source.parent:
        make_folders(files, target.parent)
    try:
        files.rename(source, target)
    except OSError as error:
        if error.errno != errno.EXDEV:
            raise
        write_whole(files, target, files.read_now(source))
        files.remove(source)


def _put_back(files: Files, temporary: Path, path: Path, ours: Stamp) -> None:
    """Return what was displaced to its place, or what was saved since, and remove our own file.

    Each exchange may displace a newer save: only a file that comes out as it was put in is not the newest.
    """
    put_in: Stamp | None = ours
    while True:
        next_in = files.stamp_now(temporary)
        files.exchange(temporary, path)
        if files.stamp_now(temporary) == put_in:
            break
        put_in = next_in
    files.sync_folder(path.parent)
    files.remove(temporary)


def _write_temporary(files: Files, path: Path, data: bytes, mode: int) -> tuple[Path, Stamp]:
    temporary = path.with_name(f".{path.name}.{secrets.token_hex(6)}{TEMPORARY_SUFFIX}")
    file = files.create(temporary, mode)
    try:
        file.append(data)
        file.sync()
        return temporary, file.stamp()
    except BaseException:
        files.remove(temporary)
        raise
    finally:
        file.close()
