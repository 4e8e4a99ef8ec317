"""The workers of a subscription: they take events from its mailbox and run its handler."""

from __future__ import annotations

import asyncio
import itertools
from collections.abc import Awaitable, Callable
from contextvars import copy_context
from time import perf_counter
from typing import TYPE_CHECKING, Any, Protocol

from bus.binding import Binding
from bus.errors import HandlerTimeoutError
from bus.events import Event
from bus.lanes import Lanes
from bus.trace import Tracer
from bus.watch import Watch
from bus.worker import Worker, current_event, current_worker

if TYPE_CHECKING:
    from bus.subscription import Subscription

TURN = 16
"""Events after which a worker looks at the clock."""
SLICE = 0.001
"""Seconds that a worker keeps the event loop, should no handler wait for anything, before it lets others run."""

Handler = Callable[[Event[Any]], Awaitable[None]]


class Host(Protocol):
    """What a crew needs of its bus."""

    @property
    def binding(self) -> Binding:
        """The event loop of the bus."""

    @property
    def tracer(self) -> Tracer:
        """Whom to tell of each run."""

    async def send_outbox(self, worker: Worker) -> None:
        """Send what the handler published."""

    def abandon_outbox(self, worker: Worker) -> None:
        """Book as dropped what can't be sent any more."""

    def handler_failed(self, worker: Worker, event: Event[Any], error: Exception) -> None:
        """Report a fault: to the requester, and as an event in the worker's outbox."""

    def came_to_rest(self, subscription: Subscription) -> None:
        """Note that a worker found nothing to do."""


class Crew:
    """Up to `concurrency` workers, started when there is work."""

    def __init__(
        self, host: Host, subscription: Subscription, handler: Handler, concurrency: int, timeout: float | None
    ) -> None:
        self.concurrency = concurrency
        self.handled = 0
        self.failed = 0
        self.workers: list[Worker] = []
        self._host = host
        self._subscription = subscription
        self._handler = handler
        self._idle: list[asyncio.Future[None]] = []
        self._closed = False
        # Workers live long: they must not inherit the context of whoever happened to publish first.
        self._context = copy_context()
        self._watch = None if timeout is None else Watch(self, timeout)

    def busy(self) -> list[Worker]:
        """Return the workers that are at an event."""
        return [worker for worker in self.workers if worker.busy_with is not None]

    def rouse(self) -> None:
        """Set one more worker to work; called when `mailbox.resting` says that there is one."""
        self._subscription.mailbox.resting -= 1
        while self._idle:
            rest = self._idle.pop()
            if not rest.done():
                rest.set_result(None)
                return
            self._subscription.mailbox.resting -= 1  # cancelled while it rested; it gives its place back as it ends
        worker = Worker(self._subscription)
        self.workers.append(worker)
        # No task factory of the loop's: an eager one would run the handler within `publish`.
        worker.task = asyncio.Task(
            self._work(worker), name=f"bus:{self._subscription.name}", context=self._context.copy()
        )

    def close(self) -> None:
        """Let each worker end after the event that it handles now."""
        self._closed = True
        self._subscription.mailbox.resting = 0
        for rest in self._idle:
            if not rest.done():
                rest.set_result(None)
        self._idle.clear()

    def tasks(self) -> list[asyncio.Task[None]]:
        """Return the tasks of the workers."""
        return [worker.task for worker in self.workers]

    async def _work(self, worker: Worker) -> None:
        try:
            await self._work_until_closed(worker)
        finally:
            self._abandon(worker)
            self.workers.remove(worker)
            if not self._closed:
                # Cancelled from outside; the next event gets a new worker.
                self._subscription.mailbox.resting += 1
            self._host.came_to_rest(self._subscription)

    async def _work_until_closed(self, worker: Worker) -> None:
        mailbox = self._subscription.mailbox
        queue = mailbox.queue
        lanes = queue if isinstance(queue, Lanes) else None
        handle = self._handler if self._host.tracer.hook is None else self._traced
        enter = current_event.set
        current_worker.set(worker)
        watch = self._watch
        event: Event[Any] | None
        until = perf_counter() + SLICE
        for turn in itertools.count(1):
            while not queue:
                if self._closed:
                    return
                event = None  # an idle worker keeps no payload alive
                enter(None)
                await self._rest()
                until = perf_counter() + SLICE
            event = queue.popleft()
            if mailbox.line:
                mailbox.admit()
            worker.event = event
            enter(event)
            if watch is not None:
                watch.start(worker)
            try:
                await handle(event)
                if worker.overdue and watch is not None:
                    # It swallowed its cancellation; it has run out of time all the same.
                    self._fault(worker, event, HandlerTimeoutError(event.type, self._subscription.name, watch.timeout))
                else:
                    self.handled += 1
            except Exception as error:  # noqa: BLE001  # it is published
                self._fault(worker, event, error)
            except asyncio.CancelledError as error:
                self._cancelled(worker, event, error)
            if watch is not None:
                watch.finish(worker)
            if worker.outbox:
                worker.sending = event
                worker.event = None
                await self._host.send_outbox(worker)
                worker.sending = None
            worker.event = None
            if lanes is not None:
                lanes.done(event)
            if not turn % TURN and perf_counter() >= until:
                await asyncio.sleep(0)
                until = perf_counter() + SLICE

    async def _rest(self) -> None:
        mailbox = self._subscription.mailbox
        rest = self._host.binding.future()
        self._idle.append(rest)
        mailbox.resting += 1
        self._host.came_to_rest(self._subscription)
        try:
            await rest
        except asyncio.CancelledError:
            if rest in self._idle:  # not roused: whoever rouses next must not reach a worker that is gone
                self._idle.remove(rest)
                mailbox.resting -= 1
            raise

    def _fault(self, worker: Worker, event: Event[Any], error: Exception) -> None:
        self.failed += 1
        self._host.handler_failed(worker, event, error)

    def _cancelled(self, worker: Worker, event: Event[Any], error: asyncio.CancelledError) -> None:
        """Tell a handler that ran out of time, or waited for something cancelled, from a worker that is to end."""
        if self._watch is not None and worker.overdue:
            if self._watch.finish(worker) == 0:
                name, timeout = self._subscription.name, self._watch.timeout
                self._fault(worker, event, HandlerTimeoutError(event.type, name, timeout))
                return
        elif not worker.task.cancelling():
            self._fault(worker, event, RuntimeError("the handler waited for something that was cancelled"))
            return
        raise error

    def _abandon(self, worker: Worker) -> None:
        """Give up the event of a worker that ends in the middle of it."""
        event = worker.busy_with
        if event is None:
            return
        mailbox = self._subscription.mailbox
        if worker.event is not None:
            mailbox.count_drops([event], "handler cancelled")
        self._host.abandon_outbox(worker)
        worker.event = worker.sending = None
        if isinstance(mailbox.queue, Lanes):
            mailbox.queue.done(event)

    async def _traced(self, event: Event[Any]) -> None:
        info = {"event": event, "subscription": self._subscription.name}
        async with self._host.tracer.span("handle", info):
            await self._handler(event)
