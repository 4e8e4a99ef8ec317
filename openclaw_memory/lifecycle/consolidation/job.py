"""The job: entry, MEMORY.md and pointer are one record, or nothing is (seed 004 section 2.3, cases 26 and 27)."""

from __future__ import annotations

import logging
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from typing import Any

import anyio.to_thread

from openclaw_memory.completion import ChatModel, Completion
from openclaw_memory.completion.cost import cost_of
from openclaw_memory.errors import OpenClawMemoryError, Refused
from openclaw_memory.layers import history
from openclaw_memory.layers.consolidated import (
    CONSOLIDATED,
    Pointer,
    looked_through,
    plan_looked_through,
    plan_pointer,
    pointer_of,
)
from openclaw_memory.layers.curated import entries_in
from openclaw_memory.layers.documents import MarkdownDocument
from openclaw_memory.layers.revisions import REVISIONS, Change, plan_change
from openclaw_memory.layers.state import CURATED
from openclaw_memory.lifecycle.apart import planned_apart
from openclaw_memory.lifecycle.consolidation.asking import consolidated
from openclaw_memory.lifecycle.consolidation.batches import Batch, batch_of
from openclaw_memory.lifecycle.consolidation.sessions import active_sessions, waiting
from openclaw_memory.lifecycle.consolidation.tool import Answer
from openclaw_memory.lifecycle.jobs import NOTHING, Outcome
from openclaw_memory.lifecycle.memory_file import curated_path
from openclaw_memory.lifecycle.tools import Tools
from openclaw_memory.markdown.messages import Message
from openclaw_memory.retrieval.blocks import Block
from openclaw_memory.storage.documents import Draft
from openclaw_memory.workspace import workspace_of

log = logging.getLogger(__name__)

MOST_BATCHES = 20
"""Batches of one tick; the next tick goes on."""

NOT_BEFORE = (timedelta(minutes=10), timedelta(hours=6))
"""How long a session whose batch failed is left alone: at first, and at most."""

BY = "consolidation"


@dataclass(frozen=True, slots=True)
class Made:
    """What a batch came to. `seen` are the digests of the entries that MEMORY.md had when the model was asked."""

    entry: str
    update: str | None
    seen: frozenset[str]


