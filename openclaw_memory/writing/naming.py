"""Name the documents that an event rests on, before they are loaded."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import datetime

from contracts import (
    CuratedContent,
    FactContent,
    MemoryWrite,
    MessageContent,
    MessagesContent,
    NoteContent,
    SummaryContent,
    TaskContent,
    TaskStateChange,
    UpdateFact,
)
from contracts.fields import SessionKind
from openclaw_memory.config import MemoryConfig
from openclaw_memory.context.visibility import audience, policies
from openclaw_memory.events import Change
from openclaw_memory.layers import conversations, endings, facts, notes, rotation, state, summary_records, tasks
from openclaw_memory.storage.store import Store
from openclaw_memory.workspace import Copies, workspace_of
from openclaw_memory.writing.entries import Alike, Entries
from openclaw_memory.writing.needs import Needs


class Naming:
    """Names what an event needs.

    Parameters: `store`; `config`; `new_id`, which makes the id of a message from its time; `limits` of a day's file;
    `alike`, which compares meanings, where there is an embedder.
    """

    def __init__(
        self,
        store: Store,
        config: MemoryConfig,
        new_id: Callable[[datetime], str],
        limits: rotation.Limits,
        alike: Alike | None,
    ) -> None:
        self._store = store
        self._config = config
        self._new_id = new_id
        self._limits = limits
        self._zone = config.zone
        self._workspace = workspace_of(config)
        self._entries = Entries(store, config, alike)
        self._policies = policies(config.session)

    async def needs(self, change: Change, items: Sequence[Change], kind: SessionKind, now: datetime) -> Needs:
        """Give what an event rests on, and its messages as they will be written.

        Parameters: `items`, what the event holds, and what goes with it; `kind` of the session; `now`, on the user's
        clock.

        Raises: `Refused` for a message that no file can hold, `StorageError`.
        """
        copies = Copies(self._config, self._workspace, private=self._policies[kind].writes == "all")
        needs = Needs([], [], {}, {}, {}, {}, "", copies, self._limits)
        visibility = None if (audience_here := audience(kind)) == "private" else audience_here
        others: list[object] = []
        for number, item in enumerate(items):
            content = item.content if isinstance(item, MemoryWrite) else item
            if not isinstance(content, (MessageContent, MessagesContent)):
                others.append(content)
                continue
            assert isinstance(item, MemoryWrite)
            needs.said[number] = said = conversations.prepare(
                content.messages if isinstance(content, MessagesContent) else (content,),
                item.session_id,
                now=now,
                zone=self._zone,
                new_id=self._new_id,
                origin=item.origin,
                visibility=visibility,
            )
            for one in said:
                needs.appended[one.path] = None
            await copies.ask(self._store.readable, item.session_id, (one.message for one in said))
        if others:
            await self._needs_of(others, needs, now)
        if isinstance(change, MemoryWrite) and change.idempotency_key is not None:
            needs.paths[state.IDEMPOTENCY] = None
            if endings.ending_of(change.idempotency_key) is not None:
                needs.paths[endings.ENDED] = None
        return needs

    async def _needs_of(self, contents: Sequence[object], needs: Needs, now: datetime) -> None:
        """Name the documents for whatever is no message."""
        facts_wanted = [content for content in contents if isinstance(content, FactContent | UpdateFact)]
        if facts_wanted:
            if any(content.topic is None for content in facts_wanted):
                # A file that can't be read holds no fact that could be changed; it must not stop the others.
                needs.known_facts = await self._store.looked_through(facts.FOLDER)
                needs.looked_at = dict.fromkeys(needs.known_facts)
            for content in facts_wanted:
                needs.paths.update(dict.fromkeys(facts.documents_for(content.topic, needs.known_facts)))
        if any(isinstance(content, TaskContent | TaskStateChange) for content in contents):
            # An archive that can't be read holds no task that could be changed; the counter keeps its ids apart.
            needs.archived_tasks = await self._store.readable(await self._store.scan(tasks.ARCHIVED))
            needs.paths.update(dict.fromkeys(tasks.documents_for(needs.archived_tasks)))
        for summary in (content for content in contents if isinstance(content, SummaryContent)):
            needs.paths.update(dict.fromkeys(summary_records.documents_for(summary.period, summary.date)))
        if any(isinstance(content, NoteContent) for content in contents):
            needs.paths[notes.note_path(now.date(), self._workspace.notes)] = None
        if any(isinstance(content, CuratedContent) for content in contents):
            needs.curated = await self._entries.path()
            needs.paths.update(dict.fromkeys([needs.curated, state.CURATED]))
            if self._entries.compares:
                needs.same = await self._entries.same(
                    needs.curated, [content.text for content in contents if isinstance(content, CuratedContent)]
                )
