"""A loop that never sleeps: its clock jumps to the next timer when nothing else is due."""

from __future__ import annotations

import asyncio
import selectors
from collections.abc import AsyncIterator, Callable
from typing import Any

import pytest

from bus import Event, EventBus


class JumpingSelector(selectors.DefaultSelector):
    """Looks for I/O without waiting; the time that it would have waited is over at once."""

    def __init__(self) -> None:
        super().__init__()
        self.now = 0.0

    def select(self, timeout: float | None = None) -> list[Any]:
        if timeout is None:
            return super().select(None)
        ready = super().select(0)
        if not ready:
            self.now += max(timeout, 0)
        return ready


class VirtualLoop(asyncio.SelectorEventLoop):
    """An event loop with such a clock."""

    def __init__(self) -> None:
        self._jumping = JumpingSelector()
        super().__init__(self._jumping)

    def time(self) -> float:
        return self._jumping.now

    async def shutdown_default_executor(self, timeout: float | None = None) -> None:  # noqa: ASYNC109
        await super().shutdown_default_executor()  # threads end in real time, which no jump must cut short


def pytest_asyncio_loop_factories() -> dict[str, Callable[[], asyncio.AbstractEventLoop]]:
    """Let the tests of this folder run on it."""
    return {"virtual": VirtualLoop}


@pytest.fixture
async def bus() -> AsyncIterator[EventBus]:
    """A bus that is closed afterwards, by force if a test left handlers hanging."""
    bus = EventBus("test")
    yield bus
    await bus.close(timeout=0)


class Recorder:
    """A handler that keeps what it receives; it waits at `gate` while that is closed."""

    def __init__(self) -> None:
        self.events: list[Event[Any]] = []
        self.gate = asyncio.Event()
        self.gate.set()
        self.entered = asyncio.Event()

    @property
    def data(self) -> list[Any]:
        return [event.data for event in self.events]

    @property
    def numbers(self) -> list[int]:
        return [event.data.number for event in self.events]

    async def __call__(self, event: Event[Any]) -> None:
        self.entered.set()
        await self.gate.wait()
        self.events.append(event)


@pytest.fixture
def recorder() -> Callable[[], Recorder]:
    return Recorder


async def _settle() -> None:
    for _ in range(20):
        await asyncio.sleep(0)


@pytest.fixture
def settle() -> Callable[[], Any]:
    """Let everything run that can run without time passing."""
    return _settle
