"""Who goes next is decided by a seed: several parties on one disk, one of them at a time, in any order of their steps.

A party is either a process (a thread with an event loop of its own, that stops before each of its steps on the disk
with some chance) or a person (a generator, that stops at each `yield`). Nothing else decides, so a seed gives the same
order each time.
"""

from __future__ import annotations

import random
import threading
from collections.abc import Callable, Generator
from typing import Protocol

STUCK_SECONDS = 10.0
"""A party that has not stopped after so long waits for something that will not come."""


class Party(Protocol):
    """Somebody who does something, a step at a time."""

    name: str

    @property
    def ended(self) -> bool: ...

    def go(self) -> None:
        """Do something, until the next stop. Raises what the party raises."""
        ...


class Person:
    """A party whose steps are those of a generator."""

    def __init__(self, name: str, steps: Generator[None]) -> None:
        self.name = name
        self.ended = False
        self._steps = steps

    def go(self) -> None:
        try:
            next(self._steps)
        except StopIteration:
            self.ended = True


class Stopping:
    """A party in a thread of its own. It is never stopped by force: one that is killed is just not let go on."""

    def __init__(self, name: str, work: Callable[[], None]) -> None:
        self.name = name
        self.ended = False
        self._work = work
        self._may_go, self._has_stopped = threading.Lock(), threading.Lock()
        self._may_go.acquire()
        self._has_stopped.acquire()
        self._error: BaseException | None = None
        self._thread = threading.Thread(target=self._run, name=name, daemon=True)
        self._thread.start()

    def _run(self) -> None:
        self._may_go.acquire()
        try:
            self._work()
        except BaseException as error:  # noqa: BLE001 - raised again where the run is watched
            self._error = error
        self.ended = True
        self._has_stopped.release()

    def go(self) -> None:
        self._may_go.release()
        if not self._has_stopped.acquire(timeout=STUCK_SECONDS):
            raise RuntimeError(f"{self.name} is stuck")
        if self._error is not None:
            raise self._error

    def stop(self) -> None:
        """Let others go on, in the party's own thread."""
        self._has_stopped.release()
        self._may_go.acquire()


class Turns:
    """Parties, and chance. `haste`: how likely a process goes on at a step."""

    def __init__(self, chance: random.Random) -> None:
        self.chance = chance
        self.haste = 0.5
        self.running: Party | None = None
        self.taken = 0
        """Turns so far."""

    def give(self, party: Party) -> None:
        """Let a party go on until its next stop."""
        self.running, before = party, self.running
        self.taken += 1
        try:
            party.go()
        finally:
            self.running = before

    def step(self) -> None:
        """Say, as the running party, that the next step on the disk comes: perhaps others go first."""
        if isinstance(self.running, Stopping) and self.chance.random() >= self.haste:
            self.running.stop()
