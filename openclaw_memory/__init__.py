"""Memory for personal agents: an asyncio event-bus plugin that keeps what it was told in Markdown files."""

from __future__ import annotations

from openclaw_memory.actor import Memory
from openclaw_memory.clock import Clock, ManualClock, SystemClock
from openclaw_memory.config import MemoryConfig
from openclaw_memory.errors import ConfigError, OpenClawMemoryError, RootInUseError
from openclaw_memory.status import Status

__all__ = [
    "Clock",
    "ConfigError",
    "ManualClock",
    "Memory",
    "MemoryConfig",
    "OpenClawMemoryError",
    "RootInUseError",
    "Status",
    "SystemClock",
]
