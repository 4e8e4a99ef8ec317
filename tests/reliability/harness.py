"""A store on a simulated disk, driven step by step, and what must be true of it after any crash."""

from __future__ import annotations

import logging
import re
import threading
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Sequence
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import anyio.to_thread
import pytest

from contracts import MemoryWrite, UpdateFact
from openclaw_memory import ManualClock, MemoryConfig
from openclaw_memory.events import Change
from openclaw_memory.layers.rooms import FOLDERS, format_of
from openclaw_memory.storage import store as store_module
from openclaw_memory.storage.buffer import FlushLimits
from openclaw_memory.storage.durable import BACKUP_SUFFIX
from openclaw_memory.storage.journal import Journal, SyncMode
from openclaw_memory.storage.store import Store
from openclaw_memory.writer import Writer
from tests.reliability.disk import SimulatedDisk
from tests.support import START, counted_ids

DISK = Path("/disk")
ROOT = DISK / "home" / "memory"
SHORT = 1
"""A limit of the journal in bytes with which it is shortened at every chance."""
DAY = "conversations/2026-05-04.md"
PART = "conversations/2026-05-04-001.md"
PROFILE = "facts/user-profile.md"
CONFIG = MemoryConfig(root=ROOT.parent, timezone="Asia/Shanghai", language="en")


class NoLock:
    """A simulated disk has one user."""

    held = True

    def acquire(self) -> None:
        return

    def keep(self) -> None:
        return

    def release(self) -> None:
        return


class PunctualJournal(Journal):
    """The journal as it is, with a sign for when its thread has nothing to do.

    Other threads wait for that sign before they touch the disk, so that a run has one order of steps and no other.
    """

    def __init__(self, folder: Path, files: SimulatedDisk, position: int, *rest: Any) -> None:
        super().__init__(folder, files, position, *rest)
        self._at_rest = threading.Event()
        self._at_rest.set()
        usual = files.before_step

        def in_turn(step: str, path: Path) -> None:
            self.wait_for_rest()
            usual(step, path)

        files.before_step = in_turn

    def _queue_up(self, position: int, text: bytes, must_sync: bool) -> None:
        with self._changed:
            self._at_rest.clear()
            super()._queue_up(position, text, must_sync)

    def shorten(self, upto: int, *, if_worth_it: bool = False) -> None:
        with self._changed:
            self._at_rest.clear()
            super().shorten(upto, if_worth_it=if_worth_it)

    def rewrite(self, change: Callable[[bytes], bytes | None], done: Callable[[Exception | None], None]) -> None:
        with self._changed:
            self._at_rest.clear()
            super().rewrite(change, done)

    def _until_sync(self) -> float | None:
        # Asked each time before the thread waits for work, and nowhere else where it is of consequence.
        if not self._queue and self._upto is None and not self._rewrites:
            self._at_rest.set()
        return super()._until_sync()

    def wait_for_rest(self) -> None:
        """Return when everything that was submitted is written; from any other thread."""
        if self._thread.is_alive() and threading.current_thread() is not self._thread:
            assert self._at_rest.wait(10), "the journal's thread is stuck"

    @contextmanager
    def held(self) -> Iterator[None]:
        """Keep the thread from taking anything, so that what is submitted meanwhile shares a sync."""
        with self._changed:
            yield


@dataclass(frozen=True, slots=True)
class Deed:
    """Something that somebody did: patterns that stand exactly once in the documents if it is there, else never."""

    name: str
    patterns: tuple[re.Pattern[str], ...]
    by_hand: bool = False
    """Saved by a person; what a crash interrupted may be kept beside the document."""

    @classmethod
    def of(cls, name: str, *patterns: str, by_hand: bool = False) -> Deed:
        return cls(name, tuple(re.compile(pattern) for pattern in patterns), by_hand)


@dataclass(slots=True)
class Run:
    """One workload under way: the store, what was done, and the contents that documents had under their names."""

    disk: SimulatedDisk
    store: Store
    writer: Writer
    clock: ManualClock
    short: bool = False
    """Whether the journal is shortened after each flush, and not only when it has grown."""
    deeds: dict[str, Deed] = field(default_factory=dict)

    async def write(self, change: Change, *patterns: str) -> None:
        """Write something and wait for the acknowledgement."""
        await self.start(change, *patterns)
        await self.acknowledged()

    async def start(self, change: Change, *patterns: str) -> None:
        """Write something and don't wait."""
        deed = Deed.of(patterns[0], *patterns)
        self.deeds[deed.name] = deed
        planned = await self.writer.write(change)
        planned.commit.call_when_settled(
            lambda commit: self.disk.tell(deed.name) if commit.error is None else None,
        )

    async def acknowledged(self) -> None:
        """Wait for every acknowledgement."""
        await self.store.settled()
        if self.store._journal is not None:
            self.journal.wait_for_rest()

    async def flush(self, paths: Sequence[str] | None = None) -> None:
        """Rewrite files, and wait until the journal knows of it; it is shortened where it may be short."""
        await self.store.flush(paths)
        await self.shortened()

    async def shortened(self) -> None:
        """Let the journal go of everything that it need not keep, if it is to be short."""
        await self.acknowledged()
        if self.short and self.store._journal is not None:
            self.store._shorten_journal(everything=True)
            self.journal.wait_for_rest()

    @property
    def journal(self) -> PunctualJournal:
        assert isinstance(self.store._journal, PunctualJournal)
        return self.store._journal

    @contextmanager
    def promising_nothing(self) -> Iterator[None]:
        """Take no acknowledgement for a promise."""
        told, self.disk.tell = self.disk.tell, lambda what: None  # type: ignore[method-assign]
        try:
            yield
        finally:
            self.disk.tell = told  # type: ignore[method-assign]

    async def journal_closed(self) -> None:
        """End the journal's thread, as a close does, and nothing else."""
        await self.acknowledged()
        self.journal.close()

    def edit(self, path: str, change: Callable[[str], str], *patterns: str) -> None:
        """Save a file by hand."""
        text = self.text(path)
        deed = Deed.of(f"by hand: {patterns[0]}", *patterns, by_hand=True)
        self.deeds[deed.name] = deed
        self.disk.save(ROOT / path, change(text).encode())
        self.disk.tell(deed.name)

    def text(self, path: str) -> str:
        return self.disk.read_now(ROOT / path).decode()


