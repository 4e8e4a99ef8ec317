"""The few file operations that memory is made of. Everything that touches the disk goes through here.

Each changing operation is one step of the kind that a crash can lose or reorder; `durable.py` puts them together, and a
test that records them can try every state that a crash may leave. Looking is asynchronous where the event loop asks
(aiofiles hops to a thread); changing is synchronous, in a thread of the caller's, since a durable write is several
steps that belong together.
"""

from __future__ import annotations

import ctypes
import errno
import os
import time
from pathlib import Path
from typing import NamedTuple, Protocol

import aiofiles.os

PRIVATE_FILE = 0o600
PRIVATE_FOLDER = 0o700


# A tuple: every look at the files makes one of each.
class Stamp(NamedTuple):
    """What tells one state of a file from the next without reading it: inode, size in bytes, time in ns."""

    inode: int
    size: int
    mtime_ns: int

    @classmethod
    def of(cls, stat: os.stat_result) -> Stamp:
        return cls(stat.st_ino, stat.st_size, stat.st_mtime_ns)


class OpenFile(Protocol):
    """A file that is open for writing at its end."""

    def append(self, data: bytes) -> None:
        """Write all of `data` at the end."""
        ...

    def sync(self) -> None:
        """Return when everything written is on the disk."""
        ...

    def append_synced(self, data: bytes) -> None:
        """Write `data` at the end, and return when just that is on the disk; what was appended before may not be."""
        ...

    def stamp(self) -> Stamp: ...

    def has_name(self) -> bool:
        """Tell whether the file still has a name; without one its bytes are lost when it is closed."""
        ...

    def close(self) -> None: ...


class Files(Protocol):
    """File operations, by absolute path. All raise `OSError` as the system does."""

    async def read(self, path: Path) -> tuple[bytes, Stamp]:
        """Read a whole file, with the stamp of exactly these bytes."""
        ...

    async def stamp(self, path: Path) -> Stamp | None:
        """Look at a file without reading it; None when it does not exist."""
        ...

    def read_now(self, path: Path) -> bytes:
        """Read a whole file, from a thread of the caller's."""
        ...

    def read_end(self, path: Path, most: int) -> bytes:
        """Read the last so many bytes of a file, from a thread of the caller's."""
        ...

    def stamp_now(self, path: Path) -> Stamp | None:
        """Look at a file, from a thread of the caller's."""
        ...

    def scan(self, folder: Path, endings: tuple[str, ...] = ("",)) -> dict[str, Stamp]:
        """List the files right in a folder whose names end in one of `endings`, by name, with their stamps.

        Empty when there is no such folder.
        """
        ...

    def age(self, stamp: Stamp) -> float:
        """Tell how many seconds ago a file with this stamp was changed, by the disk's own clock."""
        ...

    def folders(self, path: Path) -> list[str]:
        """List the folders right in a folder, by name, without links; empty when there is no such folder."""
        ...

    def is_folder(self, path: Path) -> bool: ...

    def is_within(self, path: Path, folder: Path) -> bool:
        """Tell whether a path, with every link on the way followed, lies below a folder."""
        ...

    def real(self, path: Path) -> Path:
        """Follow links to the file that is meant."""
        ...

    def mode(self, path: Path) -> int | None:
        """Give the permission bits of a file; None when it does not exist."""
        ...

    def make_folder(self, path: Path) -> None:
        """Create one private folder in an existing one; fine when it exists."""
        ...

    def sync_folder(self, path: Path) -> None:
        """Make the names in a folder durable; without it a new or renamed file may be lost with the power."""
        ...

    def create(self, path: Path, mode: int = PRIVATE_FILE) -> OpenFile:
        """Create a file that must not exist."""
        ...

    def open_append(self, path: Path) -> OpenFile:
        """Open a file for appending; it is created, private, where it does not exist."""
        ...

    def rename(self, source: Path, target: Path) -> None:
        """Give a file another name, in place of whatever has that name."""
        ...

    def rename_new(self, source: Path, target: Path) -> None:
        """Give a file another name that must be free. Raises: `FileExistsError`."""
        ...

    def exchange(self, one: Path, other: Path) -> bool:
        """Swap two files in one step; False, and nothing done, where the system can't."""
        ...

    def remove(self, path: Path) -> None:
        """Remove a file; fine when it is gone already."""
        ...


def _read(path: Path) -> tuple[bytes, Stamp]:
    with path.open("rb") as file:
        data = file.read()
        return data, Stamp.of(os.fstat(file.fileno()))


# One hop to a thread; to open, to read and to close with one each takes three times as long.
_read_whole = aiofiles.os.wrap(_read)


