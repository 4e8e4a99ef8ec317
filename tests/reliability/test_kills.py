"""Processes that write are killed, two hundred times and more: what they had said was durable is there, once.

A kill leaves the page cache, so this finds no missing sync (crash states do). It finds what a process leaves half done.
"""

from __future__ import annotations

import asyncio
import os
import random
import re
import signal
import sys
import time
from collections import Counter
from pathlib import Path

import pytest

from bus import Gateway
from contracts import MemoryWrite
from openclaw_memory import Memory, MemoryConfig
from openclaw_memory.context.tokens import EstimateCounter
from openclaw_memory.storage.files import LocalFiles, OpenFile, Stamp

CYCLES = 200
SOAK_CYCLES = 1_500
CYCLES_A_FOLDER = 10
"""After so many kills a new folder is begun; files would grow, and the cycles slow down."""
LONGEST_SECONDS = 0.06

FORKS = pytest.mark.filterwarnings("ignore:.*use of fork:DeprecationWarning")
"""The threads of the parent hold no lock that the child needs."""


class DyingFiles(LocalFiles):
    """The real disk, and a process that dies just before or just after its `dies_at`-th step."""

    def __init__(self, dies_at: int) -> None:
        self._left = dies_at

    def step(self) -> None:
        self._left -= 1
        if self._left == 0:
            os.kill(os.getpid(), signal.SIGKILL)

    def sync_folder(self, path: Path) -> None:
        self.step()
        super().sync_folder(path)

    def create(self, path: Path, mode: int = 0o600) -> OpenFile:
        self.step()
        return _DyingFile(super().create(path, mode), self)

    def open_append(self, path: Path) -> OpenFile:
        self.step()
        return _DyingFile(super().open_append(path), self)

    def rename(self, source: Path, target: Path) -> None:
        self.step()
        super().rename(source, target)

    def rename_new(self, source: Path, target: Path) -> None:
        self.step()
        super().rename_new(source, target)

    def exchange(self, one: Path, other: Path) -> bool:
        self.step()
        return super().exchange(one, other)

    def remove(self, path: Path) -> None:
        self.step()
        super().remove(path)


class _DyingFile:
    def __init__(self, inner: OpenFile, files: DyingFiles) -> None:
        self._inner, self._files = inner, files

    def append(self, data: bytes) -> None:
        half = len(data) // 2
        self._files.step()
        self._inner.append(data[:half])
        self._files.step()
        self._inner.append(data[half:])

    def append_synced(self, data: bytes) -> None:
        self.append(data)
        self.sync()

    def sync(self) -> None:
        self._files.step()
        self._inner.sync()

    def stamp(self) -> Stamp:
        return self._inner.stamp()

    def has_name(self) -> bool:
        return self._inner.has_name()

    def close(self) -> None:
        self._inner.close()


def _memory(root: Path, files: LocalFiles | None = None) -> Memory:
    buffer = {"flush_interval_seconds": 0.005, "journal_limit_bytes": 1024}
    config = MemoryConfig(root=root, timezone="Asia/Shanghai", language="en", buffer=buffer)
    return Memory(config, files=files, counter=EstimateCounter())


async def _write(root: Path, files: LocalFiles, name: str, told: int) -> None:
    """Write until killed: messages, and now and then a batch; say each on `told` when it is acknowledged."""
    async with Gateway() as gateway:
        await gateway.register(_memory(root, files))

        async def writer(lane: int) -> None:
            for number in range(10_000):
                mark = f"mark-{name}-{lane}-{number}-end"
                reply = await gateway.bus.request(_event(mark, lane, number), timeout=30)
                if reply.success:
                    os.write(told, f"{mark}\n".encode())

        await asyncio.gather(*(writer(lane) for lane in range(3)))


def _event(mark: str, lane: int, number: int) -> MemoryWrite:
    session = f"s{lane}"
    said = {"type": "conversation", "content": {"role": "user", "content": mark}, "session_id": session}
    if number % 4 != 3:
        return MemoryWrite(**said)
    known = {"section": "Marks", "key": f"key {lane} {number} {mark}", "value": "known", "topic": "marks"}
    items = [{"event": "memory:write", "data": said}, {"event": "memory:update_fact", "data": {**known}}]
    return MemoryWrite(type="batch", content={"items": items}, session_id=session)


