"""Memory beside another process that owns the root: reads the files and the journal, hands writes in."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime
from typing import Any

import anyio
import anyio.to_thread

from contracts import Forget, Forgotten, MemoryCompact, MemoryCompacted, MemoryWritten
from openclaw_memory.catalog import Catalog
from openclaw_memory.clock import Clock
from openclaw_memory.config import MemoryConfig
from openclaw_memory.context.tokens import TokenCounter
from openclaw_memory.discretion import without_secrets
from openclaw_memory.errors import Refused
from openclaw_memory.events import Change
from openclaw_memory.layers.rooms import format_of
from openclaw_memory.lifecycle.promotion.told import ORDER
from openclaw_memory.masking.kinds import told
from openclaw_memory.meaning import meaning_of
from openclaw_memory.reader import Reader
from openclaw_memory.retrieval.index import InMemoryIndex
from openclaw_memory.retrieval.status import IndexStatus
from openclaw_memory.status import Status
from openclaw_memory.storage.files import Files
from openclaw_memory.storage.follower import Follower
from openclaw_memory.storage.inbox import Inbox
from openclaw_memory.workspace import elsewhere
from openclaw_memory.writing.changes import items_of, with_items

POLL_SECONDS = 0.05
ORDER_SECONDS = 30.0
"""How long the owner may take to compact or to promote, which may ask a model."""
PATIENCE_SECONDS = 5.0
"""How long the owner's reply is waited for. What was handed in is safe before that."""
FORGETTING_SECONDS = 120.0
"""The same for a wish to forget, which is answered when all that is kept was looked through."""


