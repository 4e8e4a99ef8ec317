"""Answer the events that change memory, and the end of a session, which writes a note."""

from __future__ import annotations

import asyncio
import logging
from typing import Any

from bus import Event
from contracts import MemoryWritten, SessionEnded
from openclaw_memory.answering.lanes import Lanes, lane_of
from openclaw_memory.answering.replies import Replies
from openclaw_memory.answering.serving import Serving
from openclaw_memory.config import MemoryConfig
from openclaw_memory.errors import OpenClawMemoryError, Refused
from openclaw_memory.events import Change
from openclaw_memory.storage.commits import Commit
from openclaw_memory.supplied import Supplied
from openclaw_memory.writer import Planned

log = logging.getLogger(__name__)


MOST_IN_FLIGHT = 1_000
"""Writes that may wait for the journal, or replies for their watchers, before the lanes wait with them."""

_WRITE_FAILED = {
    "zh": "记忆写入失败，但用户交互不受影响",
    "en": "memory could not be written; the conversation can go on",
}


class Writes:
    """Has events planned, and answers each when it is decided.

    Parameters: `config`; `serving`, who serves the root; `replies`; `lanes`; `supplied`, which knows what a session was
    given.
    """

    def __init__(
        self, config: MemoryConfig, serving: Serving, replies: Replies, lanes: Lanes, supplied: Supplied
    ) -> None:
        self._config = config
        self._serving = serving
        self._replies = replies
        self._lanes = lanes
        self._supplied = supplied

    async def write(self, event: Event[Any], change: Change) -> None:
        """Plan an event, or hand it in, and answer it when it is durable."""
        try:
            if self._serving.hands_in:
                handed_in = await self._serving.hand_in(change)
                if handed_in is not None:
                    await self._replies.reply(event, handed_in)
                    return
            owner = self._serving.owner
            assert owner is not None
            writer, supplied = owner.writer, self._supplied.of(change.session_id)
            planned = writer.write_at_once(change, supplied) or await writer.write_waiting(change, supplied)
        except Refused as refusal:
            await self._replies.reply(event, MemoryWritten(key="", success=False, degraded=False, message=str(refusal)))
            return
        except Exception as error:
            if not isinstance(error, OpenClawMemoryError):
                log.exception("%s failed", event.type)
            await self._replies.reply(event, self._failed(str(error)))
            return
        if planned.commit.is_settled:
            # Nothing had to be done. A callback at once would answer from within this handler, which can wait.
            await self._replies.reply(event, self._written(planned))
            return
        lane = lane_of(event)
        self._lanes.wrote(lane, planned.commit)
        # The lane goes on with its next event; the reply goes out when the journal is durable.
        planned.commit.call_when_settled(self._settled, event, lane, planned)
        if max(owner.in_flight, self._replies.waiting) > MOST_IN_FLIGHT:
            # A burst waits on the bus, where queues are bounded, and not in here.
            await planned.commit.wait()
            await asyncio.sleep(0)

    async def ended(self, event: Event[Any], ended: SessionEnded) -> None:
        """Put the key points of a session into the day's log, by a write like any other (seed 003 section 26.3.3)."""
        await self._lanes.own_writes(event)
        written: MemoryWritten
        try:
            note = await self._serving.reader.ended(ended)
        except Refused as refusal:
            written = MemoryWritten(key="", success=False, degraded=False, message=str(refusal))
        except Exception as error:
            log.exception("session:ended failed")
            written = self._failed(str(error))
        else:
            if note is not None:
                await self.write(event, note)
                return
            nothing = f"nothing was said in {ended.session_id} that the log does not have already"
            written = MemoryWritten(key="", success=False, degraded=False, message=nothing)
        await self._replies.reply(event, written)

    def _settled(self, commit: Commit, event: Event[Any], lane: str, planned: Planned) -> None:
        self._lanes.settled(lane, commit)
        try:
            self._replies.reply_nowait(event, self._written(planned))
        except Exception:
            log.exception("a reply could not be published")

    def _written(self, planned: Planned) -> MemoryWritten:
        if planned.commit.error is not None:
            return self._failed(str(planned.commit.error))
        return planned.written(self._config.durability)

    def _failed(self, reason: str) -> MemoryWritten:
        message = f"{_WRITE_FAILED[self._config.language]}: {reason}"
        return MemoryWritten(key="", success=False, degraded=True, message=message)
