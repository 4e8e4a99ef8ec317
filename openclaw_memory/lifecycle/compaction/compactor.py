"""Make a session's history shorter: pre-flush, summary and the place where history begins, as one record."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Any

import anyio.to_thread

from contracts import MemoryCompact, MemoryCompacted
from contracts.fields import SessionKind
from openclaw_memory.context.visibility import audience, kind_of, policies
from openclaw_memory.errors import StaleMaterialError
from openclaw_memory.layers import conversations, notes, rotation
from openclaw_memory.layers.compactions import (
    COMPACTIONS,
    Compacted,
    id_of,
    is_summary,
    plan_compacted,
    read_compacted,
    since,
)
from openclaw_memory.layers.conversations import Said
from openclaw_memory.lifecycle.compaction.cut import threshold
from openclaw_memory.lifecycle.compaction.planning import Plan, Planner
from openclaw_memory.lifecycle.tools import Tools
from openclaw_memory.markdown.messages import Message
from openclaw_memory.reader import Reader
from openclaw_memory.retrieval.blocks import Block
from openclaw_memory.workspace import workspace_of

LOOKED_AT = 20_000
"""Newest messages of a session that are summed up; what is older has been summed up before, or is found by search."""


class Compactor:
    """Answers `memory:compact`.

    Parameters: `tools` of the root's owner; `reader` of the same documents.
    """

    def __init__(self, tools: Tools, reader: Reader) -> None:
        self._tools = tools
        self._reader = reader
        self._planner = Planner(tools, reader)
        self._config = tools.config
        self._zone = tools.config.zone
        self._policies = policies(tools.config.session)

    async def compact(self, asked: MemoryCompact) -> MemoryCompacted:
        """Make a session's history shorter, unless there is a reason not to, which the answer names.

        Raises: `StorageError` and what else the store raises, when it could not be written down; then nothing changed.
        """
        kind = kind_of(asked.session_id, self._config.default_session_kind)
        while True:
            forgotten = self._tools.forgotten()
            known = await self._before(asked.session_id, kind)
            messages = await self._reader.said_in(asked.session_id, kind, LOOKED_AT)
            messages = [block for block in messages if not is_summary(block)]
            found = await anyio.to_thread.run_sync(self._reader.compacted, asked.session_id, kind)
            before = None if found is None else found[0]
            history = list(since(reversed(messages), before))[::-1]
            why = await anyio.to_thread.run_sync(self._why_not, asked, kind, history)
            if why is not None:
                return _nothing(asked, len(history), why)
            new = len(messages) - len(history)
            plan = await self._planner.plan(messages, new, asked.context_window)
            if isinstance(plan, str):
                return _nothing(asked, len(history), plan)
            try:
                done = await self._committed(asked.session_id, kind, messages, new, plan, known, forgotten)
            except StaleMaterialError:
                continue
            if done is not None:
                return done

    def _why_not(self, asked: MemoryCompact, kind: SessionKind, history: Sequence[Block]) -> str | None:
        """Say why nothing is to be done; None when there is something to do."""
        if asked.disabled:
            return "disabled: compaction is switched off for this session, so nothing was changed"
        if self._policies[kind].writes == "none":
            return f"sessionId: a {kind} session only reads, so nothing can be written down before it is dropped"
        if asked.context_window is not None:
            used = asked.used_tokens
            if used is None:
                used = sum(self._planner.tokens(history))
            begins = threshold(asked.context_window, self._config.compaction)
            if used <= begins:
                return f"usedTokens: {used:,} of {asked.context_window:,} tokens; compaction begins above {begins:,}"
        return None

    async def _before(self, session: str, kind: SessionKind) -> Compacted | None:
        document = await self._tools.store.read(COMPACTIONS)
        return read_compacted(document.values, session, audience(kind))

    # -- doing --------------------------------------------------------------------------------------------------

    async def _committed(
        self,
        session: str,
        kind: SessionKind,
        messages: Sequence[Block],
        new: int,
        plan: Plan,
        known: Compacted | None,
        forgotten: object,
    ) -> MemoryCompacted | None:
        """Write everything as one record; None when somebody else has compacted the session meanwhile.

        Raises: `StaleMaterialError`.
        """
        tools = self._tools
        now = tools.clock.now().astimezone(self._zone)
        now = now.replace(microsecond=now.microsecond // 1000 * 1000)
        day, workspace = conversations.day_path(now, self._zone), workspace_of(self._config)
        log_of_day = notes.note_path(now.date(), workspace.notes)
        points = plan.points if self._policies[kind].writes == "all" else ()
        wanted = [COMPACTIONS, *([log_of_day] if points else [])]
        draft = await tools.store.draft(wanted, known=[day])
        tools.refuse_stale(forgotten)
        who = audience(kind)
        if read_compacted(draft.document(COMPACTIONS).values, session, who) != known:
            return None
        flushed: list[str] = []
        if points:
            title = f"会话 {session}" if self._config.language == "zh" else f"Session {session}"
            text = "\n".join(f"- {point}" for point in points)
            flushed.append(notes.plan_note(draft, text, title, now=now, zone=self._zone, folder=workspace.notes).key)
        message = Message(
            id=tools.new_id(now),
            session=session,
            role="system",
            time=now,
            content=plan.text,
            origin="system",
            visibility=None if who == "private" else who,
        )
        said = Said(message, day, 0)
        (key,) = rotation.plan_messages(draft, [said], now=now, language=self._config.language, limits=rotation.NONE)
        plan_compacted(draft, session, who, self._compacted(key, messages, plan, now, known))
        commit = tools.store.commit(draft)
        await commit.wait()
        if commit.error is not None:
            raise commit.error
        return MemoryCompacted(
            session_id=session,
            kept=plan.kept,
            dropped=plan.first - new,
            summary_key=key,
            flushed_keys=tuple(flushed),
        )

    def _compacted(
        self, key: str, messages: Sequence[Block], plan: Plan, now: datetime, before: Compacted | None
    ) -> Compacted:
        first, last = messages[plan.first], messages[plan.first - 1]
        earlier: tuple[Any, ...] = () if before is None else before.summaries
        return Compacted(
            summary=key,
            first=id_of(first),
            until=last.time or now,
            at=now,
            messages=plan.first,
            summaries=(*earlier, key.rpartition("#")[2]),
        )


def _nothing(asked: MemoryCompact, kept: int, why: str) -> MemoryCompacted:
    return MemoryCompacted(session_id=asked.session_id, kept=kept, dropped=0, flushed_keys=(), notice=why)
