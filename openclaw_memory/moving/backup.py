"""A copy of everything that memory holds, made and verified before an import, and put back when that is stopped.

Plain files with their checksums (`SHA256SUMS`, as `sha256sum -c` reads it): whoever has the folder needs no program to
get at them. What is derived from them, the index and its vectors, is not copied: it is made anew from the files.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator
from datetime import datetime
from pathlib import Path, PurePosixPath

from openclaw_memory.config import MemoryConfig
from openclaw_memory.lifecycle.forgetting.reach import BACKUPS
from openclaw_memory.moving.errors import BackupError
from openclaw_memory.storage.areas import find
from openclaw_memory.storage.durable import make_folders, write_whole
from openclaw_memory.storage.files import Files
from openclaw_memory.storage.places import Places
from openclaw_memory.workspace import elsewhere, workspace_of

SUMS = "SHA256SUMS"
_MEMORY, _ELSEWHERE = "memory", "elsewhere"
_NOT_KEPT = frozenset({".lock", ".inbox", "index.json"})
_DERIVED = (".sqlite", ".sqlite-wal", ".sqlite-shm", ".index", ".vectors", ".vectors-wal", ".vectors-shm", ".tmp")


def backup_folder(config: MemoryConfig, now: datetime, files: Files) -> Path:
    """Give a folder for a new backup, outside of everything that memory reads."""
    name = f"{now.astimezone(config.zone):%Y-%m-%dT%H%M%S}-before-import"
    place, number = config.root / BACKUPS / name, 1
    while files.is_folder(place):
        number += 1
        place = config.root / BACKUPS / f"{name}-{number}"
    return place


def make_backup(config: MemoryConfig, place: Path, files: Files, copied: Callable[[], None] = lambda: None) -> int:
    """Copy every file, and read the copies again; gives how many there are.

    A file that is replaced meanwhile is copied as one of its states; what the journal has beyond it is copied too.

    Raises: `BackupError` when a copy is not what was copied, or the disk refuses.
    """
    sums: dict[str, str] = {}
    try:
        make_folders(files, place)
        # The journal last: whatever was flushed before, it has the rest.
        for name, source in sorted(_kept(config, files), key=lambda item: "/.journal/" in item[0]):
            try:
                data = files.read_now(source)
            except FileNotFoundError:
                # Gone since it was listed.
                continue
            target = place / name
            make_folders(files, target.parent)
            write_whole(files, target, data)
            sums[name] = hashlib.sha256(data).hexdigest()
            copied()
        lines = "".join(f"{digest}  {name}\n" for name, digest in sorted(sums.items()))
        write_whole(files, place / SUMS, lines.encode())
    except OSError as error:
        raise BackupError(str(place), error.strerror or str(error)) from error
    verify_backup(place, files)
    return len(sums)


def verify_backup(place: Path, files: Files) -> dict[str, str]:
    """Read a backup again; gives its files' checksums by name.

    Raises: `BackupError` with the first file that is not what it was.
    """
    try:
        lines = [line.partition("  ") for line in files.read_now(place / SUMS).decode().split("\n") if line]
        sums = {name: digest for digest, _, name in lines}
        for name, digest in sums.items():
            if hashlib.sha256(files.read_now(place / name)).hexdigest() != digest:
                raise BackupError(str(place), f"{name} is not what was copied")
    except (OSError, UnicodeDecodeError) as error:
        raise BackupError(str(place), str(error)) from error
    return sums


def restore_backup(config: MemoryConfig, place: Path, files: Files) -> int:
    """Put everything that memory writes by itself back as it was; gives how many files were touched.

    In the memory folder also files that are new are removed. Elsewhere only MEMORY.md, HISTORY.md and sessions are
    looked at: a note that somebody has saved meanwhile stays. Whoever calls holds the locks.

    Raises: `BackupError`, before anything is touched; `OSError`.
    """
    sums = verify_backup(place, files)
    there = {name: target for name, target in _kept(config, files) if _is_written(name, config)}
    touched = 0
    for name, target in there.items():
        if name not in sums:
            files.remove(target)
            files.sync_folder(target.parent)
            touched += 1
    for name, digest in sums.items():
        if not _is_written(name, config):
            continue
        target = there.get(name) or _target(config, name)
        if name in there and hashlib.sha256(files.read_now(target)).hexdigest() == digest:
            continue
        make_folders(files, target.parent)
        write_whole(files, target, files.read_now(place / name))
        touched += 1
    return touched


def _is_written(name: str, config: MemoryConfig) -> bool:
    """Tell whether memory itself writes a file while something is imported."""
    top, _, path = name.partition("/")
    rooms = workspace_of(config)
    return top == _MEMORY or path in rooms.curated or path == rooms.history or path.startswith(f"{rooms.sessions}/")


def _kept(config: MemoryConfig, files: Files) -> Iterator[tuple[str, Path]]:
    """List what a backup holds: its name there, and the file."""
    yield from _below(config.memory_folder, PurePosixPath(_MEMORY), files)
    rooms = workspace_of(config)
    places = Places(config.memory_folder, elsewhere(config))
    for path in find((*rooms.areas, rooms.session_area), places, files).documents:
        yield f"{_ELSEWHERE}/{path}", places.of(path)


def _below(folder: Path, name: PurePosixPath, files: Files) -> Iterator[tuple[str, Path]]:
    for file in sorted(files.scan(folder)):
        if file not in _NOT_KEPT and not file.endswith(_DERIVED):
            yield str(name / file), folder / file
    for inner in sorted(files.folders(folder)):
        if inner not in _NOT_KEPT and not inner.endswith(_DERIVED):
            yield from _below(folder / inner, name / inner, files)


def _target(config: MemoryConfig, name: str) -> Path:
    """Give the place of a file that a backup holds."""
    top, _, rest = name.partition("/")
    if top == _MEMORY:
        return config.memory_folder / rest
    return Places(config.memory_folder, elsewhere(config)).of(rest)
