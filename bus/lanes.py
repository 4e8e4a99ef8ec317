"""A queue that keeps the events of one key in order and lets those of different keys run side by side."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Hashable, Iterator
from typing import Any

from bus.events import Event

Key = Callable[[Event[Any]], Hashable]


class Lanes:
    """Lanes of events, one for each key. Stands where a `deque` stands that has one lane only.

    Like a deque it is false when nothing can be taken *now*; `len` counts everything queued. Lanes take turns, so that
    one with much to do does not hold up the others.
    """

    __slots__ = ("_busy", "_key", "_lanes", "_queued", "_ready")

    def __init__(self, key: Key) -> None:
        self._key = key
        self._lanes: dict[Hashable, deque[Event[Any]]] = {}
        self._ready: deque[Hashable] = deque()
        self._busy: dict[Event[Any], Hashable] = {}
        self._queued: dict[Event[Any], Hashable] = {}

    def __bool__(self) -> bool:
        return bool(self._ready)

    def __len__(self) -> int:
        return len(self._queued)

    def __iter__(self) -> Iterator[Event[Any]]:
        """Go through what is queued, oldest first."""
        return iter(self._queued)

    def append(self, event: Event[Any]) -> None:
        """Queue `event` behind those of its key; raise what the key function raises."""
        key = self._key(event)
        lane = self._lanes.get(key)
        if lane is None:
            self._lanes[key] = deque((event,))
            self._ready.append(key)
        else:
            lane.append(event)
        self._queued[event] = key

    def popleft(self) -> Event[Any]:
        """Take the next event; its lane rests until `done`."""
        key = self._ready.popleft()
        event = self._lanes[key].popleft()
        self._busy[event] = key
        del self._queued[event]
        return event

    def done(self, event: Event[Any]) -> None:
        """Open the lane of `event`, which was taken and is handled now."""
        key = self._busy.pop(event)
        if self._lanes[key]:
            self._ready.append(key)
        else:
            del self._lanes[key]

    def remove(self, event: Event[Any]) -> None:
        """Take `event` out of the middle of its lane; raise KeyError when it is not queued."""
        key = self._queued.pop(event)
        lane = self._lanes[key]
        lane.remove(event)
        if not lane and key not in self._busy.values():
            del self._lanes[key]
            self._ready.remove(key)

    def clear(self) -> None:
        """Forget everything that is queued; lanes that are busy stay busy."""
        self._lanes = {key: deque() for key in self._busy.values()}
        self._ready.clear()
        self._queued.clear()

    def ahead_of(self, event: Event[Any]) -> Event[Any] | None:
        """Return the event being handled that `event`, queued, has to wait for in its lane."""
        if event not in self._queued:
            return None
        key = self._queued[event]
        return next((running for running, lane in self._busy.items() if lane == key), None)
