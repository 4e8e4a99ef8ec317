"""One lock a document, which exists only while somebody holds it or waits for it."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterable
from contextlib import AsyncExitStack, asynccontextmanager

import anyio


class KeyedLocks:
    """Fair, cancellable locks by name; nothing is kept for names at rest."""

    def __init__(self) -> None:
        self._locks: dict[str, tuple[anyio.Lock, int]] = {}

    def __len__(self) -> int:
        return len(self._locks)

    def is_held(self, name: str) -> bool:
        """Tell whether somebody holds a lock, or waits for it."""
        return name in self._locks

    @asynccontextmanager
    async def hold(self, names: Iterable[str]) -> AsyncIterator[None]:
        """Hold the locks of several names, taken in sorted order, so that two batches never wait for each other."""
        async with AsyncExitStack() as stack:
            for name in sorted(set(names)):
                await stack.enter_async_context(self._hold_one(name))
            yield

    @asynccontextmanager
    async def _hold_one(self, name: str) -> AsyncIterator[None]:
        lock, users = self._locks.get(name, (anyio.Lock(), 0))
        self._locks[name] = (lock, users + 1)
        try:
            async with lock:
                yield
        finally:
            lock, users = self._locks.pop(name)
            if users > 1:
                self._locks[name] = (lock, users - 1)
