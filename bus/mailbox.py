"""The bounded queue of a subscription, and the line of publishers before it when it is full."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from bus.events import Event
from bus.lanes import Key, Lanes
from bus.payload import Overflow
from bus.reports import Ledger

if TYPE_CHECKING:
    from bus.subscription import Subscription


class Room:
    """A wait for room: an event in the line before a full mailbox."""

    __slots__ = ("event", "future", "mailbox", "stands_in_line")

    def __init__(self, mailbox: Mailbox, event: Event[Any], future: asyncio.Future[None]) -> None:
        self.mailbox = mailbox
        self.event = event
        self.future = future
        self.stands_in_line = True

    def settle(self) -> None:
        """Let the publisher go on; the event is out of the line."""
        self.stands_in_line = False
        if not self.future.done():
            self.future.set_result(None)

    def give_up(self, reason: str) -> None:
        """Leave the line, if the event still stands in it, and book it as dropped."""
        if self.stands_in_line:
            self.mailbox.line.remove(self)
            self.settle()
            self.mailbox.count_drops([self.event], reason)


class Mailbox:
    """Up to `capacity` queued events, in the order in which they were published.

    Who publishes into a full mailbox stands in `line`. A place that becomes free goes to the first in the line at once,
    so nobody overtakes, and the line is empty unless the mailbox is full.
    """

    __slots__ = (
        "_ledger",
        "_refused",
        "_rouse",
        "capacity",
        "coalesced",
        "dropped",
        "high_water",
        "line",
        "overcommitted",
        "queue",
        "resting",
        "subscription",
    )

    def __init__(
        self,
        subscription: Subscription,
        capacity: int,
        key: Key | None,
        ledger: Ledger,
        rouse: Callable[[], None],
        refused: Callable[[Event[Any], Exception], None],
    ) -> None:
        self.queue: deque[Event[Any]] | Lanes = deque() if key is None else Lanes(key)
        self.capacity = capacity
        self.line: deque[Room] = deque()
        self.resting = 0
        self.dropped = 0
        self.coalesced = 0
        self.overcommitted = 0
        self.high_water = 0
        self.subscription = subscription
        self._ledger = ledger
        self._rouse = rouse
        self._refused = refused

    def put(self, event: Event[Any]) -> Room | None:
        """Queue `event`, or return the wait for room. `Overflow.RAISE` was dealt with before."""
        queue = self.queue
        depth = len(queue)
        if depth >= self.capacity:
            return self._put_into_full(event)
        try:
            queue.append(event)
        except Exception as error:  # noqa: BLE001  # of the subscriber's key function, no business of the publisher
            self._refused(event, error)
            return None
        if depth >= self.high_water:
            self.high_water = depth + 1
        if self.resting > 0:
            self._rouse()
        return None

    def admit(self) -> None:
        """Give places that have become free to the first in the line."""
        while self.line and len(self.queue) < self.capacity:
            self._let_in(self.line.popleft())

    def overcommit(self) -> None:
        """Queue the first in the line over the bound, since nothing else would ever move.

        The first, whoever it is that holds up the others: an event must not overtake the one that caused it.
        """
        self.overcommitted += 1
        self._let_in(self.line.popleft())

    def drop_all(self, reason: str) -> list[Event[Any]]:
        """Empty the queue and the line; return what was in them."""
        lost = [*self.queue, *(room.event for room in self.line)]
        for room in self.line:
            room.settle()
        self.line.clear()
        self.queue.clear()
        self.count_drops(lost, reason)
        return lost

    def count_drops(self, events: list[Event[Any]], reason: str) -> None:
        """Book `events` as dropped."""
        self.dropped += len(events)
        for event in events:
            self._ledger.add(self.subscription.name, event.type, reason)

    def holds(self, event: Event[Any]) -> bool:
        """Tell whether `event` is queued or stands in the line."""
        return event in self.queue or any(room.event is event for room in self.line)

    def ahead_of(self, event: Event[Any]) -> Event[Any] | None:
        """Return the event being handled that keeps `event` in its lane, if it is queued behind one."""
        return self.queue.ahead_of(event) if isinstance(self.queue, Lanes) else None

    def remove(self, event: Event[Any]) -> bool:
        """Take an event back that nobody has handled yet; tell whether it was there."""
        for room in self.line:
            if room.event is event:
                self.line.remove(room)
                room.settle()
                return True
        if event not in self.queue:
            return False
        self.queue.remove(event)
        self.admit()
        return True

    def _put_into_full(self, event: Event[Any]) -> Room | None:
        self._make_room(event)
        room = Room(self, event, asyncio.get_running_loop().create_future())
        self.line.append(room)
        self.admit()
        return None if room.future.done() else room

    def _make_room(self, event: Event[Any]) -> None:
        """Drop what the event's overflow policy gives up for it; never a request that somebody waits for."""
        policy = event.data.overflow
        if policy is Overflow.DROP_OLDEST:
            oldest = next((old for old in self.queue if old.type == event.type and old._pending is None), None)
            if oldest is not None:
                self.queue.remove(oldest)
                self.count_drops([oldest], "queue full, oldest dropped")
        elif policy is Overflow.COALESCE:
            needless = [
                old
                for old in self.queue
                if old.type == event.type and old._pending is None and event.data.can_replace(old.data)
            ]
            for old in needless:
                self.queue.remove(old)
            self.coalesced += len(needless)

    def _let_in(self, room: Room) -> None:
        try:
            self.queue.append(room.event)
        except Exception as error:  # noqa: BLE001  # likewise
            self._refused(room.event, error)
        else:
            self.high_water = max(self.high_water, len(self.queue))
            if self.resting > 0:
                self._rouse()
        room.settle()
