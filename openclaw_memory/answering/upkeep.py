"""Answer the events of upkeep: a heartbeat, a compaction, a wish to forget."""

from __future__ import annotations

import logging
from collections.abc import Awaitable, Callable
from typing import Any

from bus import Event
from contracts import (
    Forget,
    Forgotten,
    HeartbeatDone,
    HeartbeatTick,
    JobReport,
    MemoryCompact,
    MemoryCompacted,
)
from openclaw_memory.answering.lanes import Lanes
from openclaw_memory.answering.replies import Replies
from openclaw_memory.answering.serving import Serving
from openclaw_memory.errors import OpenClawMemoryError
from openclaw_memory.lifecycle.heartbeat import NAME as HEARTBEAT
from openclaw_memory.lifecycle.jobs import Outcome

log = logging.getLogger(__name__)


class Upkeep:
    """Has the owner of the folder do it.

    Parameters: `serving`, who serves the root; `replies`; `lanes`; `taken`, which waits for what was published before.
    """

    def __init__(
        self, serving: Serving, replies: Replies, lanes: Lanes, taken: Callable[[], Awaitable[object]]
    ) -> None:
        self._serving = serving
        self._replies = replies
        self._lanes = lanes
        self._taken = taken

    async def compact(self, event: Event[Any], compact: MemoryCompact) -> None:
        """Make a session's history shorter; one who reads beside the folder's owner has that one do it."""
        await self._lanes.own_writes(event)
        why: str
        try:
            if self._serving.owner is not None:
                await self._replies.reply(event, await self._serving.owner.compactor.compact(compact))
                return
            assert self._serving.guest is not None
            done = await self._serving.guest.compact(compact)
            if done is not None:
                await self._replies.reply(event, done)
                return
            why = self._serving.guest.not_mine("compactions")
        except Exception as error:
            if not isinstance(error, OpenClawMemoryError):
                log.exception("memory:compact failed")
            why = f"nothing was dropped: {error}"
        try:
            kept = await self._serving.reader.history_length(compact.session_id)
        except Exception:
            log.exception("the history of %s can't be read", compact.session_id)
            kept = 0
        nothing = MemoryCompacted(session_id=compact.session_id, kept=kept, dropped=0, flushed_keys=(), notice=why)
        await self._replies.reply(event, nothing)

    async def beat(self, event: Event[Any], tick: HeartbeatTick) -> None:
        """Run what is due; one who reads beside the folder's owner leaves it to that one."""
        reports: list[tuple[str, Outcome]]
        if self._serving.owner is None:
            assert self._serving.guest is not None
            reports = [
                (HEARTBEAT, Outcome("skipped", message=self._serving.guest.not_mine("the jobs of the heartbeat")))
            ]
        else:
            try:
                reports = await self._serving.owner.heartbeat.tick(tick.now)
            except Exception as error:
                log.exception("heartbeat:tick failed")
                reports = [(HEARTBEAT, Outcome("failed", message=str(error)))]
        jobs = tuple(JobReport(name=name, outcome=o.outcome, keys=o.keys, message=o.message) for name, o in reports)
        await self._replies.reply(event, HeartbeatDone(jobs=jobs))

    async def forget(self, event: Event[Any], forget: Forget) -> None:
        """Forget what the owner asks to be forgotten.

        The event names no session. It is taken as the owner's own wish, over all sessions: whoever has the bus sees to
        it that only the owner's sessions publish it. Beside the folder's owner it is handed to that one.
        """
        try:
            # It names no session, so it has no place in the order of any: what was published before comes first.
            await self._taken()
            if self._serving.owner is None:
                assert self._serving.guest is not None
                forgotten = await self._serving.guest.forget(forget)
            else:
                forgotten = await self._serving.owner.forget(forget)
        except Exception as error:
            log.exception("memory:forget failed")
            forgotten = Forgotten(dry_run=forget.dry_run, places=(), total=0, verified=False, notice=str(error))
        await self._replies.reply(event, forgotten)
