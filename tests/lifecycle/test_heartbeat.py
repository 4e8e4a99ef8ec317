"""The heartbeat: what is due is run once, whatever the clock and the jobs do."""

from __future__ import annotations

import asyncio
import errno
import logging
import os
import random
from collections import Counter
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any
from zoneinfo import ZoneInfo

import anyio
import pytest

from contracts import Forget, HeartbeatDone, HeartbeatTick, MemoryRead, MemoryWrite, Selector
from openclaw_memory.clock import ManualClock
from openclaw_memory.lifecycle.heartbeat import Heartbeat
from openclaw_memory.lifecycle.jobs import NOTHING, Job, Outcome, another_day, another_week
from openclaw_memory.lifecycle.scheduler import Scheduler, needed
from tests.support import START, FaultyFiles, Remembering, remembering

SHANGHAI = ZoneInfo("Asia/Shanghai")
DAY = timedelta(days=1)


class Counting:
    """A job that is due on another day, and does what it is told to."""

    def __init__(self, name: str = "counting", does: Any = None) -> None:
        self.name = name
        self.runs: list[datetime] = []
        self.does = does or (lambda: Outcome("done", ("key",)))

    def due(self, last: datetime | None, now: datetime) -> bool:
        return another_day(last, now, SHANGHAI)

    async def run(self, now: datetime) -> Outcome:
        self.runs.append(now)
        outcome = self.does()
        result: Outcome = await outcome if hasattr(outcome, "__await__") else outcome
        return result


def heartbeat_of(it: Remembering, *jobs: Job) -> Heartbeat:
    owner = it.memory._owner
    assert owner is not None
    owner.heartbeat = Heartbeat(owner._store, jobs, "holder")
    return owner.heartbeat


async def tick(it: Remembering, now: datetime | None = None) -> dict[str, tuple[str, str | None]]:
    done = await it.ask(HeartbeatTick(now=now or it.clock.now()))
    assert isinstance(done, HeartbeatDone)
    return {job.name: (job.outcome, job.message) for job in done.jobs}


async def test_a_job_runs_once_a_day_case_28(tmp_path: Path) -> None:
    """Sixty heartbeats in a minute run it once; three days without one are caught up by the next."""
    job = Counting()
    async with remembering(tmp_path) as it:
        heartbeat_of(it, job)
        for _ in range(60):
            await tick(it)
            it.clock.advance(1)
        assert len(job.runs) == 1
        it.clock.advance(3 * 86_400)
        assert await tick(it) == {"counting": ("done", None)}
        assert len(job.runs) == 2


async def test_what_succeeded_is_known_after_a_restart(tmp_path: Path) -> None:
    """The record is in `.state/`, with what was done."""
    job = Counting()
    async with remembering(tmp_path) as it:
        heartbeat_of(it, job)
        await tick(it)
    async with remembering(tmp_path) as it:
        heartbeat_of(it, job)
        assert await tick(it) == {}
    assert len(job.runs) == 1


async def test_a_job_that_fails_is_tried_again_and_stops_nobody(tmp_path: Path, caplog: Any) -> None:
    """The report tells why, so does the status, until it succeeds."""

    def fail() -> Outcome:
        raise ValueError("no luck")

    bad, good = Counting("bad", fail), Counting("good", lambda: NOTHING)
    async with remembering(tmp_path) as it:
        heartbeat_of(it, bad, good)
        with caplog.at_level(logging.CRITICAL, "openclaw_memory"):
            assert await tick(it) == {"bad": ("failed", "no luck"), "good": ("nothing", None)}
            assert await tick(it) == {"bad": ("failed", "no luck")}
        assert "bad failed: no luck" in it.memory.status().notices.values()
        bad.does = lambda: NOTHING
        assert await tick(it) == {"bad": ("nothing", None)}
        assert it.memory.status().notices == {}


async def test_cancellation_that_is_not_the_ticks_own_is_a_failure(tmp_path: Path) -> None:
    """A job waits for something that somebody else cancels: the tick is answered, and the next job is run."""

    async def wait() -> Outcome:
        cancelled = asyncio.get_running_loop().create_future()
        cancelled.cancel()
        await cancelled
        raise AssertionError

    bad, good = Counting("bad", wait), Counting("good", lambda: NOTHING)
    async with remembering(tmp_path) as it:
        heartbeat_of(it, bad, good)
        assert await tick(it) == {
            "bad": ("failed", "something that it waited for was cancelled"),
            "good": ("nothing", None),
        }


