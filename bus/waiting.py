"""The handlers of one bus that wait for something the bus knows of, and what frees them when they would stand still."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager

from bus.deadlock import ReplyWait, RoomWait, Wait, find_stuck
from bus.errors import RequestCycleError
from bus.mailbox import Room
from bus.requests import Pending
from bus.worker import Worker, held_up_worker


class Waiting:
    """Keeps the workers that wait; each new wait is looked at for the cycle that it could close."""

    __slots__ = ("_host", "_workers")

    def __init__(self, host: object) -> None:
        self._host = host
        self._workers: dict[Worker, None] = {}

    def __bool__(self) -> bool:
        return bool(self._workers)

    async def for_room(self, rooms: Sequence[Room]) -> None:
        """Wait until all `rooms` were given; leave the lines when cancelled."""
        try:
            with self.of_worker(held_up_worker(self._host), [RoomWait(room) for room in rooms]):
                for room in rooms:
                    await room.future
        finally:
            for room in rooms:
                room.give_up("publisher cancelled")

    @contextmanager
    def of_worker(self, worker: Worker | None, waits: Sequence[Wait]) -> Iterator[None]:
        """Let `worker` wait for `waits` inside; nobody needs to know of the waits of those outside any handler."""
        if worker is None:
            yield
            return
        worker.waits.extend(waits)
        self._workers[worker] = None
        try:
            self.free(worker)
            yield
        finally:
            for wait in waits:
                worker.waits.remove(wait)
            if not worker.waits:
                self._workers.pop(worker, None)

    def free(self, newest: Worker | None = None) -> None:
        """Free workers that could only go on after each other.

        Room is given over the bound, one event at a time; where only requests wait for each other, one of them fails.
        """
        if newest is not None and all(wait.can_end(self._workers) for wait in newest.waits):
            return  # it moves although all others may stand still, so it holds up nobody; nearly always so
        while stuck := find_stuck(self._workers):
            order = sorted(stuck, key=lambda worker: worker is not newest)
            waits = [wait for worker in order for wait in worker.waits]
            room = next((w.room for w in waits if isinstance(w, RoomWait) and not w.room.future.done()), None)
            if room is not None:
                room.mailbox.overcommit()
            else:
                refuse(next(w.pending for w in waits if isinstance(w, ReplyWait) and not w.pending.future.done()))


def refuse(pending: Pending) -> None:
    """Fail a request that nobody can answer as things stand, and take it back from those who have not seen it."""
    requester = pending.requester.subscription.name if pending.requester is not None else "the requester"
    responders = sorted(subscription.name for subscription in pending.responders)
    pending.fail(RequestCycleError(pending.event.type, [requester, " and ".join(responders), requester]))
    for subscription in pending.responders:
        subscription.mailbox.remove(pending.event)
