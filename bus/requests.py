"""Requests that wait for their reply."""

from __future__ import annotations

import asyncio
import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from bus.errors import BusError, HandlerFailedError, RequestTimeoutError, ResponderClosedError
from bus.events import Event
from bus.mailbox import Room
from bus.payload import Payload

if TYPE_CHECKING:
    from bus.subscription import Subscription
    from bus.worker import Worker


class Pending:
    """One request: who may still answer it, and the future of its reply."""

    __slots__ = ("due", "event", "future", "requester", "responders", "rooms", "seconds")

    def __init__(
        self,
        event: Event[Any],
        future: asyncio.Future[Payload],
        responders: Sequence[Subscription],
        requester: Worker | None,
        seconds: float | None,
    ) -> None:
        self.event = event
        self.future = future
        self.responders = responders
        self.requester = requester
        self.seconds = seconds
        """How long the requester waits."""
        self.due = math.inf
        """Until when, on the clock of the event loop."""
        self.rooms: Sequence[Room] = ()

    def fail(self, error: BusError) -> None:
        """Let the requester see `error`, unless it has its reply or is gone."""
        if not self.future.done():
            self.future.set_exception(error)

    def expire(self) -> None:
        """End the wait, since its time is over; also that for room in full queues."""
        assert self.seconds is not None
        self.fail(RequestTimeoutError(self.event.type, self.seconds, sorted(who.name for who in self.responders)))
        self.leave_lines("request timed out before there was room")

    def leave_lines(self, reason: str) -> None:
        """Take the request out of the lines before full mailboxes."""
        for room in self.rooms:
            room.give_up(reason)

    def lose(self, subscription: Subscription, error: BusError) -> None:
        """Note that `subscription` will not answer; fail when nobody is left who may."""
        if subscription in self.responders:
            self.responders = [other for other in self.responders if other is not subscription]
            if not self.responders:
                self.fail(error)


class Requests:
    """All requests of one bus that wait for their reply, by the id of their event."""

    __slots__ = ("_pending", "_timer", "late")

    def __init__(self) -> None:
        self._pending: dict[str, Pending] = {}
        self._timer: asyncio.TimerHandle | None = None
        """Goes off when the next could be overdue. One for all: hardly a request ever needs its own."""
        self.late = 0

    def __len__(self) -> int:
        return len(self._pending)

    def add(self, pending: Pending) -> None:
        """Note a request; end it when its time is over."""
        self._pending[pending.event.id] = pending
        if pending.seconds is not None:
            loop = pending.future.get_loop()
            pending.due = due = loop.time() + pending.seconds
            if self._timer is None or due < self._timer.when():
                self._look_at(due, loop)

    def forget(self, pending: Pending) -> None:
        """Forget a request that has ended, however it did."""
        del self._pending[pending.event.id]
        # Its event knows it, for replies that come late. If it knew the event too, only the garbage collector could
        # free both, with payload and reply; collecting cost a busy bus more than carrying the events did.
        del pending.event

    def _look_at(self, due: float, loop: asyncio.AbstractEventLoop) -> None:
        if self._timer is not None:
            self._timer.cancel()
        self._timer = loop.call_at(due, self._end_overdue, loop)

    def _end_overdue(self, loop: asyncio.AbstractEventLoop) -> None:
        """End what is overdue, and look again when the next could be."""
        self._timer = None
        now = loop.time()
        waiting = list(self._pending.values())
        for pending in waiting:
            if pending.due <= now:
                # Also one that has its reply: it may still wait for room at those who only watch.
                pending.expire()
        due = min((pending.due for pending in waiting if pending.due > now), default=math.inf)
        if due < math.inf:
            self._look_at(due, loop)

    def find(self, event_id: str | None) -> Pending | None:
        """Return the request whose event has this id, if it still waits."""
        return None if event_id is None else self._pending.get(event_id)

    def resolve(self, pending: Pending | None, reply: Payload) -> None:
        """Give the requester its reply, or count it as late."""
        if pending is None:
            return
        if pending.future.done():
            self.late += 1
        else:
            pending.future.set_result(reply)

    def failed(self, event: Event[Any], subscription: Subscription, error: Exception) -> None:
        """Tell a requester that the handler of its responder failed."""
        if event._pending is not None:
            event._pending.lose(subscription, HandlerFailedError(event.type, subscription.name, error))

    def closed(self, subscription: Subscription) -> None:
        """Tell requesters that `subscription` was closed; those whose handler still runs hear of it when that ends."""
        still = {worker.busy_with for worker in subscription.crew.busy()}
        for pending in list(self._pending.values()):
            if pending.event not in still:
                pending.lose(subscription, ResponderClosedError(pending.event.type, subscription.name))

    def fail_all(self, error: BusError) -> None:
        """End every wait with `error`."""
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        for pending in list(self._pending.values()):
            pending.fail(error)
            pending.leave_lines("bus closed")