def _child(root: Path, files: LocalFiles, name: str, told: int) -> None:
    """Be the process that is killed; never returns."""
    try:
        asyncio.run(_write(root, files, name, told))
    except BaseException as error:  # noqa: BLE001 - the parent must hear of it
        os.write(told, f"failed: {error!r}\n".encode())
    os._exit(1)


def _killed(root: Path, name: str, chance: random.Random) -> list[str]:
    """Let a process write and be killed, at a moment or at a step; gives what it said was durable."""
    at_step = chance.random() < 0.5
    files: LocalFiles = DyingFiles(chance.randrange(1, 120)) if at_step else LocalFiles()
    listen, told = os.pipe()
    sys.stdout.flush()
    child = os.fork()
    if child == 0:
        os.close(listen)
        _child(root, files, name, told)
    os.close(told)
    if not at_step:
        time.sleep(chance.uniform(0.0, LONGEST_SECONDS))
        os.kill(child, signal.SIGKILL)
    with os.fdopen(listen) as lines:
        said = lines.read().splitlines()
    os.waitpid(child, 0)
    return said


async def _reopened(root: Path) -> None:
    async with Gateway() as gateway:
        memory = _memory(root)
        await gateway.register(memory)
        assert memory.status().unreadable == {}


def _found(root: Path) -> tuple[Counter[str], Counter[str]]:
    """Count the marks in messages and in facts."""
    pattern = re.compile(r"mark-[0-9-]+-end")
    texts = {path: path.read_text() for path in (root / "memory").rglob("*.md") if not path.name.startswith(".")}
    messages, facts = Counter[str](), Counter[str]()
    for path, text in texts.items():
        (messages if "conversations" in path.parts else facts).update(pattern.findall(text))
    return messages, facts


def _loop(folder: Path, cycles: int, seed: int) -> None:
    print(f"seed {seed}; run it again: RELIABILITY_SEED={seed}")
    chance = random.Random(seed)
    acknowledged: list[str] = []
    total = 0
    for cycle in range(cycles):
        root = folder / str(cycle // CYCLES_A_FOLDER)
        said = _killed(root, str(cycle), chance)
        assert not [line for line in said if line.startswith("failed")], f"cycle {cycle}: {said}"
        acknowledged += said
        if (cycle + 1) % CYCLES_A_FOLDER == 0 or cycle + 1 == cycles:
            total += len(acknowledged)
            _check(root, acknowledged, f"seed {seed}, up to cycle {cycle}")
            acknowledged = []
    print(f"{cycles} kills, {total} acknowledged writes, none lost")
    assert total > cycles, "hardly anything was acknowledged before the kills"


def _check(root: Path, acknowledged: list[str], when: str) -> None:
    asyncio.run(_reopened(root))
    messages, facts = _found(root)
    missing = set(acknowledged) - messages.keys()
    assert not missing, f"{when}: acknowledged and lost: {sorted(missing)}"
    twice = {mark for mark, count in (messages + Counter()).items() if count > 1}
    assert not twice, f"{when}: twice: {sorted(twice)}"
    batches = {mark for mark in messages if int(mark.split("-")[3]) % 4 == 3}
    assert batches == facts.keys(), f"{when}: halves of batches: {sorted(batches ^ facts.keys())}"
    assert set(facts.values()) <= {1}, f"{when}: twice: {facts}"


def _seed() -> int:
    return int(os.environ.get("RELIABILITY_SEED", random.randrange(1_000_000)))


@FORKS
def test_killed_at_any_moment(tmp_path: Path) -> None:
    """Two hundred kills at random moments and at chosen steps, each followed by a start on what was left."""
    _loop(tmp_path, CYCLES, _seed())


@FORKS
@pytest.mark.soak
@pytest.mark.timeout(3600)
def test_killed_for_long(tmp_path: Path) -> None:
    """The same for minutes."""
    _loop(tmp_path, SOAK_CYCLES, _seed())
