"""Answer from what is remembered: the context of a session, and searches."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from datetime import date, datetime
from functools import partial
from itertools import islice

import anyio.to_thread

from contracts import (
    MemoryContext,
    MemoryDocument,
    MemoryGet,
    MemoryRead,
    MemoryResults,
    MemorySearch,
    MemoryWrite,
    SessionEnded,
    SessionStarted,
)
from contracts.fields import SessionKind
from openclaw_memory.catalog import Catalog
from openclaw_memory.clock import Clock
from openclaw_memory.config import MemoryConfig
from openclaw_memory.context.tokens import TokenCounter
from openclaw_memory.context.visibility import allow, audiences, kind_of, policies, sees_everything, task_named
from openclaw_memory.errors import Refused
from openclaw_memory.getting import Pages, says_nothing
from openclaw_memory.layers.compactions import Compacted
from openclaw_memory.layers.parts import FOLDER as CONVERSATIONS
from openclaw_memory.layers.parts import archived
from openclaw_memory.layers.rooms import room_of
from openclaw_memory.meaning import Asked, Meaning
from openclaw_memory.reading.documents import Documents
from openclaw_memory.reading.gathering import Gathering
from openclaw_memory.reading.history import History
from openclaw_memory.reading.looking import Looking
from openclaw_memory.reading.searching import Searching, most_that_fit, result_of
from openclaw_memory.reading.sessions import log_start, note_of, points_of
from openclaw_memory.reading.trouble import Troubles
from openclaw_memory.retrieval.blocks import Block
from openclaw_memory.retrieval.scope import Scope
from openclaw_memory.retrieval.search import allow_all
from openclaw_memory.workspace import WorkspaceView


class Reader:
    """Answers `memory:read` and `memory:search`.

    Parameters: `store` and `catalog` of the same documents; `config`; `clock`; `counter` of tokens; `meaning`, to
    search by; None for keywords alone; `mend`, which fills an index that was lost and tells whether it was; `recalled`,
    called in a thread with the question, the pieces that a context of the owner's own was made of, and the time.
    """

    def __init__(
        self,
        store: Documents,
        catalog: Catalog,
        config: MemoryConfig,
        clock: Clock,
        counter: TokenCounter,
        meaning: Meaning | None = None,
        mend: Callable[[], Awaitable[bool]] | None = None,
        recalled: Callable[[str, Sequence[Block], datetime], None] | None = None,
    ) -> None:
        self._mend = mend or _nothing_to_mend
        self._store = store
        self._catalog = catalog
        self._config = config
        self._clock = clock
        self._meaning = meaning
        self._zone = config.zone
        self._policies = policies(config.session)
        self._view = WorkspaceView(store, catalog, config)
        self._looking = Looking(store, catalog, self._view, clock)
        self._searching = Searching(store, catalog, config, meaning, self._mend)
        self._history = History(catalog, self._view, config)
        self._pages = Pages()
        self._troubles = Troubles(store, config, counter)
        self._gathering = Gathering(catalog, self._view, self._history, self._troubles, config, counter, recalled)

    async def look(self, *, everywhere: bool = False) -> None:
        """Take note of what a person did to the files."""
        await self._looking.look(everywhere=everywhere)

    async def context(self, read: MemoryRead) -> MemoryContext:
        """Give the memories that fit the budget, for this kind of session."""
        await self._looking.wake()
        kind = self._kind(read.session_id, read.session_kind)
        now = read.as_of or self._clock.now()
        task_id = task_named(read.session_id, read.query, read.current_message or "") if kind == "sub" else None
        visible = self._visible(read.session_id, kind, task_id, read.as_of)
        seen = self._policies[kind]
        scope = Scope(audiences=audiences(read.session_id, kind, task_id, seen), until=read.as_of)
        asked = await self._asked(read.query, scope)
        await self._view.wake(read.session_id, self._today(now))
        hits, by_words = await self._searching.found(
            read.query,
            read.session_id,
            asked,
            now=now,
            limit=min(self._config.recall_candidates, most_that_fit(read.max_tokens)),
            allow=visible,
            scope=scope,
            tags=read.tags,
        )
        # Gathering and counting take some milliseconds, which belong to no event loop.
        gather = partial(self._gathering.context, read, kind, task_id, visible, now, hits, by_words)
        context = await anyio.to_thread.run_sync(gather)
        # What was gathered from an index that was lost in the middle may lack messages.
        return await anyio.to_thread.run_sync(gather) if await self._mend() else context

    async def search(self, search: MemorySearch) -> MemoryResults:
        """Find pieces by words, and by meaning where that is on."""
        kind = self._kind(search.session_id or "", search.session_kind)
        task_id = task_named(search.session_id or "", search.query) if kind == "sub" else None
        layers = set(search.layers)
        if "history" in layers and self._config.history_file:
            # What stands in HISTORY.md and is a message of its day as well is found as that.
            layers.add("conversation")
        seen = self._policies[kind]
        scope = Scope(layers=frozenset(layers), audiences=audiences(search.session_id, kind, task_id, seen))
        hits, by_words = await self._searching.found(
            search.query,
            None,
            await self._asked(search.query, scope),
            now=self._clock.now(),
            limit=search.max_results,
            allow=self._visible(search.session_id, kind, task_id, None),
            scope=scope,
            min_score=search.min_score,
            explain=search.explain,
        )
        degraded, notice = self._troubles.of(kind, by_words)
        return MemoryResults(
            results=tuple(result_of(hit) for hit in hits),
            degraded=degraded,
            notice=notice,
        )

    async def documents(self, kind: SessionKind) -> list[str]:
        """List the documents that a session of this kind may get by their paths; none that are empty or gone."""
        await self.look()
        seen = self._policies[kind]
        met = self._catalog.met()
        return sorted(path for path in met if self._view.may_get(path, seen) and not self._is_blank(path))

    def _is_blank(self, path: str) -> bool:
        """Tell whether a document, hidden ones aside, holds nothing, or its file is gone."""
        document = self._catalog.document(path)
        return path.startswith(".") or (document is not None and document == room_of(path).format.new(path))

    async def get(self, get: MemoryGet) -> MemoryDocument:
        """Give lines of a document, as far as this kind of session may see the whole of it.

        Where the messages of a day were archived since its address was given, the answer is from there, and says so.
        """
        await self.look()
        kind = self._kind("", get.session_kind)
        if not self._view.may_get(get.path, self._policies[kind]):
            return _no_document(get.path, f"sessionKind: a {kind} session reads what lies in shared/ by its path alone")
        if get.path.startswith(f"{CONVERSATIONS}/") and await self._is_archived(get.path):
            get = get.model_copy(update={"path": archived(get.path)})
        if not self._catalog.knows(get.path):
            return _no_document(
                get.path, f"path: there is no document {get.path}; search gives the paths of those there are"
            )
        await self._store.wake([get.path])
        document = self._catalog.document(get.path)
        if document is None or (problem := self._store.problems().get(get.path)) is not None:
            return _no_document(get.path, problem if document is not None else f"path: {get.path} can't be read")
        return await anyio.to_thread.run_sync(self._pages.page, get, document)

    async def _is_archived(self, path: str) -> bool:
        """Tell whether a day's file holds nothing any more and its messages are in the archive."""
        target = archived(path)
        if target == path or not self._catalog.knows(target):
            return False
        await self._store.wake([path, target] if self._catalog.knows(path) else [target])
        if path in self._store.problems():
            return False
        return says_nothing(self._catalog.document(path)) and not says_nothing(self._catalog.document(target))

    async def started(self, started: SessionStarted) -> MemoryContext:
        """Give what a session of this kind loads, and tell the log (seed 003 section 26.2.2)."""
        session, tokens = started.session_id, self._config.session_start_tokens
        kind = self._kind(session, started.session_kind)
        context = await self.context(MemoryRead(query="", session_id=session, max_tokens=tokens, session_kind=kind))
        files = self._view.loads(self._policies[kind], self._today(self._clock.now()))
        log_start(session, kind, files, context)
        return context

    async def ended(self, ended: SessionEnded) -> MemoryWrite | None:
        """Give the note that tells what a session came to; None when there is nothing new to tell.

        Raises: `Refused` for a kind of session that has no part in the daily notes.
        """
        session = ended.session_id
        kind = self._kind(session, ended.session_kind)
        if self._policies[kind].writes != "all":
            raise Refused("sessionKind", f"daily notes are private; nothing of a {kind} session goes into them")
        await self.look()
        await self._view.wake(session, self._today(self._clock.now()))
        points, ending = await anyio.to_thread.run_sync(
            points_of, session, self._clock.now(), self._catalog, self._view, self._config
        )
        return note_of(points, ending, session, kind, self._config.language) if points and ending is not None else None

    async def _asked(self, query: str, scope: Scope) -> Asked:
        """Look for edits, and meanwhile have the question embedded."""
        if self._meaning is None:
            await self.look()
            return Asked()
        question = asyncio.ensure_future(self._meaning.question(query, scope.audiences))
        try:
            await self.look()
            return await question
        finally:
            question.cancel()

    def _kind(self, session_id: str, given: SessionKind | None) -> SessionKind:
        return given or kind_of(session_id, self._config.default_session_kind)

    def _today(self, now: datetime) -> date:
        return now.astimezone(self._zone).date()

    def _visible(
        self, session_id: str | None, kind: SessionKind, task_id: str | None, as_of: datetime | None
    ) -> Callable[[Block], bool]:
        def visible(block: Block) -> bool:
            if as_of is not None and block.time is not None and block.time > as_of:
                return False
            return allow(block, session_id, kind, task_id, seen)

        seen = self._policies[kind]
        if as_of is None and sees_everything(seen):
            return allow_all
        return visible

    def compacted(
        self, session_id: str, kind: SessionKind, as_of: datetime | None = None
    ) -> tuple[Compacted, Block] | None:
        """Give how far a session is summed up, and its summary; as `History.compacted`. For a thread."""
        return self._history.compacted(session_id, kind, as_of)

    async def said_in(self, session_id: str, kind: SessionKind, most: int) -> list[Block]:
        """Give the newest messages of a session, oldest first, those that it is summed up to included."""
        await self.look()
        await self._view.wake(session_id, self._today(self._clock.now()))
        own = partial(self._history.messages, session_id, kind, None, most)
        newest = await anyio.to_thread.run_sync(lambda: list(islice(own(), most)))
        return newest[::-1]

    async def history_length(self, session_id: str) -> int:
        """Count the messages that are history of a session."""
        kind = self._kind(session_id, None)
        await self.look()
        return await anyio.to_thread.run_sync(self._history.length, session_id, kind)

    def noted(self) -> list[str]:
        """Give what the daily notes of these days say, piece by piece. For a thread."""
        return self._view.note_texts(self._today(self._clock.now()))


async def _nothing_to_mend() -> bool:
    return False


def _no_document(path: str, why: str | None) -> MemoryDocument:
    return MemoryDocument(path=path, text="", truncated=False, notice=why)
