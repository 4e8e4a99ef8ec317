"""Ends handlers that run too long, with one timer a subscription instead of one an event."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import Any, Protocol

from bus.events import Event
from bus.worker import Worker


class Watch:
    """Cancels the handler of each worker that has been at one event for `timeout` seconds."""

    __slots__ = ("_crew", "_started", "_timer", "timeout")

    def __init__(self, crew: _HasWorkers, timeout: float) -> None:
        self.timeout = timeout
        self._crew = crew
        self._started: dict[int, tuple[Event[Any], float]] = {}
        self._timer: asyncio.TimerHandle | None = None

    def start(self, worker: Worker) -> None:
        """Note that `worker` begins with an event now."""
        loop = asyncio.get_running_loop()
        assert worker.event is not None
        self._started[id(worker)] = (worker.event, loop.time())
        if self._timer is None:
            self._timer = loop.call_later(self.timeout, self._look)

    def finish(self, worker: Worker) -> int:
        """Take back the cancellations that `worker` got from here; return how many from elsewhere are left."""
        left = worker.task.cancelling()
        while worker.overdue:
            worker.overdue -= 1
            left = worker.task.uncancel()
        return left

    def _look(self) -> None:
        """Cancel what is overdue, and look again when the next could be."""
        self._timer = None
        loop = asyncio.get_running_loop()
        now = loop.time()
        running: dict[int, tuple[Event[Any], float]] = {}
        for worker in self._crew.workers:
            event, since = self._started.get(id(worker), (None, 0.0))
            if event is None or worker.event is not event:
                continue
            if since + self.timeout <= now:
                worker.overdue += 1
                worker.task.cancel()
                since = now  # a handler that swallows the cancellation gets another one
            running[id(worker)] = (event, since)
        self._started = running
        if running:
            next_due = min(since for _, since in running.values()) + self.timeout
            self._timer = loop.call_at(next_due, self._look)


class _HasWorkers(Protocol):
    @property
    def workers(self) -> Sequence[Worker]: ...
