"""Who waits for whom: finds handlers that could never go on, before they stop.

A worker can wait for room in a mailbox (while it sends its outbox) and for the reply to a request. Both end when some
subscription takes or finishes an event, which its own workers may be waiting to do. This module only decides; what
follows is done by `bus.waiting`.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from bus.mailbox import Room

if TYPE_CHECKING:
    from bus.requests import Pending
    from bus.subscription import Subscription
    from bus.worker import Worker


@dataclass(frozen=True, slots=True, eq=False)
class RoomWait:
    """A worker waits until a mailbox has room."""

    room: Room

    def can_end(self, stuck: Collection[Worker]) -> bool:
        """Tell whether it may end while the workers in `stuck` stand still."""
        return self.room.future.done() or _takes_next(self.room.mailbox.subscription, stuck)


@dataclass(frozen=True, slots=True, eq=False)
class ReplyWait:
    """A worker waits for the reply to its request."""

    pending: Pending

    def can_end(self, stuck: Collection[Worker]) -> bool:
        """Tell whether it may end while the workers in `stuck` stand still."""
        return self.pending.future.done() or any(
            _answers(subscription, self.pending, stuck) for subscription in self.pending.responders
        )


Wait = RoomWait | ReplyWait


def find_stuck(waiting: Iterable[Worker]) -> set[Worker]:
    """Return those of the `waiting` workers that can only go on after each other.

    A worker goes on when all its waits end; a request ends when any of its responders answers; a subscription moves
    when any of its workers does. So start with everybody stuck and take out who can move, until nobody more can.
    """
    stuck = {worker for worker in waiting if worker.waits}
    while True:
        moving = {worker for worker in stuck if all(wait.can_end(stuck) for wait in worker.waits)}
        if not moving:
            return stuck
        stuck -= moving


def chain_of(worker: Worker | None) -> list[Subscription]:
    """Return who waits for the end of `worker`: its own subscription, then who requested what it answers, and so on."""
    chain: list[Subscription] = []
    while worker is not None and worker.event is not None:
        chain.append(worker.subscription)
        pending = worker.event._pending
        if pending is None or pending.future.done() or worker.subscription not in pending.responders:
            break
        worker = pending.requester
    return chain


def _takes_next(subscription: Subscription, stuck: Collection[Worker]) -> bool:
    busy = subscription.crew.busy()
    if any(worker not in stuck for worker in busy):
        return True
    return bool(subscription.mailbox.queue) and len(busy) < subscription.crew.concurrency


def _answers(subscription: Subscription, pending: Pending, stuck: Collection[Worker]) -> bool:
    event = pending.event
    ahead = subscription.mailbox.ahead_of(event)
    for worker in subscription.crew.busy():
        if worker.busy_with is event or (ahead is not None and worker.busy_with is ahead):
            return worker not in stuck
    if subscription.mailbox.holds(event):
        return _takes_next(subscription, stuck)
    return True  # handled already; the reply comes later, from somebody whom nobody here can see
