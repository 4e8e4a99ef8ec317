"""Time, passed in wherever it is needed, so that tests move it by hand."""

from __future__ import annotations

import time
from datetime import UTC, datetime, timedelta
from typing import Protocol

import anyio


class Clock(Protocol):
    """What the rooms of memory know of time."""

    def now(self) -> datetime:
        """Give the time of day, aware, in UTC."""
        ...

    def monotonic(self) -> float:
        """Give seconds from an arbitrary beginning; never goes back."""
        ...

    async def sleep_until(self, deadline: float) -> None:
        """Wait until `monotonic()` has reached `deadline` (seconds)."""
        ...


class SystemClock:
    """The machine's own time."""

    def now(self) -> datetime:
        return datetime.now(UTC)

    def monotonic(self) -> float:
        return time.monotonic()

    async def sleep_until(self, deadline: float) -> None:
        await anyio.sleep(max(0.0, deadline - time.monotonic()))


class ManualClock:
    """A time that stands still until it is moved; for tests and for replaying old dialogues.

    Parameters: `now`, aware, the time of day at which it stands.
    """

    def __init__(self, now: datetime) -> None:
        self._now = now.astimezone(UTC)
        self._monotonic = 0.0
        self._sleepers: list[tuple[float, anyio.Event]] = []

    def now(self) -> datetime:
        return self._now

    def monotonic(self) -> float:
        return self._monotonic

    async def sleep_until(self, deadline: float) -> None:
        if deadline <= self._monotonic:
            await anyio.lowlevel.checkpoint()
            return
        sleeper = (deadline, anyio.Event())
        self._sleepers.append(sleeper)
        try:
            await sleeper[1].wait()
        finally:
            if sleeper in self._sleepers:
                self._sleepers.remove(sleeper)

    def advance(self, seconds: float) -> None:
        """Let `seconds` pass, and wake who slept for no longer than that."""
        self._now += timedelta(seconds=seconds)
        self._monotonic += seconds
        for deadline, awake in list(self._sleepers):
            if deadline <= self._monotonic:
                awake.set()

    def move_to(self, now: datetime) -> None:
        """Go to a time of day. Going back changes the time of day only; `monotonic` stays."""
        seconds = (now - self._now).total_seconds()
        if seconds > 0:
            self.advance(seconds)
        self._now = now.astimezone(UTC)
