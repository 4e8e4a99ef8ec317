"""What goes back to the bus: replies, those too that come later, and notices."""

from __future__ import annotations

import asyncio
import contextvars
import logging
from collections.abc import Awaitable, Coroutine
from typing import Any

from bus import Event, EventBus, Payload
from contracts import MemoryWrite, MemoryWritten

log = logging.getLogger(__name__)


class Replies:
    """Answers events.

    Parameters: `bus`.
    """

    def __init__(self, bus: EventBus) -> None:
        self._bus = bus
        self._tasks: set[asyncio.Task[None]] = set()

    async def reply(self, event: Event[Any], payload: Payload) -> None:
        """Answer an event."""
        await self._bus.reply(event, payload)

    def reply_nowait(self, event: Event[Any], payload: Payload) -> None:
        """Answer from where nothing can be awaited; a bus whose queue is full is waited for in the background."""
        full = self._bus.reply_nowait(event, payload)
        if full is not None:
            self.start(_awaited(full))

    async def publish(self, payload: Payload) -> None:
        """Put a notice on the bus."""
        await self._bus.publish(payload)

    async def apply(self, write: MemoryWrite) -> MemoryWritten:
        """Send what another process handed in through the bus, as if it had been published here."""
        return await self._bus.request(write, timeout=None)

    def start(self, coroutine: Coroutine[Any, Any, None], context: contextvars.Context | None = None) -> None:
        """Begin what ends in a reply, beside the lanes."""
        task = asyncio.get_running_loop().create_task(coroutine, context=context)
        self._tasks.add(task)
        task.add_done_callback(self._ended)

    def _ended(self, task: asyncio.Task[None]) -> None:
        self._tasks.discard(task)
        if not task.cancelled() and (error := task.exception()) is not None:
            log.error("a reply could not be published", exc_info=error)

    @property
    def waiting(self) -> int:
        """How many are still to be given."""
        return len(self._tasks)

    async def given(self) -> None:
        """Return when every reply was given."""
        while self._tasks:
            await asyncio.wait(self._tasks)


async def _awaited(something: Awaitable[None]) -> None:
    await something