class Consolidation:
    """Consolidates the sessions in which a window of messages waits."""

    name = "consolidation"

    def __init__(self, tools: Tools) -> None:
        self._tools = tools
        self._config = tools.config
        self._zone = tools.config.zone
        self._history = workspace_of(tools.config).history
        self._failed: dict[str, tuple[int, datetime]] = {}
        """By session how often its batch failed, and when it is tried again."""

    def due(self, last: datetime | None, now: datetime) -> bool:
        """With every tick: whether anything waits is told by the sessions, and a window may fill within minutes."""
        return True

    async def run(self, now: datetime) -> Outcome:
        """Consolidate what waits; a session that fails does not stop the others."""
        values = (await self._tools.store.read(CONSOLIDATED)).values
        since = looked_through(values)
        sessions = await anyio.to_thread.run_sync(active_sessions, self._tools.catalog, self._config, since)
        keys: list[str] = []
        problems: list[str] = []
        answers: list[Completion] = []
        batches, left = 0, False
        for session in sessions:
            count, tried_again = self._failed.get(session, (0, now))
            if tried_again > now:
                left = True
                continue
            try:
                while (written := await self._next(session, now, answers)) is not None:
                    keys += written
                    batches += 1
                    if batches >= MOST_BATCHES:
                        left = True
                        break
                self._failed.pop(session, None)
            except Exception as error:
                # Whatever it was, the words are where they were, and nothing says that they were consolidated.
                unforeseen = None if isinstance(error, OpenClawMemoryError) else error
                log.warning("%s could not be consolidated: %s", session, error, exc_info=unforeseen)
                first, most = NOT_BEFORE
                self._failed[session] = (count + 1, now + min(most, first * 2 ** min(count, 10)))
                problems.append(f"{session}: {error}")
            if batches >= MOST_BATCHES:
                break
        if not problems and not left:
            await self._note_day(now, since)
        prices = self._config.completion
        cost = cost_of(answers, prices.price_per_million_in, prices.price_per_million_out)
        told = "; ".join([*problems, *([cost] if cost else [])]) or None
        if problems:
            return Outcome("failed", tuple(keys), told)
        return Outcome("done", tuple(keys), told) if keys else NOTHING

    async def _next(self, session: str, now: datetime, answers: list[Completion]) -> list[str] | None:
        """Consolidate the next batch of a session; gives the addresses of what was written, None when none waits."""
        store, forgotten = self._tools.store, self._tools.forgotten()
        pointer = pointer_of((await store.read(CONSOLIDATED)).values, session)
        batch = await anyio.to_thread.run_sync(self._batch, session, pointer)
        if batch is None:
            return None
        made = await self._made(batch, answers) if batch.lines else None
        path = await curated_path(self._tools)
        moment = now.astimezone(self._zone)
        told = "" if made is None else made.entry
        entry = Message(self._tools.new_id(now), session, "system", moment, told, name=BY, origin="system")

        def plan(draft: Draft) -> list[str]:
            self._tools.refuse_stale(forgotten)
            if pointer_of(draft.document(CONSOLIDATED).values, session) != pointer:
                raise Refused("sessionId", "it was consolidated by somebody else meanwhile")
            keys: list[str] = []
            if made is not None:
                keys += history.plan_history(draft, [entry], self._history)
                change = self._change(draft.document(path), draft.document(CURATED).values, made)
                if change:
                    keys += plan_change(draft, path, change, by=BY, now=moment, language=self._config.language)
            last = batch.messages[-1]
            plan_pointer(draft, session, Pointer(last.key.rpartition("#")[2], last.time or now))
            return keys

        return await planned_apart(self._tools, [CONSOLIDATED, self._history, path, REVISIONS, CURATED], plan)

    def _batch(self, session: str, pointer: Pointer | None) -> Batch | None:
        """Choose the next batch. For a thread."""
        room = self._config.completion.max_input_tokens // 2
        found = waiting(self._tools.catalog, session, pointer)
        return batch_of(found, self._config.window_size, room, self._tools.counter.count, self._shown)

    def _shown(self, block: Block) -> str:
        return "?" if block.time is None else f"{block.time.astimezone(self._zone):%Y-%m-%d %H:%M}"

    # -- what a batch comes to ----------------------------------------------------------------------------------

    async def _made(self, batch: Batch, answers: list[Completion]) -> Made:
        """Have a model tell what a batch came to; without one its main sentences are the entry."""
        model = await self._tools.models.model()
        if model is None:
            entry = await anyio.to_thread.run_sync(self._by_rules, batch.messages)
            return Made(entry, None, frozenset())
        return await self._by_model(model, batch, answers)

    async def _by_model(self, model: ChatModel, batch: Batch, answers: list[Completion]) -> Made:
        path = await curated_path(self._tools)
        document = await self._tools.store.read(path)
        seen = frozenset(entry.digest for entry in entries_in(document))
        ours = (await self._tools.store.read(CURATED)).values

        def accept(answer: Answer) -> Made:
            made = Made(answer.history_entry, answer.memory_update, seen)
            # What may not be taken over is refused while the model can still be told.
            self._change(document, ours, made)
            return made

        language = self._config.language
        return await consolidated(model, document.body, batch.lines, language=language, accept=accept, answers=answers)

    def _change(self, document: MarkdownDocument, ours: Mapping[str, Any], made: Made) -> Change:
        from openclaw_memory.lifecycle.consolidation.merging import merged

        if made.update is None:
            return Change()
        return merged(document.body, made.seen, ours.keys(), made.update)

    def _by_rules(self, messages: Sequence[Block]) -> str:
        """Write an entry without a model: the time, and the sentences that say most. For a thread."""
        from openclaw_memory.lifecycle.compaction.telling import main_sentences
        from openclaw_memory.lifecycle.own_output import is_own

        said = [block for block in messages if not is_own(block) and block.origin != "untrusted"]
        sentences = main_sentences(said) or [" ".join(said[0].text.split())[:240]]
        return f"[{self._shown(messages[0])}] {' '.join(sentences)}"

    async def _note_day(self, now: datetime, since: date | None) -> None:
        """Note that all sessions were looked at, once a day."""
        today = now.astimezone(self._zone).date()
        if since == today:
            return
        draft = await self._tools.store.draft([CONSOLIDATED])
        plan_looked_through(draft, today)
        commit = self._tools.store.commit(draft)
        await commit.wait()
        if commit.error is not None:
            raise commit.error
