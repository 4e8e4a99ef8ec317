"""Hand each event of the bus to the room that answers it."""

from __future__ import annotations

import contextvars
from typing import Any

from bus import Event
from contracts import (
    Forget,
    HeartbeatTick,
    MemoryCompact,
    MemoryGet,
    MemoryRead,
    MemorySearch,
    MemoryWrite,
    SessionEnded,
    SessionStarted,
    TaskStateChange,
    UpdateFact,
)
from openclaw_memory.answering.reads import Reads
from openclaw_memory.answering.replies import Replies
from openclaw_memory.answering.upkeep import Upkeep
from openclaw_memory.answering.writes import Writes

TAKEN = (
    MemoryRead,
    MemorySearch,
    MemoryGet,
    MemoryWrite,
    UpdateFact,
    TaskStateChange,
    SessionStarted,
    SessionEnded,
    MemoryCompact,
    HeartbeatTick,
    Forget,
)
"""The events that memory answers."""


class Answers:
    """Knows the rooms.

    Parameters: `reads`, `writes` and `upkeep`; `replies`, for what must not keep its lane waiting.
    """

    def __init__(self, reads: Reads, writes: Writes, upkeep: Upkeep, replies: Replies) -> None:
        self._reads = reads
        self._writes = writes
        self._upkeep = upkeep
        self._replies = replies

    async def handle(self, event: Event[Any]) -> None:
        """Have an event answered."""
        match event.data:
            # What comes most often comes first: what an event is not costs more to tell than what it is.
            case MemoryWrite() as change:
                await self._writes.write(event, change)
            case MemoryRead() as read:
                await self._reads.read(event, read)
            case MemorySearch() as search:
                await self._reads.search(event, search)
            case MemoryGet() as get:
                await self._reads.get(event, get)
            case SessionStarted() as started:
                await self._reads.started(event, started)
            case SessionEnded() as ended:
                await self._writes.ended(event, ended)
            case MemoryCompact() as compact:
                await self._upkeep.compact(event, compact)
            case HeartbeatTick() as tick:
                # Not in its lane, where whatever comes after it would wait for jobs that may take minutes.
                self._replies.start(self._upkeep.beat(event, tick), contextvars.Context())
            case Forget() as forget:
                # Nor this: it looks through all that is kept.
                self._replies.start(self._upkeep.forget(event, forget), contextvars.Context())
            case change:
                await self._writes.write(event, change)