async def test_every_tick_is_answered_whatever_goes_on(tmp_path: Path, caplog: Any) -> None:
    """Ticks, writes of many sessions, reads, rewrites of files, edits by a person, a disk that refuses at times, wishes
    to forget: every request has its answer.
    """
    chance = random.Random(os.environ.get("RELIABILITY_SEED", "1"))
    refusing = False
    files = FaultyFiles(lambda step, path: errno.EIO if refusing and step in ("append", "sync") else None)
    answered: Counter[str] = Counter()

    async def ticks(it: Remembering) -> None:
        for number in range(12):
            it.clock.advance(chance.choice([1, 3_600, 86_400]))
            for job in (await it.ask(HeartbeatTick(now=it.clock.now()))).jobs:
                answered[job.outcome] += 1
            if number % 4 == 3:
                await it.ask(Forget(selector=Selector(text=f"said {number}"), dry_run=number % 8 == 3))

    async def writes(it: Remembering, session: str) -> None:
        for number in range(12):
            content = {"role": "user", "content": f"said {number} in {session}: I like the colour number {number}"}
            await it.ask(MemoryWrite(type="conversation", content=content, session_id=session))
            if number % 4 == 0:
                await it.ask(MemoryRead(query="colour", session_id=session, max_tokens=200))

    async def disturbs(it: Remembering) -> None:
        nonlocal refusing
        for _ in range(25):
            refusing = not refusing and chance.random() < 0.2
            await it.flushed()
            if (days := sorted(it.folder.glob("conversations/*.md"))) and chance.random() < 0.3:
                with chance.choice(days).open("a") as file:
                    file.write("\nby hand\n")
        refusing = False

    with caplog.at_level(logging.CRITICAL, "openclaw_memory"):
        async with remembering(tmp_path, files=files) as it, anyio.create_task_group() as group:
            for _ in range(3):
                group.start_soon(ticks, it)
            for number in range(6):
                group.start_soon(writes, it, f"s{number}")
            group.start_soon(disturbs, it)
    assert answered["done"] + answered["nothing"] > 10
    assert answered["skipped"] > 0


async def test_two_ticks_at_once(tmp_path: Path) -> None:
    """The second does nothing and says so; the conversation goes on meanwhile."""
    go = anyio.Event()

    async def wait() -> Outcome:
        await go.wait()
        return NOTHING

    job = Counting(does=wait)
    async with remembering(tmp_path) as it:
        heartbeat_of(it, job)
        async with anyio.create_task_group() as group:
            group.start_soon(tick, it)
            while not job.runs:
                await anyio.lowlevel.checkpoint()
            ((name, (outcome, message)),) = (await tick(it)).items()
            assert (name, outcome) == ("heartbeat", "skipped")
            assert message is not None
            assert "another heartbeat" in message
            written = await it.ask(
                MemoryWrite(type="conversation", content={"role": "user", "content": "你好"}, session_id="s1")
            )
            assert written.success
            await it.ask(MemoryRead(query="", session_id="s1", max_tokens=100))
            go.set()
        assert len(job.runs) == 1


async def test_closing_does_not_wait_for_a_job(tmp_path: Path) -> None:
    """It is stopped, the tick is answered, and what it was to do is due again."""
    answers: list[dict[str, tuple[str, str | None]]] = []
    job = Counting(does=anyio.sleep_forever)
    async with anyio.create_task_group() as group, remembering(tmp_path) as it:
        heartbeat_of(it, job)

        async def ask() -> None:
            answers.append(await tick(it))

        group.start_soon(ask)
        while not job.runs:
            await anyio.lowlevel.checkpoint()
    assert answers[0]["heartbeat"][0] == "failed"
    job.does = lambda: NOTHING
    async with remembering(tmp_path) as it:
        heartbeat_of(it, job)
        assert await tick(it) == {"counting": ("nothing", None)}


async def test_the_lease_of_a_process_that_died_is_taken_over(tmp_path: Path, caplog: Any) -> None:
    """The folder has one owner, so the one who held the lease is gone."""
    job = Counting(does=anyio.sleep_forever)
    async with remembering(tmp_path / "one") as it, anyio.create_task_group() as group:
        heartbeat = heartbeat_of(it, job)
        group.start_soon(heartbeat.tick, it.clock.now())
        while not job.runs:
            await anyio.lowlevel.checkpoint()
        it.crashed_copy(tmp_path / "two")
        group.cancel_scope.cancel()
    job.does = lambda: NOTHING
    async with remembering(tmp_path / "two") as it:
        owner = it.memory._owner
        assert owner is not None
        heartbeat = Heartbeat(owner._store, [job], "another")
        with caplog.at_level(logging.INFO, "openclaw_memory.lifecycle.heartbeat"):
            assert await heartbeat.tick(it.clock.now()) == [("counting", NOTHING)]
        assert "was interrupted" in caplog.text


async def test_a_guest_leaves_the_jobs_to_the_owner(tmp_path: Path) -> None:
    """It says whose they are."""
    async with remembering(tmp_path), remembering(tmp_path) as guest:
        ((name, (outcome, message)),) = (await tick(guest)).items()
        assert (name, outcome) == ("heartbeat", "skipped")
        assert message is not None
        assert "writes the folder" in message


