"""A heartbeat of memory's own, for programs that send none."""

from __future__ import annotations

import logging
from collections.abc import Awaitable, Callable
from datetime import datetime, timedelta

from openclaw_memory.clock import Clock

log = logging.getLogger(__name__)


class Scheduler:
    """Ticks again and again, by the clock that was passed in.

    Parameters: `tick`, which is called with the time; `last`, which gives the time of the last tick, also of one that
    came from outside: then there is no need for one; `interval` in seconds.
    """

    def __init__(
        self,
        tick: Callable[[datetime], Awaitable[object]],
        last: Callable[[], datetime | None],
        clock: Clock,
        interval: float,
    ) -> None:
        self._tick = tick
        self._last = last
        self._clock = clock
        self._interval = interval

    async def run(self) -> None:
        """Tick until cancelled; the first time after one interval, so that a short command never does."""
        while True:
            await self._clock.sleep_until(self._clock.monotonic() + self._interval)
            now = self._clock.now()
            if needed(self._last(), now, self._interval):
                try:
                    await self._tick(now)
                except Exception:
                    # The next one may do better.
                    log.exception("a heartbeat failed")


def needed(last: datetime | None, now: datetime, interval: float) -> bool:
    """Tell whether a tick is needed: not where one came from outside within the interval. Pure."""
    return last is None or not timedelta(0) <= now - last < timedelta(seconds=interval)
