"""What goes on beside the answers, each thing a task of its own."""

from __future__ import annotations

import asyncio
import contextvars
import logging
from collections.abc import Callable, Coroutine
from typing import Any

log = logging.getLogger(__name__)


class Background:
    """Tasks that run until `stop`.

    Parameters: `report`, called with a task's name and what became of it when it stops by itself.
    """

    def __init__(self, report: Callable[[str, str], None]) -> None:
        self._report = report
        self._tasks: list[asyncio.Task[None]] = []

    def start(self, name: str, coroutine: Coroutine[Any, Any, None]) -> None:
        """Begin something; `name` says what, after `openclaw-memory`."""
        # A context of its own: this may be called from a handler, whose outbox and requests are none of its business.
        loop, context = asyncio.get_running_loop(), contextvars.Context()
        task = loop.create_task(coroutine, name=f"openclaw-memory {name}", context=context)
        task.add_done_callback(self._ended)
        self._tasks.append(task)

    def _ended(self, task: asyncio.Task[None]) -> None:
        if not task.cancelled() and (error := task.exception()) is not None:
            log.error("%s has stopped; what is acknowledged is in the journal", task.get_name(), exc_info=error)
            self._report(task.get_name(), f"{task.get_name()} has stopped: {error}")

    async def stop(self) -> None:
        """Cancel everything, and return when it has ended."""
        for task in self._tasks:
            task.cancel()
        if self._tasks:
            await asyncio.wait(self._tasks)
