"""Who serves the root from this process: its owner, or a guest beside another process that owns it."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable
from datetime import datetime

from contracts import MemoryWrite, MemoryWritten
from openclaw_memory.clock import Clock
from openclaw_memory.config import MemoryConfig
from openclaw_memory.context.tokens import TokenCounter
from openclaw_memory.errors import RootInUseError
from openclaw_memory.events import Change
from openclaw_memory.guest import Guest
from openclaw_memory.owner import Owner
from openclaw_memory.reader import Reader
from openclaw_memory.storage.files import Files

log = logging.getLogger(__name__)


class Serving:
    """Serves by `owner` or by `guest`.

    Parameters: as those of `Owner`.
    """

    def __init__(
        self,
        config: MemoryConfig,
        clock: Clock,
        files: Files,
        counter: TokenCounter,
        new_id: Callable[[datetime], str],
        troubled: Callable[[str | None], None],
        apply: Callable[[MemoryWrite], Awaitable[MemoryWritten]],
    ) -> None:
        self._config, self._clock, self._files, self._new_id = config, clock, files, new_id
        self._troubled, self._apply = troubled, apply
        self.counter = counter
        self.owner: Owner | None = None
        self.guest: Guest | None = None
        self._taking_over = asyncio.Lock()

    async def open(self) -> None:
        """Become the owner, or a guest where another process owns the folder."""
        try:
            await self._own()
        except RootInUseError as error:
            log.info("%s; reading beside it", error)
            guest = Guest(self._config, self._clock, self._files, self.counter, self._new_id, error.owner)
            await guest.open()
            self.guest = guest

    async def _own(self) -> None:
        """Become the one who writes the folder. Raises: `RootInUseError`."""
        owner = Owner(self._config, self._clock, self._files, self.counter, self._new_id, self._troubled, self._apply)
        await owner.open()
        self.owner, self.guest = owner, None

    async def close(self) -> None:
        """Write everything down and let go of the folder."""
        try:
            if self.owner is not None:
                await self.owner.close()
        finally:
            if self.guest is not None:
                await self.guest.close()

    @property
    def now(self) -> Owner | Guest:
        """Whoever serves now."""
        serving = self.owner or self.guest
        assert serving is not None
        return serving

    @property
    def reader(self) -> Reader:
        """What answers questions now."""
        return self.now.reader

    @property
    def hands_in(self) -> bool:
        """Whether writes are handed in.

        While a take-over applies what was handed in before, nobody's own write goes ahead of it.
        """
        return self.owner is None or self._taking_over.locked()

    async def hand_in(self, change: Change) -> MemoryWritten | None:
        """Give a write to the folder's owner; None when it is gone and this process has taken its place."""
        async with self._taking_over:
            if self.owner is not None:
                return None
            assert self.guest is not None
            guest = self.guest
            try:
                await self._own()
            except RootInUseError:
                pass
            else:
                log.info("the owner of the folder is gone; this process has taken its place")
                try:
                    await guest.close()
                    await self._owner_now().serve_what_waits()
                finally:
                    # What could not be served is served by this; and without it nothing would ever be rewritten.
                    self._owner_now().work()
                return None
        return await guest.hand_in(change)

    def _owner_now(self) -> Owner:
        assert self.owner is not None
        return self.owner
