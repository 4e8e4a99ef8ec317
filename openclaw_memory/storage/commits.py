"""What becomes of a draft on its way to the disk."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable
from typing import Any, TypeVarTuple

import anyio
import anyio.lowlevel

from openclaw_memory.errors import OpenClawMemoryError

log = logging.getLogger(__name__)

Given = TypeVarTuple("Given")


class Commit:
    """Drafts that share a record: `wait` for it, or be called. `error` is None when it is durable."""

    def __init__(self, position: int) -> None:
        self.position = position
        self.drafts = 0
        self.operations: list[bytes] = []
        """As JSON."""
        self.paths: set[str] = set()
        """Documents that the drafts change."""
        self.documents: dict[str, Any] = {}
        """They as they are after the last of the drafts, from when no more can join."""
        self.error: OpenClawMemoryError | None = None
        self._is_settled = False
        self._settled: anyio.Event | None = None
        """Made for the first who waits: most commits are never waited for, and an event is dear."""
        self._callbacks: list[tuple[Callable[..., None], tuple[Any, ...]]] = []

    def add(self, paths: Iterable[str], operations: Iterable[bytes]) -> None:
        """Let the record hold another draft as well: the documents that it changes, and its operations as JSON."""
        self.drafts += 1
        self.operations += operations
        self.paths.update(paths)

    @property
    def is_settled(self) -> bool:
        """Whether it is decided."""
        return self._is_settled

    async def wait(self) -> None:
        """Return when it is decided whether the draft is durable; cancelling the wait changes nothing."""
        if self._is_settled:
            await anyio.lowlevel.checkpoint()
            return
        if self._settled is None:
            self._settled = anyio.Event()
        await self._settled.wait()

    def call_when_settled(self, callback: Callable[[Commit, *Given], None], *arguments: *Given) -> None:
        """Call `callback` in the event loop with this commit and `arguments` once it is decided; at once when it is."""
        if self._is_settled:
            callback(self, *arguments)
        else:
            self._callbacks.append((callback, arguments))

    def settle(self, error: OpenClawMemoryError | None) -> None:
        """Decide it."""
        self.error = error
        self._is_settled = True
        if self._settled is not None:
            self._settled.set()
        # Callbacks know what knows this commit: if it kept them, only the garbage collector could free all of it.
        callbacks, self._callbacks = self._callbacks, []
        for callback, arguments in callbacks:
            try:
                callback(self, *arguments)
            except Exception:
                # The others, and the commits decided with this one, have somebody who waits for them too.
                log.exception("a callback of a commit failed")
