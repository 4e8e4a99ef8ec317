"""Memory for personal agents: an asyncio event-bus plugin that keeps what it was told in Markdown files.

What is named here is loaded when it is first used: the command line, which imports this package to get anywhere, would
otherwise wait for indexes and encodings before it can print its help.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from openclaw_memory.actor import Memory
    from openclaw_memory.clock import Clock, ManualClock, SystemClock
    from openclaw_memory.config import MemoryConfig
    from openclaw_memory.errors import ConfigError, OpenClawMemoryError, RootInUseError
    from openclaw_memory.status import Status
else:
    _PLACES = {
        "Clock": "clock",
        "ConfigError": "errors",
        "ManualClock": "clock",
        "Memory": "actor",
        "MemoryConfig": "config",
        "OpenClawMemoryError": "errors",
        "RootInUseError": "errors",
        "Status": "status",
        "SystemClock": "clock",
    }

    def __getattr__(name):
        place = _PLACES.get(name)
        if place is None:
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
        from importlib import import_module

        value = globals()[name] = getattr(import_module(f"{__name__}.{place}"), name)
        return value

    def __dir__():
        return sorted({*globals(), *_PLACES})


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
