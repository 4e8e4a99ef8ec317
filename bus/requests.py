"""Requests that wait for their reply."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable
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

    __slots__ = ("event", "future", "requester", "responders", "rooms")

    def __init__(
        self,
        event: Event[Any],
        future: asyncio.Future[Payload],
        responders: Iterable[Subscription],
        requester: Worker | None,
    ) -> None:
        self.event = event
        self.future = future
        self.responders = set(responders)
        self.requester = requester
        self.rooms: list[Room] = []

    def fail(self, error: BusError) -> None:
        """Let the requester see `error`, unless it has its reply or is gone."""
        if not self.future.done():
            self.future.set_exception(error)

    def expire(self, timeout: float) -> None:
        """End the wait after `timeout` seconds; also that for room in full queues."""
        self.fail(RequestTimeoutError(self.event.type, timeout, sorted(who.name for who in self.responders)))
        self.leave_lines("request timed out before there was room")

    def leave_lines(self, reason: str) -> None:
        """Take the request out of the lines before full mailboxes."""
        for room in self.rooms:
            room.give_up(reason)

    def lose(self, subscription: Subscription, error: BusError) -> None:
        """Note that `subscription` will not answer; fail when nobody is left who may."""
        if subscription in self.responders:
            self.responders.discard(subscription)
            if not self.responders:
                self.fail(error)


class Requests:
    """All requests of one bus that wait for their reply, by the id of their event."""

    __slots__ = ("_pending", "late")

    def __init__(self) -> None:
        self._pending: dict[str, Pending] = {}
        self.late = 0

    def __len__(self) -> int:
        return len(self._pending)

    def add(self, pending: Pending) -> str:
        """Note a request; return the key under which to forget it."""
        key = pending.event.id
        self._pending[key] = pending
        return key

    def forget(self, key: str) -> None:
        """Forget a request that has ended, however it did."""
        del self._pending[key]

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
        for pending in list(self._pending.values()):
            pending.fail(error)
            pending.leave_lines("bus closed")
