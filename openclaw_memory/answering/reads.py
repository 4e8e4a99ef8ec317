"""Answer the events that ask: contexts, searches, documents, the start of a session."""

from __future__ import annotations

import logging
from typing import Any

from bus import Event
from contracts import (
    MemoryContext,
    MemoryDocument,
    MemoryGet,
    MemoryRead,
    MemoryResults,
    MemorySearch,
    SessionStarted,
    prompt_text,
)
from openclaw_memory.answering.lanes import Lanes
from openclaw_memory.answering.replies import Replies
from openclaw_memory.answering.serving import Serving
from openclaw_memory.config import MemoryConfig
from openclaw_memory.supplied import Supplied

log = logging.getLogger(__name__)


_UNAVAILABLE = {
    "zh": "[记忆系统不可用，使用最小上下文]",
    "en": "[memory is unavailable, this is the smallest possible context]",
}


class Reads:
    """Answers by the reader.

    Parameters: `config`; `serving`, who serves the root; `replies`; `lanes`; `supplied`, which remembers what a
    session was given.
    """

    def __init__(
        self, config: MemoryConfig, serving: Serving, replies: Replies, lanes: Lanes, supplied: Supplied
    ) -> None:
        self._config = config
        self._serving = serving
        self._replies = replies
        self._lanes = lanes
        self._supplied = supplied

    async def read(self, event: Event[Any], read: MemoryRead) -> None:
        await self._lanes.own_writes(event)
        try:
            context = await self._serving.reader.context(read)
            self._supplied.note(read.session_id, context)
        except Exception as error:
            log.exception("memory:read failed")
            context = self._minimal(read.max_tokens, str(error))
        await self._replies.reply(event, context)

    async def search(self, event: Event[Any], search: MemorySearch) -> None:
        await self._lanes.own_writes(event)
        try:
            results = await self._serving.reader.search(search)
        except Exception as error:
            log.exception("memory:search failed")
            results = MemoryResults(results=(), degraded=True, notice=str(error))
        await self._replies.reply(event, results)

    async def get(self, event: Event[Any], get: MemoryGet) -> None:
        try:
            document = await self._serving.reader.get(get)
        except Exception as error:
            log.exception("memory:get failed")
            document = MemoryDocument(path=get.path, text="", truncated=False, notice=str(error))
        await self._replies.reply(event, document)

    async def started(self, event: Event[Any], started: SessionStarted) -> None:
        await self._lanes.own_writes(event)
        try:
            context = await self._serving.reader.started(started)
            self._supplied.note(started.session_id, context)
        except Exception as error:
            log.exception("session:started failed")
            context = self._minimal(self._config.session_start_tokens, str(error))
        await self._replies.reply(event, context)

    def _minimal(self, max_tokens: int, reason: str) -> MemoryContext:
        """Give seed 000 section 7.3's reply; within the budget even then."""
        context = MemoryContext(
            facts=(_UNAVAILABLE[self._config.language],), tasks=(), summaries=(), degraded=True, notice=reason
        )
        if self._serving.counter.count(prompt_text(context)) > max_tokens:
            return context.model_copy(update={"facts": (), "truncated": True})
        return context