class Guest:
    """Serves by `reader` and `hand_in`.

    Parameters: as those of `Owner`; `owner`, who has the root, in words.
    """

    def __init__(
        self,
        config: MemoryConfig,
        clock: Clock,
        files: Files,
        counter: TokenCounter,
        new_id: Callable[[datetime], str],
        owner: str,
    ) -> None:
        self._clock = clock
        self._new_id = new_id
        self._owner = owner
        self._catalog = Catalog(InMemoryIndex(), config.zone)
        self._follower = Follower(
            config.memory_folder, files, clock, format_of, self._catalog.changed, elsewhere(config)
        )
        self._secrets, self._language = config.secrets, config.language
        self._inbox = Inbox(config.memory_folder, files)
        self._meaning = meaning_of(config, lambda: self._catalog.index, clock, owned=False)
        self.reader = Reader(self._follower, self._catalog, config, clock, counter, self._meaning)

    async def open(self) -> None:
        """Read everything."""
        try:
            if self._meaning is not None:
                await self._meaning.open()
            await self.reader.look(everywhere=True)
        except BaseException:
            with anyio.CancelScope(shield=True):
                await self.close()
            raise

    async def close(self) -> None:
        """Let go of what the owner made."""
        if self._meaning is not None:
            await self._meaning.close()

    async def hand_in(self, change: Change) -> MemoryWritten:
        """Give a write without its secrets to the owner, and wait a while for what becomes of it.

        Raises: `OSError` when it can't be handed in, `Refused`; then nothing was.
        """
        if not self._secrets.mask:
            return await self._hand_in(change)
        # The file that it is handed in by may lie there for long.
        discreet = await without_secrets(items_of(change), self._language)
        if not discreet.kinds:
            return await self._hand_in(change)
        written = await self._hand_in(with_items(change, discreet.items))
        words = told(discreet.kinds, self._language)
        return written.model_copy(update={"message": f"{written.message}; {words}" if written.message else words})

    async def _hand_in(self, change: Change) -> MemoryWritten:
        name = self._new_id(self._clock.now())
        event: dict[str, Any] = {"type": change.event_type, "data": change.model_dump(mode="json", by_alias=True)}
        _date(event["data"].get("content"), self._clock.now().isoformat())
        await anyio.to_thread.run_sync(self._inbox.hand_in, name, event)
        reply = await self._reply(name, PATIENCE_SECONDS)
        if reply is not None:
            return MemoryWritten.model_validate(reply)
        return MemoryWritten(
            key="",
            success=True,
            degraded=False,
            message=f"handed in to {self._owner}, which has not answered yet; it, or the next owner, applies it",
            durability="synced",
        )

    async def forget(self, forget: Forget) -> Forgotten:
        """Give a wish to forget to the owner, and wait for what becomes of it; nothing is forgotten from here.

        Raises: `OSError` when it can't be handed in.
        """
        name = self._new_id(self._clock.now())
        event = {"type": forget.event_type, "data": forget.model_dump(mode="json", by_alias=True, exclude_none=True)}
        await anyio.to_thread.run_sync(self._inbox.hand_in, name, event)
        reply = await self._reply(name, FORGETTING_SECONDS)
        if reply is not None:
            return Forgotten.model_validate(reply)
        notice = f"handed in to {self._owner}, which has not answered yet; it, or the next owner, does it"
        return Forgotten(dry_run=forget.dry_run, places=(), total=0, verified=False, notice=notice)

    async def compact(self, asked: MemoryCompact) -> MemoryCompacted | None:
        """Have the owner make a session's history shorter; None when it has not answered in time.

        Raises: `OSError` when it can't be handed in; `Refused` with what the owner says against it.
        """
        event = {"type": asked.event_type, "data": asked.model_dump(mode="json", by_alias=True, exclude_none=True)}
        reply = await self._ordered(event)
        return None if reply is None else MemoryCompacted.model_validate(reply)

    async def promote(self, action: str) -> dict[str, Any]:
        """Have the owner promote, or tell what it would.

        Raises: `OSError` when it can't be handed in; `Refused` with what the owner says against it, or when it has not
        answered in time.
        """
        reply = await self._ordered({"type": ORDER, "data": {"action": action}})
        if reply is None:
            raise Refused("action", f"{self._owner} has not answered yet; it, or the next owner, does it")
        return reply

    async def _ordered(self, event: dict[str, Any]) -> dict[str, Any] | None:
        name = self._new_id(self._clock.now())
        await anyio.to_thread.run_sync(self._inbox.hand_in, name, event)
        reply = await self._reply(name, ORDER_SECONDS)
        if isinstance(reply, dict) and set(reply) == {"problem"}:
            raise Refused("owner", str(reply["problem"]))
        return reply if isinstance(reply, dict) else None

    async def _reply(self, name: str, seconds: float) -> Any:
        """Wait for the reply to something that was handed in; None when none came."""
        until = self._clock.monotonic() + seconds
        while self._clock.monotonic() < until:
            reply = await anyio.to_thread.run_sync(self._inbox.reply, name)
            if reply is not None:
                return reply
            await self._clock.sleep_until(self._clock.monotonic() + POLL_SECONDS)
        return None

    def not_mine(self, what: str) -> str:
        """Say that something is the owner's to do."""
        return f"{what} belong to {self._owner}, which writes the folder; ask it, or stop it and ask again"

    def index_status(self) -> IndexStatus:
        """Tell what the index holds, which a guest keeps in memory. For a thread."""
        self._catalog.feed()
        return self._catalog.index.status()

    def status(self) -> Status:
        """Tell how memory is."""
        return Status(
            running=True,
            owner=self._owner,
            unreadable=self._follower.problems(),
            front_matter=self._catalog.front_matter_problems(),
            embedding=None if self._meaning is None else self._meaning.progress,
        )


def _date(content: Any, now: str) -> None:
    """Give messages without a time the one at which they are handed in: that is the day they belong to."""
    if not isinstance(content, dict):
        return
    for message in [content, *content.get("messages", ())]:
        if "role" in message and message.get("timestamp") is None:
            message["timestamp"] = now
    for item in content.get("items", ()):
        _date(item["data"].get("content"), now)