async def test_a_clock_that_jumps_back_does_nothing_twice(tmp_path: Path) -> None:
    """Within the day nothing is due; on another day jobs are asked, and what is idempotent finds nothing."""
    async with remembering(tmp_path) as it:
        await it.ask(
            MemoryWrite(type="conversation", content={"role": "user", "content": "今天买了车"}, session_id="s")
        )
        later = START + 40 * DAY
        it.clock.move_to(later)
        assert (await tick(it))["summaries"][0] == "done"
        await it.flushed()
        files = {path.name: path.read_bytes() for path in (it.folder / "summaries").rglob("*.md")}
        assert sorted(files) == ["2026-05-04.md", "2026-05.md", "2026-w19.md"]
        for back in (timedelta(hours=3), 2 * DAY, 39 * DAY, 60 * DAY):
            it.clock.move_to(later - back)
            assert all(outcome == "nothing" for outcome, _ in (await tick(it)).values())
        await it.flushed()
        assert files == {path.name: path.read_bytes() for path in (it.folder / "summaries").rglob("*.md")}


@pytest.mark.parametrize(
    ("last", "now", "day", "week"),
    [
        (None, "2026-05-04T00:00:00+08:00", True, True),
        ("2026-05-03T23:59:59+08:00", "2026-05-04T00:00:00+08:00", True, True),
        ("2026-05-04T00:00:00+08:00", "2026-05-04T23:59:59+08:00", False, False),
        ("2026-05-04T12:00:00+08:00", "2026-05-10T12:00:00+08:00", True, False),
        # The same instant is another day elsewhere: the user's zone counts.
        ("2026-05-03T15:59:00+00:00", "2026-05-03T16:00:00+00:00", True, True),
        # ISO years: the last days of December may lie in the first week of the next.
        ("2025-12-29T12:00:00+08:00", "2026-01-04T12:00:00+08:00", True, False),
        ("2026-12-31T12:00:00+08:00", "2027-01-03T12:00:00+08:00", True, False),
        # A clock that once stood in the future stops nothing.
        ("2099-01-01T12:00:00+08:00", "2026-05-04T12:00:00+08:00", True, True),
    ],
)
def test_another_day_and_another_week(last: str | None, now: str, day: bool, week: bool) -> None:
    """Days and ISO weeks of the user's time zone."""
    before = None if last is None else datetime.fromisoformat(last)
    assert another_day(before, datetime.fromisoformat(now), SHANGHAI) is day
    assert another_week(before, datetime.fromisoformat(now), SHANGHAI) is week


@pytest.mark.parametrize("day", ["2026-03-29", "2026-10-25"])
def test_a_day_of_daylight_saving_is_one_day(day: str) -> None:
    """Twenty-three or twenty-five hours: a job that runs hourly is due once."""
    zone = ZoneInfo("Europe/Berlin")
    now = datetime.fromisoformat(f"{day}T00:00:00").replace(tzinfo=zone).astimezone(UTC) - timedelta(minutes=30)
    last, runs = None, []
    for _ in range(27):
        if another_day(last, now, zone):
            last = now
            runs.append(now.astimezone(zone).date().isoformat())
        now += timedelta(hours=1)
    assert runs == sorted(set(runs))
    assert day in runs


async def test_the_scheduler_moves_with_the_clock() -> None:
    """It ticks after each interval, but not where somebody else did."""
    clock = ManualClock(START)
    ticks: list[datetime] = []
    last: list[datetime | None] = [None]

    async def note(now: datetime) -> None:
        ticks.append(now)
        last[0] = now

    async def settle() -> None:
        for _ in range(5):
            await anyio.lowlevel.checkpoint()

    async with anyio.create_task_group() as group:
        group.start_soon(Scheduler(note, lambda: last[0], clock, 300).run)
        await settle()
        assert ticks == []
        clock.advance(300)
        await settle()
        assert len(ticks) == 1
        clock.advance(299)
        last[0] = clock.now()
        clock.advance(1)
        await settle()
        assert len(ticks) == 1
        clock.advance(300)
        await settle()
        assert len(ticks) == 2
        group.cancel_scope.cancel()


@pytest.mark.parametrize(
    ("seconds", "expected"), [(0, False), (299, False), (300, True), (86_400, True), (-1, True), (-86_400, True)]
)
def test_a_tick_is_needed(seconds: int, expected: bool) -> None:
    """Where none came within the interval, or one that lies in the future."""
    assert needed(START, START + timedelta(seconds=seconds), 300) is expected
    assert needed(None, START, 300)


async def test_memory_has_a_heartbeat_of_its_own(tmp_path: Path) -> None:
    """By default, so that summaries are made where nobody sends ticks."""
    async with remembering(tmp_path, heartbeat={}) as it:
        await it.ask(
            MemoryWrite(type="conversation", content={"role": "user", "content": "今天买了车"}, session_id="s")
        )
        it.clock.advance(86_400)
        owner = it.memory._owner
        assert owner is not None
        # Its jobs run in the background: how far they are can only be looked at.
        with anyio.fail_after(20):
            while owner.heartbeat.last_tick is None or owner.heartbeat._running is not None:
                await anyio.to_thread.run_sync(lambda: None)
        context = await it.ask(MemoryRead(query="", session_id="s", max_tokens=2_000))
        assert any("每日摘要 - 2026-05-04" in summary for summary in context.summaries)
