"""The inside of a bus: takes events to mailboxes, sends what handlers published, reports what failed."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable
from typing import Any

from bus.binding import Binding
from bus.drains import Drains
from bus.errors import BusClosedError, QueueFullError
from bus.events import Event, LinkedEvent, Origin, Stamp
from bus.notices import HandlerFailed
from bus.payload import Payload
from bus.reports import DrainReport, Ledger
from bus.requests import Requests
from bus.routes import Route, Routes
from bus.subscription import Subscription
from bus.trace import Tracer
from bus.transport import Accept
from bus.waiting import Waiting
from bus.worker import Worker, current_event, running_worker

GRACE = 5.0
"""Seconds that handlers have, when the bus is closed, to end after they were cancelled."""

_log = logging.getLogger("bus")


class Hub:
    """What `EventBus` is made of, and what its subscriptions call back."""

    def __init__(self, binding: Binding, origin: Origin, stamp: Stamp, tracer: Tracer) -> None:
        self.binding = binding
        self.origin = origin
        self.stamp = stamp
        self.tracer = tracer
        self.made = 0
        """Events made here; the ids count them."""
        self.routes = Routes()
        self.found = self.routes.found
        self.requests = Requests()
        self.ledger = Ledger()
        self.waiting = Waiting(self)
        self.drains = Drains(self.routes, self.ledger)
        self.send: Accept = self.accept
        self.received = 0
        self.unheard = 0

    def event(self, payload: Payload, cause: Event[Any] | None, answered: Event[Any] | None = None) -> LinkedEvent[Any]:
        """Put a payload of this process into its envelope."""
        self.made += 1
        correlation = None if answered is None else answered.number_for(self.origin)
        causation = correlation if cause is None else cause.number_for(self.origin)
        return LinkedEvent(payload, self.made, self.origin, self.stamp(), causation, correlation)

    def accept(self, event: Event[Any]) -> Awaitable[None] | None:
        """Queue `event` wherever it belongs; return what waits for room, where there is none."""
        payload_type = event._data.__class__
        route = self.found.get(payload_type) or self.routes.of(payload_type)
        if route.raises:
            self.refuse_if_full(route, event)
        rooms = None
        for put in route.puts:
            room = put(event)
            if room is not None:
                if rooms is None:
                    rooms = [room]
                else:
                    rooms.append(room)
        if rooms is None:
            if not route.puts:
                self.unheard += 1
            return None
        if event._pending is not None:
            event._pending.rooms = rooms
        return self.waiting.for_room(rooms)

    def worker(self) -> Worker | None:
        """Return the worker whose handler is running here, if one is."""
        return running_worker(self)

    async def send_outbox(self, worker: Worker) -> None:
        """Send what a handler published, in order; what it was refused for is a fault of that handler."""
        outbox = worker.outbox
        while outbox:
            event = outbox.popleft()
            try:
                wait = self.send(event)
                if wait is not None:
                    await wait
            except Exception as error:  # noqa: BLE001  # it is published
                self.tracer.tell("publish.failed", {"event": event, "error": error})
                worker.subscription.crew.failed += 1
                self.handler_failed(worker, current_event.get() or event, error)
            else:
                self.tracer.tell("publish.complete", {"event": event})

    def abandon_outbox(self, worker: Worker) -> None:
        """Book as dropped what can't be sent any more."""
        for event in worker.outbox:
            self.ledger.add(worker.subscription.name, event.type, "published by a handler that was cancelled")
        worker.outbox.clear()

    def handler_failed(self, worker: Worker, event: Event[Any], error: Exception) -> None:
        """Report a fault to the requester at once, and to everybody after the event being handled."""
        notice = self._fault(event, worker.subscription, error)
        if notice is not None:
            worker.outbox.append(notice)

    def refused_by_key(self, subscription: Subscription, event: Event[Any], error: Exception) -> None:
        """Report a fault of a key function. Nobody waits for room for this notice: without room it is dropped."""
        notice = self._fault(event, subscription, error)
        if notice is None:
            return
        for room in [put(notice) for put in self.routes.of(HandlerFailed).puts]:
            if room is not None:
                room.give_up("queue full")

    def came_to_rest(self, subscription: Subscription) -> None:
        """Look whether somebody waited for this."""
        if subscription in self.drains.leaving:
            self.requests.closed(subscription)
            self._look_for_circles()
        self.drains.came_to_rest(subscription)
        if self.waiting and len(subscription.mailbox.queue):
            self.waiting.free()

    def _look_for_circles(self) -> None:
        """Look once more who waits for whom: with one responder fewer, those left may all wait for the requester."""
        if self.waiting:
            self.waiting.free()

    def close_subscription(self, subscription: Subscription, reason: str = "subscription closed") -> None:
        """Take a subscription off the bus."""
        self.binding.check("close a subscription")
        if subscription not in self.routes.subscriptions:
            return
        self.routes.remove(subscription)
        subscription.mailbox.drop_all(reason)
        self.drains.leaving[subscription] = None
        subscription.crew.close()
        self.came_to_rest(subscription)

    async def drain_subscription(self, subscription: Subscription, seconds: float | None) -> DrainReport:
        """Wait until a subscription has nothing to do."""
        self.drains.refuse_inside(self.worker(), f"drain {subscription.name!r}", subscription)
        return await self.drains.wait([subscription], seconds)

    async def close(self, seconds: float | None) -> DrainReport:
        """Drain, then end whatever still goes on after `seconds`."""
        start = self.drains.mark()
        drained = await self.drains.wait(None, seconds)
        for subscription in list(self.routes.subscriptions):
            self.close_subscription(subscription, "bus closed")
        running = self.drains.tasks()
        if drained.stuck:
            for task in running:
                task.cancel()
        if running:
            await asyncio.wait(running, timeout=GRACE)
        self.requests.fail_all(BusClosedError("wait for a reply"))
        return start.report(self.drains.mark(), stuck=drained.stuck)

    def _fault(self, event: Event[Any], subscription: Subscription, error: Exception) -> Event[Any] | None:
        self.requests.failed(event, subscription, error)
        self._look_for_circles()
        watched = isinstance(event.data, HandlerFailed)
        if watched or not self.routes.of(HandlerFailed).puts:
            # A fault in a handler of faults must not go round in circles, one that nobody hears must not vanish.
            _log.error("subscription %r failed at %r", subscription.name, event, exc_info=error)
        if watched:
            return None
        notice = HandlerFailed(
            event=_written(event), handler=subscription.name, error=_words(error), error_type=type(error).__name__
        )
        return self.event(notice, event)

    def refuse_if_full(self, route: Route, event: Event[Any]) -> None:
        """Raise before anybody has the event, so that a publisher who tries again gives it to nobody twice."""
        for subscription in route.subscriptions:
            mailbox = subscription.mailbox
            if len(mailbox.queue) >= mailbox.capacity:
                raise QueueFullError(event.type, subscription.name, mailbox.capacity)


def _words(error: Exception) -> str:
    try:
        return str(error)
    except Exception:  # noqa: BLE001  # an exception that cannot say what it is must not take the worker along
        return f"{type(error).__name__} (it could not be put into words)"


def _written(event: Event[Any]) -> dict[str, Any]:
    try:
        return event.to_wire()
    except (TypeError, ValueError):  # a payload that is no JSON; who it was can be told all the same
        return event.attributes()