class LocalFiles:
    """The real disk."""

    async def read(self, path: Path) -> tuple[bytes, Stamp]:
        return await _read_whole(path)

    async def stamp(self, path: Path) -> Stamp | None:
        try:
            return Stamp.of(await aiofiles.os.stat(path))
        except (FileNotFoundError, NotADirectoryError):
            return None

    def read_now(self, path: Path) -> bytes:
        return path.read_bytes()

    def read_end(self, path: Path, most: int) -> bytes:
        with path.open("rb") as file:
            size = file.seek(0, os.SEEK_END)
            file.seek(max(0, size - most))
            return file.read(most)

    def stamp_now(self, path: Path) -> Stamp | None:
        try:
            return Stamp.of(path.stat())
        except (FileNotFoundError, NotADirectoryError):
            return None

    def scan(self, folder: Path, endings: tuple[str, ...] = ("",)) -> dict[str, Stamp]:
        try:
            entries = os.scandir(folder)
        except (FileNotFoundError, NotADirectoryError):
            return {}
        found = {}
        with entries:
            for entry in entries:
                try:
                    if entry.name.endswith(endings) and entry.is_file():
                        found[entry.name] = Stamp.of(entry.stat())
                except OSError:
                    # Gone since it was listed, or a link that leads nowhere: no file to look at.
                    continue
        return found

    def age(self, stamp: Stamp) -> float:
        return (time.time_ns() - stamp.mtime_ns) / 1e9

    def folders(self, path: Path) -> list[str]:
        try:
            entries = os.scandir(path)
        except (FileNotFoundError, NotADirectoryError):
            return []
        with entries:
            return [entry.name for entry in entries if entry.is_dir(follow_symlinks=False)]

    def is_folder(self, path: Path) -> bool:
        return path.is_dir()

    def is_within(self, path: Path, folder: Path) -> bool:
        return path.resolve().is_relative_to(folder.resolve())

    def real(self, path: Path) -> Path:
        return path.resolve() if path.is_symlink() else path

    def mode(self, path: Path) -> int | None:
        try:
            return path.stat().st_mode & 0o7777
        except FileNotFoundError:
            return None

    def make_folder(self, path: Path) -> None:
        path.mkdir(mode=PRIVATE_FOLDER, exist_ok=True)

    def sync_folder(self, path: Path) -> None:
        descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)

    def create(self, path: Path, mode: int = PRIVATE_FILE) -> OpenFile:
        descriptor = os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, PRIVATE_FILE)
        if mode != PRIVATE_FILE:
            os.fchmod(descriptor, mode)
        return _LocalFile(descriptor)

    def open_append(self, path: Path) -> OpenFile:
        flags = os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_CLOEXEC
        return _LocalFile(os.open(path, flags, PRIVATE_FILE))

    def rename(self, source: Path, target: Path) -> None:
        os.replace(source, target)  # noqa: PTH105 - the system call is meant

    def rename_new(self, source: Path, target: Path) -> None:
        if not _renameat2(source, target, _NOREPLACE):
            # A link can't take a name that is taken; both names exist for a moment, which does no harm.
            os.link(source, target)
            source.unlink()

    def exchange(self, one: Path, other: Path) -> bool:
        return _renameat2(one, other, _EXCHANGE)

    def remove(self, path: Path) -> None:
        path.unlink(missing_ok=True)


class _LocalFile:
    def __init__(self, descriptor: int) -> None:
        self._descriptor = descriptor

    def append(self, data: bytes) -> None:
        # `os.write` may take a part and raise nothing.
        rest = memoryview(data)
        while rest:
            rest = rest[os.write(self._descriptor, rest) :]

    def sync(self) -> None:
        _data_sync(self._descriptor)

    def append_synced(self, data: bytes) -> None:
        if not _SYNCED_WRITE:
            self.append(data)
            self.sync()
            return
        # After each step a thread waits for the interpreter, which may take longer than the step.
        try:
            written = os.pwritev(self._descriptor, (data,), 0, _SYNCED_WRITE)
        except OSError as error:
            if error.errno not in _UNSUPPORTED:
                raise
            written = 0
        if written < len(data):
            self.append(data[written:])
            self.sync()

    def stamp(self) -> Stamp:
        return Stamp.of(os.fstat(self._descriptor))

    def has_name(self) -> bool:
        return os.fstat(self._descriptor).st_nlink > 0

    def close(self) -> None:
        os.close(self._descriptor)


# macOS has no fdatasync. Where it exists it also syncs the size, which is all that an append changes.
_data_sync = getattr(os, "fdatasync", os.fsync)

# Linux 4.16. Elsewhere nothing.
_SYNCED_WRITE = os.RWF_DSYNC | os.RWF_APPEND if hasattr(os, "RWF_APPEND") else 0

_NOREPLACE = 1
_EXCHANGE = 2
_AT_FDCWD = -100
_UNSUPPORTED = frozenset({errno.ENOSYS, errno.EINVAL, errno.EOPNOTSUPP, errno.EPERM})
_native_renameat2 = getattr(ctypes.CDLL(None, use_errno=True), "renameat2", None)


def _renameat2(source: Path, target: Path, flags: int) -> bool:
    """Call Linux's `renameat2`; False where the C library, the kernel or the file system does not offer it."""
    if _native_renameat2 is None:
        return False
    if _native_renameat2(_AT_FDCWD, os.fsencode(source), _AT_FDCWD, os.fsencode(target), flags) == 0:
        return True
    code = ctypes.get_errno()
    if code in _UNSUPPORTED:
        return False
    raise OSError(code, os.strerror(code), str(source), None, str(target))
