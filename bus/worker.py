"""One worker of a subscription, and how code finds out that it runs inside a handler."""

from __future__ import annotations

import asyncio
from collections import deque
from contextvars import ContextVar
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from bus.deadlock import Wait
    from bus.events import Event
    from bus.subscription import Subscription


class Worker:
    """Handles one event at a time: `event` while the handler runs, `sending` while its outbox is sent after that.

    An event comes to a subscription once, so worker and event together name one run of the handler. A task that a
    handler started and that outlives it still has that event in its context, but the worker has another by then, or
    none: such a task publishes like anybody outside.
    """

    __slots__ = ("event", "outbox", "overdue", "sending", "subscription", "task", "waits")

    def __init__(self, subscription: Subscription) -> None:
        self.subscription = subscription
        self.event: Event[Any] | None = None
        self.sending: Event[Any] | None = None
        self.outbox: deque[Event[Any]] = deque()
        self.waits: list[Wait] = []
        self.overdue = 0
        """Cancellations that the handler got for taking too long."""
        self.task: asyncio.Task[None]

    @property
    def busy_with(self) -> Event[Any] | None:
        """The event that is not done with, if there is one."""
        return self.event or self.sending


current_worker: ContextVar[Worker | None] = ContextVar("bus_worker", default=None)
"""The worker in whose context the code runs, of whatever bus."""

current_event: ContextVar[Event[Any] | None] = ContextVar("bus_event", default=None)
"""The event in whose handling the code began to run."""

current_owner: ContextVar[str | None] = ContextVar("bus_owner", default=None)
"""Name of the plugin that is starting in this context: the owner of the subscriptions that it makes."""


def running_worker(host: object) -> Worker | None:
    """Return the worker of `host` whose handler is running here and now."""
    event = current_event.get()
    worker = current_worker.get()
    if event is None or worker is None or worker.event is not event or worker.subscription.host is not host:
        return None
    return worker


def held_up_worker(host: object) -> Worker | None:
    """Return the worker of `host` that stands still while this code waits: in its handler, or sending its outbox."""
    event = current_event.get()
    worker = current_worker.get()
    if event is None or worker is None or worker.busy_with is not event or worker.subscription.host is not host:
        return None
    return worker
