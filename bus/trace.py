"""Hooks for whoever wants to watch the bus at work, an OpenTelemetry exporter for instance."""

from __future__ import annotations

import logging
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager
from typing import Any

Trace = Callable[[str, Mapping[str, Any]], None]
"""Called with `publish.started`, `.complete` or `.failed` (likewise `handle.`, `request.`) and what it is about:
`event`, and where they apply `subscription`, `reply`, `error`."""

_log = logging.getLogger("bus")


class Tracer:
    """Calls the hook; a fault in it is logged and stops nothing."""

    __slots__ = ("hook",)

    def __init__(self, hook: Trace | None) -> None:
        self.hook = hook

    def tell(self, name: str, info: Mapping[str, Any]) -> None:
        """Call the hook, if there is one."""
        if self.hook is None:
            return
        try:
            self.hook(name, info)
        except Exception:  # noqa: BLE001  # logged
            _log.exception("the trace hook of the bus failed at %s", name)

    @asynccontextmanager
    async def span(self, name: str, info: dict[str, Any]) -> AsyncIterator[None]:
        """Tell of the start and the end of what runs inside; what is put into `info` meanwhile is told at the end."""
        self.tell(f"{name}.started", info)
        try:
            yield
        except BaseException as error:
            self.tell(f"{name}.failed", {**info, "error": error})
            raise
        self.tell(f"{name}.complete", info)
