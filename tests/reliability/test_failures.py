"""Any single step of the disk fails: the reply says so, what was acknowledged stays, and writing resumes by itself."""

from __future__ import annotations

import asyncio
import errno
import itertools
from contextlib import suppress
from pathlib import Path

import pytest

from openclaw_memory.errors import OpenClawMemoryError
from openclaw_memory.events import Change
from openclaw_memory.storage import journal as journal_module
from openclaw_memory.storage.flusher import REST_SECONDS
from tests.reliability.disk import SimulatedDisk, State, Told
from tests.reliability.harness import DISK, Run, fact, punctual, running, say, task  # noqa: F401 - punctual is a fixture
from tests.reliability.proof import Recorded, crashes, faults, versions

MOST_STEPS = 400
MOST_CRASHES = 4
"""So many of the crash states at the end are reopened for each N."""


TAKES_SPACE = ("append", "create", "open_append", "make_folder", "rename", "rename_new", "exchange", "sync")


class Failing:
    """The `first`-th step and those after it fail, `lasts` in all; only those that take space when the disk is full."""

    def __init__(self, first: int, code: int, lasts: int) -> None:
        self._failing, self._code = range(first, first + lasts), code
        self._steps = itertools.count()
        self.failed: list[str] = []

    def __call__(self, step: str, path: Path) -> int | None:
        if self._code == errno.ENOSPC and step not in TAKES_SPACE:
            return None
        if next(self._steps) not in self._failing:
            return None
        self.failed.append(f"{step} {path}")
        return self._code


async def attempt(run: Run, change: Change, *patterns: str) -> None:
    """Write something; a refusal in words is an answer, anything else fails the test."""
    # What can't be read is not written over: also an answer.
    with suppress(OpenClawMemoryError):
        await run.write(change, *patterns)


async def work(run: Run) -> None:
    """Every kind of step: write, flush, replace, exchange, settle backups, shorten."""
    await attempt(run, say("hello-1"), r"hello-1\n")
    await attempt(run, fact("k", "value-2"), r": value-2\n")
    await run.flush()
    await attempt(run, fact("k", "value-3"), r"- k: value-3\n")
    await attempt(run, task("buy-4"), r"\] buy-4")
    await run.flush()
    run.clock.advance(REST_SECONDS)
    await run.store._flusher.settle_backups()
    await attempt(run, say("hello-5"), r"hello-5\n")
    await run.flush()


@pytest.mark.parametrize(
    ("code", "lasts", "every"),
    [(errno.EIO, 1, 1), (errno.ENOSPC, 1, 1), (errno.EIO, 4, 3)],
    ids=["EIO", "ENOSPC and a short write", "EIO, and the way back fails too"],
)
async def test_any_step_may_fail(code: int, lasts: int, every: int) -> None:
    """For every N, the N-th step fails; ends when a run passes without having failed."""
    for first in range(0, MOST_STEPS, every):
        failing = Failing(first, code, lasts)
        if not await _survives(failing):
            assert first > 60, "the workload has more steps than that"
            print(f"{first} steps")
            return
    raise AssertionError("the workload does not end")


async def _survives(failing: Failing) -> bool:
    disk = SimulatedDisk(DISK, fault=failing)
    async with running(disk, journal_limit=1, close=False) as run:
        await work(run)
        disk.fault = lambda step, path: None
        # The disk is well again: writing resumes with the next write, files with the next flush.
        for number in (6, 7):
            run.clock.advance(REST_SECONDS)
            await attempt(run, say(f"hello-{number}"), rf"hello-{number}\n")
            await attempt(run, fact(f"k{number}", f"value-{number}"), rf"- k{number}: value-{number}\n")
            await attempt(run, task(f"buy-{number}"), rf"\] buy-{number}")
            await run.flush()
            await run.store._flusher.settle_backups()
        told = frozenset(step.what for step in disk.steps if isinstance(step, Told))
        assert {r"hello-7\n", r"- k7: value-7\n", r"\] buy-7"} <= told, f"writing does not resume; {failing.failed}"
        assert run.store.trouble is None, f"{run.store.trouble}; {failing.failed}"
        recorded = Recorded(State(), list(disk.steps), disk.state.copy(), run.deeds)
        await run.store.close()
    written = versions(recorded)
    last = crashes(recorded, since=len(recorded.steps))
    for crash in last[:: max(1, len(last) // MOST_CRASHES)]:
        found = await faults(recorded, crash, written)
        assert not found, "\n".join([f"{failing.failed}", *found])
    return bool(failing.failed)


async def test_late_sync_that_fails_degrades(monkeypatch: pytest.MonkeyPatch) -> None:
    """With `interval` nobody waits for the sync; when it fails it is told, and tried again by itself."""
    monkeypatch.setattr(journal_module, "SYNC_INTERVAL_SECONDS", 0.0)
    refuses = True

    def fault(step: str, path: Path) -> int | None:
        return errno.EIO if refuses and step == "sync" and path.suffix == ".log" else None

    disk = SimulatedDisk(DISK)
    async with running(disk, mode="interval", close=False) as run:
        disk.fault = fault
        await run.write(say("hello-1"), r"hello-1\n")
        await run.journal_closed()
        for _ in range(10):
            await asyncio.sleep(0)
        assert run.store.trouble is not None
