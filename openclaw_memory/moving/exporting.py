"""Export: everything that memory holds, as JSON lines or as the files themselves; whole, or not at all."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Literal

import anyio.to_thread

from openclaw_memory.clock import Clock
from openclaw_memory.config import MemoryConfig
from openclaw_memory.layers.rooms import room_of
from openclaw_memory.layers.state import IDEMPOTENCY
from openclaw_memory.moving.errors import DestinationError
from openclaw_memory.moving.formats.own_lines import document_line, header, piece_line
from openclaw_memory.moving.held import Reading, everything
from openclaw_memory.retrieval.blocks import Block
from openclaw_memory.storage.durable import make_folders
from openclaw_memory.storage.files import Files

ExportFormat = Literal["jsonl", "markdown"]

_NOT_EXPORTED = frozenset({IDEMPOTENCY})
"""What only the process that wrote it has any use for."""


@dataclass(frozen=True, slots=True)
class Wanted:
    """What to export: all, or the messages of a session, or what has a time at or after `since`."""

    session: str | None = None
    since: datetime | None = None

    @property
    def everything(self) -> bool:
        """Whether nothing is left out, so that documents are exported whole."""
        return self.session is None and self.since is None

    def admits(self, block: Block) -> bool:
        """Tell whether a piece is wanted."""
        if self.session is not None and block.session != self.session:
            return False
        return self.since is None or (block.time is not None and block.time >= self.since)


@dataclass(slots=True)
class Exported:
    """What was exported; `unreadable` are documents that are there as bytes only, with the reason."""

    destination: Path
    documents: int = 0
    pieces: int = 0
    unreadable: dict[str, str] | None = None


async def export(
    config: MemoryConfig,
    destination: Path,
    form: ExportFormat,
    wanted: Wanted,
    files: Files,
    clock: Clock,
    *,
    force: bool = False,
    progress: Callable[[int, int], None] = lambda done, total: None,
) -> Exported:
    """Write an export, beside a running Gateway or without one.

    Raises: `DestinationError` when something is there and `force` is not given, or the format can't hold what is
    wanted; `OSError`. Then nothing is there that was not before.
    """
    await anyio.to_thread.run_sync(_check, config, destination, form, wanted, force)
    reading = Reading(config, files, clock)
    paths = await anyio.to_thread.run_sync(reading.listed, everything(config))
    await reading.read(paths)
    paths = sorted({*paths, *reading.documents} - _NOT_EXPORTED)
    write = _write_lines if form == "jsonl" else _write_files
    return await anyio.to_thread.run_sync(write, reading, config, paths, destination, wanted, files, progress)


Progress = Callable[[int, int], None]


def _check(config: MemoryConfig, destination: Path, form: ExportFormat, wanted: Wanted, force: bool) -> None:
    """Raises: `DestinationError`."""
    if form == "markdown" and not wanted.everything:
        raise DestinationError(
            str(destination), "Markdown files are exported whole", "use --format jsonl for a part of what they hold"
        )
    for folder in (config.memory_folder, config.workspace_folder):
        if destination.resolve().is_relative_to(folder.resolve()):
            raise DestinationError(str(destination), f"it lies within {folder}", "export to a place outside of memory")
    if (destination.exists() or destination.is_symlink()) and not force:
        raise DestinationError(str(destination), "something is there already", "name another place, or give --force")
    if destination.exists() and not (destination.is_file() or destination.is_dir()):
        # A file would take the place of the device itself.
        raise DestinationError(str(destination), "it is a device or a pipe", "name a file")
    if form == "jsonl" and destination.is_dir():
        raise DestinationError(str(destination), "it is a folder", "name a file that ends in .jsonl")
    if form == "markdown" and destination.is_file():
        raise DestinationError(str(destination), "it is a file", "name a folder")


def _write_lines(
    reading: Reading,
    config: MemoryConfig,
    paths: list[str],
    destination: Path,
    wanted: Wanted,
    files: Files,
    progress: Progress,
) -> Exported:
    exported = Exported(destination, unreadable=reading.problems)
    make_folders(files, destination.parent)
    temporary = destination.with_name(f".{destination.name}.part")
    files.remove(temporary)
    file = files.create(temporary)
    try:
        file.append(header())
        for number, path in enumerate(paths, start=1):
            for line in _lines(reading, config, path, wanted, exported):
                file.append(line)
            progress(number, len(paths))
        file.sync()
    except BaseException:
        file.close()
        files.remove(temporary)
        raise
    file.close()
    files.rename(temporary, destination)
    files.sync_folder(destination.parent)
    return exported


def _lines(reading: Reading, config: MemoryConfig, path: str, wanted: Wanted, exported: Exported) -> Iterator[bytes]:
    room = room_of(path)
    document = reading.documents.get(path)
    if wanted.everything:
        data = reading.data_of(path)
        if data is None:
            # Removed since it was listed, or never written.
            return
        exported.documents += 1
        yield document_line(path, room.name, data)
    for block in room.blocks(document, config.zone) if document is not None else ():
        if wanted.admits(block):
            exported.pieces += 1
            yield piece_line(block)


def _write_files(
    reading: Reading,
    config: MemoryConfig,
    paths: list[str],
    destination: Path,
    wanted: Wanted,
    files: Files,
    progress: Progress,
) -> Exported:
    exported = Exported(destination, unreadable=reading.problems)
    make_folders(files, destination.parent)
    temporary = destination.with_name(f".{destination.name}.part")
    shutil.rmtree(temporary, ignore_errors=True)
    before = destination.with_name(f".{destination.name}.before")
    try:
        files.make_folder(temporary)
        filled = {temporary}
        for number, path in enumerate(paths, start=1):
            data = reading.data_of(path)
            if data is not None:
                target = temporary / _home_path(path)
                _copy(files, target, data)
                filled.add(target.parent)
                exported.documents += 1
            progress(number, len(paths))
        for folder in sorted(filled):
            files.sync_folder(folder)
        if before.is_dir():
            # Of an export that a crash interrupted: it is still wanted where nothing has taken its place.
            _put_aside(files, before, destination)
        if destination.is_dir():
            files.rename(destination, before)
        files.rename(temporary, destination)
    except BaseException:
        if before.is_dir() and not destination.exists():
            files.rename(before, destination)
        shutil.rmtree(temporary, ignore_errors=True)
        raise
    files.sync_folder(destination.parent)
    if before.is_dir():
        shutil.rmtree(before)
    return exported


def _put_aside(files: Files, before: Path, destination: Path) -> None:
    if destination.exists():
        shutil.rmtree(before)
    else:
        files.rename(before, destination)


def _copy(files: Files, target: Path, data: bytes) -> None:
    make_folders(files, target.parent)
    file = files.create(target)
    try:
        file.append(data)
        file.sync()
    finally:
        file.close()


def _home_path(path: str) -> str:
    """Give the place of a document in a home folder of its own."""
    return path if path.startswith(("workspace/", "agents/")) else f"memory/{path}"
