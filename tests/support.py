"""What several test rooms share: a clock that stands still, a disk that fails on demand, a memory on a bus."""

from __future__ import annotations

import errno
import itertools
import os
import shutil
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager, suppress
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from bus import EventBus, Gateway
from openclaw_memory import ManualClock, Memory, MemoryConfig
from openclaw_memory.storage.files import PRIVATE_FILE, LocalFiles, OpenFile, Stamp

START = datetime(2026, 5, 4, 6, 30, tzinfo=UTC)
"""14:30 in Shanghai."""

Fault = Callable[[str, Path], int | None]
"""Gives the errno with which an operation on a path fails, or None."""


class FaultyFiles(LocalFiles):
    """The real disk, which refuses what `fault` says, and counts what it does."""

    def __init__(self, fault: Fault = lambda operation, path: None) -> None:
        self.fault = fault
        self.calls: list[tuple[str, str]] = []
        self.seconds_old = 60.0

    def _check(self, operation: str, path: Path) -> None:
        self.calls.append((operation, path.name))
        code = self.fault(operation, path)
        if code is not None:
            raise OSError(code, os.strerror(code), str(path))

    def age(self, stamp: Stamp) -> float:
        # Tests edit a file and look at once; those about saving say how old a file is.
        return self.seconds_old

    async def read(self, path: Path) -> tuple[bytes, Stamp]:
        self._check("read", path)
        return await super().read(path)

    def make_folder(self, path: Path) -> None:
        self._check("make_folder", path)
        super().make_folder(path)

    def sync_folder(self, path: Path) -> None:
        self._check("sync_folder", path)
        super().sync_folder(path)

    def create(self, path: Path, mode: int = PRIVATE_FILE) -> OpenFile:
        self._check("create", path)
        return _FaultyFile(super().create(path, mode), self, path)

    def open_append(self, path: Path) -> OpenFile:
        self._check("open_append", path)
        return _FaultyFile(super().open_append(path), self, path)

    def rename(self, source: Path, target: Path) -> None:
        self._check("rename", target)
        super().rename(source, target)

    def rename_new(self, source: Path, target: Path) -> None:
        self._check("rename_new", target)
        super().rename_new(source, target)

    def exchange(self, one: Path, other: Path) -> bool:
        self._check("exchange", other)
        return super().exchange(one, other)

    def remove(self, path: Path) -> None:
        self._check("remove", path)
        super().remove(path)


class _FaultyFile:
    def __init__(self, inner: OpenFile, files: FaultyFiles, path: Path) -> None:
        self._inner, self._files, self._path = inner, files, path

    def append(self, data: bytes) -> None:
        self._files._check("append", self._path)
        self._inner.append(data)

    def append_synced(self, data: bytes) -> None:
        self.append(data)
        self.sync()

    def sync(self) -> None:
        self._files._check("sync", self._path)
        self._inner.sync()

    def stamp(self) -> Stamp:
        return self._inner.stamp()

    def has_name(self) -> bool:
        return self._inner.has_name()

    def close(self) -> None:
        self._inner.close()


def no_space(*operations: str) -> Fault:
    """A full disk, as far as these operations go."""
    return lambda operation, path: errno.ENOSPC if operation in operations else None


def counted_ids() -> Callable[[datetime], str]:
    """Ids `m1`, `m2`, ..."""
    numbers = itertools.count(1)
    return lambda time: f"m{next(numbers)}"


JOURNAL, INDEX = ".journal", "*.index"
"""Folders that threads of their own write to."""


def copied_in_use(root: Path, target: Path, *, index: bool = True) -> Path:
    """Copy folders whose index and journal may be at work, as one moment leaves them.

    An index merges its segments when it likes, and a journal begins its next file, each in a thread of its own: a file
    of the listing may be gone when its turn comes, and a segment copied after the list that names it belongs to another
    moment. So these are copied again until nothing moved meanwhile. Everything else is copied once, and before them: a
    file missing there is a fault, and a journal lets go of nothing that its documents do not hold. `index`: whether the
    index comes along.
    """
    shutil.copytree(root, target, ignore=shutil.ignore_patterns(JOURNAL, INDEX), dirs_exist_ok=True)
    at_work = (JOURNAL, INDEX) if index else (JOURNAL,)
    for folder in sorted(path for pattern in at_work for path in root.rglob(pattern)):
        _copied_at_rest(folder, target / folder.relative_to(root))
    return target


def _copied_at_rest(folder: Path, target: Path) -> None:
    for _ in range(1000):
        with suppress(FileNotFoundError, shutil.Error):
            before = _listing(folder)
            shutil.copytree(folder, target, dirs_exist_ok=True)
            if _listing(folder) == before:
                return
        shutil.rmtree(target, ignore_errors=True)
    raise AssertionError(f"{folder} never stood still")


def _listing(folder: Path) -> dict[Path, tuple[int, int]]:
    """Each file's size and time of change."""
    files = {path: path.stat() for path in folder.rglob("*")}
    return {path: (stat.st_size, stat.st_mtime_ns) for path, stat in files.items()}


class Remembering:
    """A memory on a bus of its own, with a clock that is moved by hand."""

    def __init__(self, memory: Memory, gateway: Gateway, clock: ManualClock) -> None:
        self.memory, self.gateway, self.clock = memory, gateway, clock

    @property
    def bus(self) -> EventBus:
        return self.gateway.bus

    @property
    def folder(self) -> Path:
        return self.memory.config.memory_folder

    async def ask(self, payload: Any) -> Any:
        return await self.bus.request(payload, timeout=30)

    async def flushed(self) -> None:
        """Rewrite what waits, as the background does when its time has come."""
        await self.memory.flush()

    def crashed_copy(self, target: Path) -> Path:
        """Copy the folders as a crash at this moment would leave them."""
        return copied_in_use(self.memory.config.root, target)


@asynccontextmanager
async def remembering(
    root: Path, *, now: datetime = START, files: LocalFiles | None = None, ids: bool = False, **settings: Any
) -> AsyncIterator[Remembering]:
    clock = ManualClock(now)
    # Its own heartbeat would run jobs wherever a test lets days pass.
    usual = {"timezone": "Asia/Shanghai", "watch": False, "heartbeat": {"enabled": False}}
    config = MemoryConfig(root=root, **{**usual, **settings})
    memory = Memory(config, clock=clock, files=files or FaultyFiles(), new_id=counted_ids() if ids else None)
    async with Gateway() as gateway:
        await gateway.register(memory)
        yield Remembering(memory, gateway, clock)