@asynccontextmanager
async def running(
    disk: SimulatedDisk,
    *,
    journal_limit: int = 1 << 20,
    mode: SyncMode = "always",
    close: bool = True,
    first_id: int = 1,
    per_file: int = 500,
) -> AsyncIterator[Run]:
    """Open a store on a disk; close it at the end. `per_file`: so many messages fill a day's file."""
    clock = ManualClock(START)
    limits = FlushLimits(2.0, 50, 500)
    store = Store(
        ROOT, disk, clock, format_of, limits, journal_limit, lambda *_: None, lambda _: None, mode=mode, lock=NoLock()
    )
    ids = counted_ids()
    for _ in range(first_id - 1):
        ids(START)
    await store.open(FOLDERS)
    config = CONFIG.model_copy(
        update={"conversations": CONFIG.conversations.model_copy(update={"max_messages_per_file": per_file})}
    )
    run = Run(disk, store, Writer(store, config, clock, ids), clock, short=journal_limit == SHORT)
    try:
        await run.acknowledged()
        yield run
    finally:
        if close:
            await store.close()


def documents(files: dict[str, bytes]) -> dict[str, bytes]:
    """Choose what a person calls memory: no journal, nothing set aside, no temporary file."""
    prefix = ROOT.relative_to(DISK).as_posix() + "/"
    return {
        path.removeprefix(prefix): data
        for path, data in files.items()
        if path.startswith(prefix)
        and path.endswith((".md", ".json"))
        and not path.rpartition("/")[2].startswith(".")
        and not path.endswith("index.json")
    }


def backups(files: dict[str, bytes]) -> dict[str, bytes]:
    """Give the backups of documents by the documents' paths."""
    prefix = ROOT.relative_to(DISK).as_posix() + "/"
    return {
        path.removeprefix(prefix).removesuffix(BACKUP_SUFFIX): data
        for path, data in files.items()
        if path.endswith(BACKUP_SUFFIX)
    }


def set_aside(files: dict[str, bytes]) -> dict[str, bytes]:
    """Choose what was kept of interrupted saves, beside the documents."""
    return {path: data for path, data in files.items() if ".md.recovered-" in path}


def occurrences(deed: Deed, texts: Sequence[str]) -> list[int]:
    """Count each pattern of a deed in texts."""
    return [sum(len(pattern.findall(text)) for text in texts) for pattern in deed.patterns]


def say(content: str, **more: Any) -> MemoryWrite:
    return MemoryWrite(type="conversation", content={"role": "user", "content": content}, session_id="s1", **more)


def fact(key: str, value: str, section: str = "S", **more: Any) -> UpdateFact:
    return UpdateFact(section=section, key=key, value=value, **more)


def task(title: str) -> MemoryWrite:
    return MemoryWrite(type="task", content={"title": title}, session_id="s1")


def batch(*items: tuple[str, dict[str, Any]]) -> MemoryWrite:
    content = {"items": [{"event": event, "data": {"session_id": "s1", **data}} for event, data in items]}
    return MemoryWrite(type="batch", content=content, session_id="s1")


Workload = Callable[[Run], Awaitable[None]]


@pytest.fixture(autouse=True)
def punctual(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let a test's stores do one thing after the other: the same steps in the same order each time."""
    make_punctual(monkeypatch)


def make_punctual(monkeypatch: pytest.MonkeyPatch) -> None:
    """Do so outside of a test function."""
    monkeypatch.setattr(store_module, "Journal", PunctualJournal)
    monkeypatch.setattr(anyio.to_thread, "run_sync", _here)
    # Thousands of starts after crashes have much to tell.
    monkeypatch.setattr(logging.root.manager, "disable", logging.CRITICAL)


async def _here(function: Callable[..., Any], *arguments: Any, **_: Any) -> Any:
    """Call a function at once; a disk in memory blocks nobody."""
    return function(*arguments)
