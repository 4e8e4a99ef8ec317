"""What a job of the heartbeat is: when it is due, what it does, how it ended."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, tzinfo
from typing import Literal, Protocol

Ending = Literal["done", "nothing", "failed", "skipped"]


@dataclass(frozen=True, slots=True)
class Outcome:
    """How a run of a job ended.

    `outcome`: `done` when it wrote something, `nothing` when there was nothing to do, `failed` when it is to be tried
    again with the next tick, `skipped` when it may not run now. `keys` are the addresses of what it wrote; `message` is
    for a person: why it failed, what it cost.
    """

    outcome: Ending
    keys: tuple[str, ...] = ()
    message: str | None = None


NOTHING = Outcome("nothing")


class Job(Protocol):
    """One thing that memory does as time passes."""

    @property
    def name(self) -> str:
        """Name, snake_case, as it stands in the report of `heartbeat:done`."""
        ...

    def due(self, last: datetime | None, now: datetime) -> bool:
        """Tell whether it is to be run. Pure, and cheap: it is asked with every tick.

        Parameters: `last`, when it last succeeded, None when it never did; `now`, the tick's time.
        """
        ...

    async def run(self, now: datetime) -> Outcome:
        """Do what is due. Running it again, or after a crash halfway, does nothing twice.

        Errors may be raised: the heartbeat reports them as `failed`, and the other jobs run all the same.
        """
        ...


def another_day(last: datetime | None, now: datetime, zone: tzinfo) -> bool:
    """Tell whether a job that runs daily is due: on the first tick of each day of the user's.

    A clock that was put back makes it due as well: what is idempotent does nothing then, and a clock that once stood in
    the future stops nothing.
    """
    return last is None or last.astimezone(zone).date() != now.astimezone(zone).date()


def another_week(last: datetime | None, now: datetime, zone: tzinfo) -> bool:
    """Tell whether a job that runs weekly is due: on the first tick of each ISO week, which begins on Monday."""
    if last is None:
        return True
    return last.astimezone(zone).date().isocalendar()[:2] != now.astimezone(zone).date().isocalendar()[:2]
