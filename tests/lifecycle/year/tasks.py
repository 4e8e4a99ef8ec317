"""The table of seed 000 section 2.3 by itself, as an oracle: where each task must be after what happened."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import date, datetime, time, timedelta, tzinfo

ACTIVE, COMPLETED = "tasks/active.md", "tasks/completed.md"


@dataclass(slots=True)
class Task:
    """A task, and the file that it should be in."""

    created: datetime
    due: date | None = None
    state: str = "pending"
    completed: datetime | None = None
    path: str = ACTIVE


class Table:
    """What becomes of tasks: told of changes and ticks, it moves them as the seed's table says.

    Parameters: `zone`, the user's time zone.
    """

    def __init__(self, zone: tzinfo) -> None:
        self._zone = zone
        self._week: tuple[int, int] | None = None
        self.tasks: dict[str, Task] = {}

    def waiting(self, now: datetime, days: int) -> Iterator[Task]:
        """Yield the tasks that have waited for more than `days`, in active.md."""
        for task in self.tasks.values():
            since = task.created
            if task.due is not None:
                since = max(since, datetime.combine(task.due, time.max, self._zone))
            if task.state in ("pending", "expired") and task.path == ACTIVE and now - since > timedelta(days=days):
                yield task

    def changed(self, now: datetime) -> None:
        """With each change of a state: completed for more than 7 days, from active.md to completed.md."""
        for task in self.tasks.values():
            if task.path == ACTIVE and task.completed is not None and now - task.completed > timedelta(days=7):
                task.path = COMPLETED

    def tick(self, now: datetime) -> None:
        """Daily: expired after 14 days; completed for 30 days into the month. Weekly: archived after 30 days."""
        for task in self.waiting(now, 14):
            task.state = "expired"
        for task in self.tasks.values():
            if task.path == COMPLETED and task.completed is not None and now - task.completed > timedelta(days=30):
                task.path = f"tasks/archived/{task.completed.astimezone(self._zone):%Y-%m}-tasks.md"
        week = now.astimezone(self._zone).date().isocalendar()[:2]
        if week != self._week:
            self._week = week
            for task in list(self.waiting(now, 30)):
                task.path = f"tasks/archived/{now.astimezone(self._zone):%Y-%m}-tasks.md"
