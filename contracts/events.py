"""Every event of memory, in one place."""

from __future__ import annotations

from bus.payload import Payload
from contracts.reading import MemoryContext, MemoryDocument, MemoryGet, MemoryRead, MemoryResults, MemorySearch
from contracts.sessions import MemoryCompact, MemoryCompacted, SessionEnded, SessionStarted
from contracts.upkeep import Forget, Forgotten, HeartbeatDone, HeartbeatTick, MemoryDegraded, MemoryRecovered
from contracts.writing import MemoryWrite, MemoryWritten, TaskStateChange, UpdateFact

EVENTS: tuple[type[Payload], ...] = (
    MemoryRead,
    MemoryContext,
    MemoryWrite,
    MemoryWritten,
    UpdateFact,
    TaskStateChange,
    MemorySearch,
    MemoryResults,
    MemoryGet,
    MemoryDocument,
    SessionStarted,
    SessionEnded,
    MemoryCompact,
    MemoryCompacted,
    HeartbeatTick,
    HeartbeatDone,
    Forget,
    Forgotten,
    MemoryDegraded,
    MemoryRecovered,
)
"""Every event of memory, in the order of the documentation."""
