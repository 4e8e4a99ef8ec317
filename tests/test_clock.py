"""Time that stands still until it is moved."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import anyio

from openclaw_memory import ManualClock, SystemClock

START = datetime(2026, 5, 4, tzinfo=UTC)


async def test_sleepers_wake_when_their_time_has_come() -> None:
    """In the order of their deadlines, and not a moment sooner."""
    clock, woken = ManualClock(START), []

    async def sleeper(deadline: float) -> None:
        await clock.sleep_until(deadline)
        woken.append(deadline)

    async with anyio.create_task_group() as group:
        for deadline in (3.0, 1.0, 0.0):
            group.start_soon(sleeper, deadline)
        await anyio.wait_all_tasks_blocked()
        assert woken == [0.0]
        clock.advance(2.9)
        await anyio.wait_all_tasks_blocked()
        assert woken == [0.0, 1.0]
        clock.advance(0.1)
    assert woken == [0.0, 1.0, 3.0]
    assert (clock.monotonic(), clock.now()) == (3.0, START + timedelta(seconds=3))


async def test_cancelled_sleeper_is_forgotten() -> None:
    """Moving the clock afterwards wakes nobody."""
    clock = ManualClock(START)
    with anyio.move_on_after(0):
        await clock.sleep_until(5.0)
    clock.advance(10)
    assert clock._sleepers == []


def test_going_back_leaves_monotonic_time() -> None:
    """The time of day may be set back; the time that intervals are measured with never is."""
    clock = ManualClock(START)
    clock.move_to(START + timedelta(hours=1))
    clock.move_to(START)
    assert (clock.now(), clock.monotonic()) == (START, 3600.0)


async def test_system_clock_is_aware_and_does_not_wait_for_the_past() -> None:
    """A deadline that is over returns at once."""
    clock = SystemClock()
    assert clock.now().tzinfo is UTC
    await clock.sleep_until(clock.monotonic() - 1)
