"""Where an import comes from: a folder, one file, or a zip archive, all looked at in the same way. Nothing is unpacked.

No name of an archive ever becomes a path, so none can lead out of it; what it claims to hold, and what comes out, is
limited.
"""

from __future__ import annotations

import lzma
import os
import zipfile
import zlib
from collections.abc import Iterator
from pathlib import Path, PurePosixPath
from typing import Protocol

from openclaw_memory.moving.errors import SourceError
from openclaw_memory.moving.found import Remark

MAX_FILE_BYTES = 2_147_483_648
"""Largest file of a source that is read, in bytes."""

MAX_ARCHIVE_BYTES = 4_294_967_296
"""Most that an archive may hold, unpacked, in bytes."""

MAX_FILES = 200_000
"""Most files of one source."""

MAX_RATIO = 1_000
"""How many times smaller an archive's file may be than what comes out of it; chats as JSON reach ten to twenty."""

_UNPACKABLE = (
    zipfile.BadZipFile,
    zlib.error,
    lzma.LZMAError,
    OSError,
    EOFError,
    ValueError,
    RuntimeError,
    NotImplementedError,
)
"""What a damaged, encrypted or oddly packed file of an archive raises."""

_HIDDEN_BUT_MEANT = frozenset({".memsearch"})


class Source(Protocol):
    """Files by name: relative, with slashes."""

    @property
    def label(self) -> str:
        """What a person calls it."""
        ...

    @property
    def names(self) -> tuple[str, ...]:
        """All files, sorted."""
        ...

    @property
    def problems(self) -> tuple[Remark, ...]:
        """Files that can't be offered."""
        ...

    def read(self, name: str) -> bytes:
        """Read a file. Raises: `SourceError`."""
        ...


def open_source(path: Path) -> Source:
    """Look at a source.

    Raises: `SourceError` when it can't be read, or is too large.
    """
    try:
        if path.is_dir():
            return _Folder(path)
        if path.is_file():
            return _Archive(path) if zipfile.is_zipfile(path) else _File(path)
    except OSError as error:
        raise SourceError(str(path), error.strerror or str(error), "make it readable") from error
    raise SourceError(str(path), "there is no such file or folder", "check the path")


class _Folder:
    def __init__(self, path: Path) -> None:
        self._path = path
        self.label = path.name or str(path)
        problems: list[Remark] = []
        names = sorted(self._walk(problems))
        if len(names) > MAX_FILES:
            raise SourceError(str(path), f"more than {MAX_FILES:,} files", "name the folder that holds the memory")
        self.names = tuple(names)
        self.problems = tuple(problems)

    def _walk(self, problems: list[Remark]) -> Iterator[str]:
        count = 0
        for folder, folders, files in os.walk(self._path, onerror=lambda error: problems.append(_unlisted(error))):
            # Hidden folders hold what programs keep for themselves: repositories, caches, recall counts.
            folders[:] = sorted(
                name
                for name in folders
                if (not name.startswith(".") or name in _HIDDEN_BUT_MEANT) and name != "node_modules"
            )
            for name in files:
                place = Path(folder, name)
                relative = place.relative_to(self._path).as_posix()
                if name.startswith("."):
                    continue
                try:
                    relative.encode()
                except UnicodeEncodeError:
                    problems.append(Remark(repr(relative), "its name is no text"))
                    continue
                if place.is_symlink() and not place.resolve().is_relative_to(self._path.resolve()):
                    problems.append(Remark(relative, "a link that leads out of the folder; it is not followed"))
                    continue
                if not place.is_file():
                    continue
                count += 1
                if count > MAX_FILES + 1:
                    return
                yield relative

    def read(self, name: str) -> bytes:
        return _read(self._path / name, name)


class _File:
    problems: tuple[Remark, ...] = ()

    def __init__(self, path: Path) -> None:
        self._path = path
        self.label = path.name
        self.names = (path.name,)

    def read(self, name: str) -> bytes:
        return _read(self._path, name)


class _Archive:
    def __init__(self, path: Path) -> None:
        self._path = path
        self.label = path.name
        try:
            with zipfile.ZipFile(path) as archive:
                members = archive.infolist()
        except (zipfile.BadZipFile, ValueError) as error:
            raise SourceError(str(path), f"no readable zip archive ({error})", "download it again") from error
        if len(members) > MAX_FILES:
            raise SourceError(str(path), f"more than {MAX_FILES:,} files in it", "this is no export of chats")
        total = sum(member.file_size for member in members)
        if total > MAX_ARCHIVE_BYTES:
            raise SourceError(
                str(path),
                f"it says it holds {total:,} bytes, at most {MAX_ARCHIVE_BYTES:,} are unpacked",
                "unpack it yourself and name the folder",
            )
        problems: list[Remark] = []
        self._members: dict[str, zipfile.ZipInfo] = {}
        for member in members:
            name = member.filename
            if member.is_dir():
                continue
            if reason := _unsafe(member):
                problems.append(Remark(name, reason))
            elif name in self._members:
                problems.append(Remark(name, "it is in the archive twice; the first is read"))
            else:
                self._members[name] = member
        self.names = tuple(sorted(self._members))
        self.problems = tuple(problems)

    def read(self, name: str) -> bytes:
        member = self._members[name]
        try:
            with zipfile.ZipFile(self._path) as archive, archive.open(member) as file:
                data = file.read(member.file_size + 1)
        except _UNPACKABLE as error:
            raise SourceError(name, f"it can't be unpacked ({error})", "download the archive again") from error
        if len(data) > member.file_size:
            raise SourceError(name, "more comes out of it than the archive says", "do not trust this archive")
        return data


def _unsafe(member: zipfile.ZipInfo) -> str | None:
    """Say why a file of an archive is not read; None when it is."""
    name = member.filename
    path = PurePosixPath(name)
    if path.is_absolute() or ".." in path.parts or "\\" in name or (len(name) > 1 and name[1] == ":"):
        return "its name leads out of the archive; it is not read"
    if member.flag_bits & 1:
        return "it is encrypted; unpack it yourself"
    if member.file_size > MAX_FILE_BYTES:
        return f"{member.file_size:,} bytes, at most {MAX_FILE_BYTES:,} are read"
    if member.file_size > 1_000_000 and member.file_size > member.compress_size * MAX_RATIO:
        return f"{member.compress_size:,} bytes that claim to be {member.file_size:,}; it is not unpacked"
    return None


def _read(path: Path, name: str) -> bytes:
    try:
        size = path.stat().st_size
        if size > MAX_FILE_BYTES:
            raise SourceError(name, f"{size:,} bytes, at most {MAX_FILE_BYTES:,} are read", "split it")
        return path.read_bytes()
    except OSError as error:
        raise SourceError(name, error.strerror or str(error), "make it readable") from error


def _unlisted(error: OSError) -> Remark:
    return Remark(str(error.filename), f"it can't be listed ({error.strerror or error})")
