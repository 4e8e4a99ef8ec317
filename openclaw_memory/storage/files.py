"""The few file operations that memory is made of. Everything that touches the disk goes through here.

Reads are asynchronous (aiofiles hops to a thread); what must be durable is synchronous and called from a thread that
the caller owns, since a durable write is several system calls that belong together.
"""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

import aiofiles
import aiofiles.os

PRIVATE_FILE = 0o600
PRIVATE_FOLDER = 0o700


@dataclass(frozen=True, slots=True)
class Stamp:
    """What tells one state of a file from the next without reading it: inode, size in bytes, time in ns."""

    inode: int
    size: int
    mtime_ns: int

    @classmethod
    def of(cls, stat: os.stat_result) -> Stamp:
        return cls(stat.st_ino, stat.st_size, stat.st_mtime_ns)


class AppendFile(Protocol):
    """A file that only grows."""

    def append(self, data: bytes) -> None:
        """Write all of `data` at the end."""
        ...

    def sync(self) -> None:
        """Return when everything written is on the disk."""
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

    def scan(self, folder: Path) -> dict[str, Stamp]:
        """List the files right in a folder, by name, with their stamps; empty when there is no such folder."""
        ...

    def make_folder(self, path: Path) -> None:
        """Create a folder, private, with its parents; fine when it exists."""
        ...

    def replace(self, path: Path, data: bytes) -> Stamp:
        """Put `data` in the place of a file: afterwards it is whole or as it was, and it survives a power failure."""
        ...

    def open_append(self, path: Path) -> AppendFile:
        """Open a new or existing file for appending; its entry in the folder is durable on return."""
        ...

    def read_now(self, path: Path) -> bytes:
        """Read a whole file, from a thread of the caller's."""
        ...

    def remove(self, path: Path) -> None:
        """Remove a file; fine when it is gone already."""
        ...


class LocalFiles:
    """The real disk."""

    async def read(self, path: Path) -> tuple[bytes, Stamp]:
        async with aiofiles.open(path, "rb") as file:
            data = await file.read()
            stamp = Stamp.of(os.fstat(file.fileno()))
        return data, stamp

    async def stamp(self, path: Path) -> Stamp | None:
        try:
            return Stamp.of(await aiofiles.os.stat(path))
        except (FileNotFoundError, NotADirectoryError):
            return None

    def scan(self, folder: Path) -> dict[str, Stamp]:
        try:
            with os.scandir(folder) as entries:
                return {entry.name: Stamp.of(entry.stat()) for entry in entries if entry.is_file()}
        except (FileNotFoundError, NotADirectoryError):
            return {}

    def make_folder(self, path: Path) -> None:
        missing = [folder for folder in (path, *path.parents) if not folder.exists()]
        for folder in reversed(missing):
            folder.mkdir(mode=PRIVATE_FOLDER, exist_ok=True)
            _sync_folder(folder.parent)

    def replace(self, path: Path, data: bytes) -> Stamp:
        # A link to a file elsewhere keeps being a link: what it points to is replaced.
        path = path.resolve() if path.is_symlink() else path
        mode = path.stat().st_mode & 0o7777 if path.exists() else PRIVATE_FILE
        descriptor, name = tempfile.mkstemp(prefix=f".{path.name}.", suffix=".tmp", dir=path.parent)
        try:
            with _closing(descriptor):
                os.fchmod(descriptor, mode)
                _write_all(descriptor, data)
                os.fsync(descriptor)
                stamp = Stamp.of(os.fstat(descriptor))
            os.replace(name, path)  # noqa: PTH105 - the system call is meant
        except BaseException:
            Path(name).unlink(missing_ok=True)
            raise
        _sync_folder(path.parent)
        return stamp

    def open_append(self, path: Path) -> AppendFile:
        descriptor = os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_CLOEXEC, PRIVATE_FILE)
        try:
            _sync_folder(path.parent)
        except BaseException:
            os.close(descriptor)
            raise
        return _LocalAppendFile(descriptor)

    def read_now(self, path: Path) -> bytes:
        return path.read_bytes()

    def remove(self, path: Path) -> None:
        path.unlink(missing_ok=True)


class _LocalAppendFile:
    def __init__(self, descriptor: int) -> None:
        self._descriptor = descriptor

    def append(self, data: bytes) -> None:
        _write_all(self._descriptor, data)

    def sync(self) -> None:
        _data_sync(self._descriptor)

    def close(self) -> None:
        os.close(self._descriptor)


# macOS has no fdatasync.
_data_sync = getattr(os, "fdatasync", os.fsync)


def _write_all(descriptor: int, data: bytes) -> None:
    """Write every byte: `os.write` may take a part and raise nothing."""
    rest = memoryview(data)
    while rest:
        rest = rest[os.write(descriptor, rest) :]


def _sync_folder(folder: Path) -> None:
    """Make names in a folder durable; without it a rename may be lost with the power."""
    descriptor = os.open(folder, os.O_RDONLY | os.O_CLOEXEC)
    with _closing(descriptor):
        os.fsync(descriptor)


@contextmanager
def _closing(descriptor: int) -> Iterator[None]:
    try:
        yield
    finally:
        os.close(descriptor)
