"""Answer from what is remembered: the context of a session, and searches."""

from __future__ import annotations

import asyncio
import hashlib
import logging
from collections.abc import Awaitable, Callable, Iterable, Iterator, Mapping, Sequence
from datetime import date, datetime
from functools import partial
from itertools import islice
from typing import Any, Protocol, TypeVar, cast

import anyio.to_thread

from contracts import (
    HistoryMessage,
    MemoryContext,
    MemoryDocument,
    MemoryGet,
    MemoryRead,
    MemoryResults,
    MemorySearch,
    MemoryWrite,
    NoteContent,
    SearchResult,
    SessionEnded,
    SessionStarted,
    Task,
)
from contracts.fields import Role, SessionKind
from openclaw_memory.catalog import Catalog
from openclaw_memory.clock import Clock
from openclaw_memory.config import MemoryConfig
from openclaw_memory.context.assemble import build_context
from openclaw_memory.context.material import Line, Material
from openclaw_memory.context.selection import select_history
from openclaw_memory.context.tokens import TokenCounter
from openclaw_memory.context.visibility import Visibility, allow, audience, audiences, kind_of, policies, task_named
from openclaw_memory.errors import Refused
from openclaw_memory.getting import lines_of
from openclaw_memory.layers import facts, state, summaries, tasks
from openclaw_memory.layers.compactions import COMPACTIONS, Compacted, is_summary, read_compacted, since
from openclaw_memory.layers.parts import FOLDERS as CONVERSATIONS
from openclaw_memory.layers.rooms import FOLDERS, room_of
from openclaw_memory.meaning import Asked, Meaning
from openclaw_memory.retrieval.blocks import Block
from openclaw_memory.retrieval.cutting import snippet
from openclaw_memory.retrieval.index import Hit
from openclaw_memory.retrieval.ranking import Ranking
from openclaw_memory.retrieval.scope import Scope
from openclaw_memory.retrieval.search import Searcher
from openclaw_memory.retrieval.vectors.errors import VectorsError
from openclaw_memory.storage.files import Stamp
from openclaw_memory.workspace import WorkspaceView

log = logging.getLogger(__name__)

T = TypeVar("T")

LOOK_INTERVAL_SECONDS = 1.0
"""How often all conversation files are looked at for edits when there are many; other layers' are on every read."""

FEW_CONVERSATIONS = 500
"""So many conversation files are looked at on every read: it costs a millisecond or two."""

LEAST_HITS = 100
"""Hits that are considered for the smallest budget."""

SEARCHES = 3
"""A person who saves again and again does not keep an answer waiting for longer than this."""

IMPORTANT_MESSAGES = 20
"""Most messages marked important that are offered beside the recent ones."""

HISTORY_LOOKED_AT = 1_000
"""Newest messages of the session among which the history is selected; older ones are recalled like any other."""

SNIPPET_CHARS = 700


_ESTIMATED = {
    "zh": "token 数为估算(缺少编码包,见日志)",
    "en": "tokens are estimated (the encoding's package is missing, see the log)",
}

_MEMORY_LEFT = {
    "zh": "MEMORY.md 有 {left} 段超出预算未载入(memory_tokens: {budget})",
    "en": "{left} pieces of MEMORY.md were not loaded (memory_tokens: {budget})",
}
_UNREADABLE = {"zh": "有文件无法读取", "en": "some files can't be read"}
_BY_WORDS = {"zh": "仅按关键词检索", "en": "searched by keywords only"}


class Documents(Protocol):
    """What reading asks of those who hold the documents, whether they own them or follow their owner."""

    async def look(self, folders: Iterable[str], *, wake: bool = False) -> None: ...

    async def wake(self, paths: Iterable[str]) -> None: ...

    async def look_at(self, paths: Iterable[str]) -> bool: ...

    def problems(self) -> dict[str, str]: ...

    def newest_part(self, path: str, most: int) -> tuple[bytes, Stamp] | None: ...


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
        self._recalled = recalled
        self._store = store
        self._catalog = catalog
        self._config = config
        self._clock = clock
        self._counter = counter
        self._meaning = meaning
        self._zone = config.zone
        self._looked_at = float("-inf")
        self._policies = policies(config.session)
        self._view = WorkspaceView(store, catalog, config)
        self._ranking = Ranking(recency=config.recency, **config.ranking.model_dump())
        self._awake = False
        """Whether the documents that every context is made of were read."""
        self._estimate = None if counter.exact else _ESTIMATED[config.language]

    async def look(self, *, everywhere: bool = False) -> None:
        """Take note of what a person did to the files."""
        now = self._clock.monotonic()
        folders = [*(folder for folder in FOLDERS if folder not in CONVERSATIONS), *self._view.areas]
        talks = (*CONVERSATIONS, *self._view.session_areas)
        few = sum(map(self._catalog.count, talks)) <= FEW_CONVERSATIONS
        if everywhere or few or now - self._looked_at >= LOOK_INTERVAL_SECONDS:
            folders += talks
            self._looked_at = now
        await self._store.look(folders)
        await self._view.follow()

    async def _wake(self) -> None:
        """Read what every context is made of: all but conversations, which are answered from the index."""
        if not self._awake:
            await self._store.look([folder for folder in FOLDERS if folder not in CONVERSATIONS], wake=True)
            self._awake = True

    async def context(self, read: MemoryRead) -> MemoryContext:
        """Give the memories that fit the budget, for this kind of session."""
        await self._wake()
        kind = self._kind(read.session_id, read.session_kind)
        now = read.as_of or self._clock.now()
        task_id = task_named(read.session_id, read.query, read.current_message or "") if kind == "sub" else None
        visible = self._visible(read.session_id, kind, task_id, read.as_of)
        seen = self._policies[kind]
        scope = Scope(audiences=audiences(read.session_id, kind, task_id, seen), until=read.as_of)
        asked = await self._asked(read.query, scope)
        await self._view.wake(read.session_id, self._today(now))
        hits, by_words = await self._found(
            read.query,
            read.session_id,
            asked,
            now=now,
            limit=min(self._config.recall_candidates, _most_that_fit(read.max_tokens)),
            allow=visible,
            scope=scope,
            tags=read.tags,
        )
        # Gathering and counting take some milliseconds, which belong to no event loop.
        gather = partial(self._gathered, read, kind, task_id, now, hits, by_words)
        context = await anyio.to_thread.run_sync(gather)
        # What was gathered from an index that was lost in the middle may lack messages.
        return await anyio.to_thread.run_sync(gather) if await self._mend() else context

    def _gathered(
        self,
        read: MemoryRead,
        kind: SessionKind,
        task_id: str | None,
        now: datetime,
        hits: list[Hit],
        by_words: str | None,
    ) -> MemoryContext:
        """Put a context together from what was found and what is there whatever the question."""
        visible = self._visible(read.session_id, kind, task_id, read.as_of)
        faults = _Faults()
        nothing: tuple[tuple[HistoryMessage, ...], frozenset[str]] = ((), frozenset())
        history, important = faults.guard(
            "history", lambda: self._history(read.session_id, kind, read.as_of, hits), nothing
        )
        matched = frozenset(hit.block.key for hit in hits)
        no_lines: tuple[Line, ...] = ()
        found = faults.guard("facts", lambda: self._facts(visible, kind, matched, read.as_of), no_lines)
        if read.as_of is not None:
            # A fact's line does not tell since when it holds, `facts` answers that; an entry of MEMORY.md neither.
            hits = [hit for hit in hits if hit.block.layer not in ("fact", "memory")]
        seen, today = self._policies[kind], self._today(now)
        degraded, notice = self._trouble(kind, by_words)
        told: list[str] = []
        material = Material(
            facts=found,
            memory=faults.guard(
                "MEMORY.md",
                lambda: () if read.as_of is not None else self._memory(seen, visible, today, told),
                no_lines,
            ),
            notes=faults.guard("notes", lambda: self._view.note_lines(seen, visible, today), no_lines),
            tasks=faults.guard("tasks", lambda: self._tasks(kind, task_id, read.as_of), ()),
            summaries=faults.guard("summaries", lambda: self._summaries(visible, kind, now, read.as_of), no_lines),
            recalled=tuple(hit for hit in hits if not self._is_told(hit.block, read.session_id, history)),
            history=history,
            important=important,
            degraded=degraded or bool(faults.told),
            notice="; ".join([*([notice] if notice else []), *told, *faults.told]) or None,
        )
        language = self._config.language
        context = build_context(material, read.max_tokens, self._counter, tz=self._zone, language=language)
        if self._recalled is not None and kind == "primary" and read.as_of is None and read.query.strip():
            given = "\n".join(context.recalled)
            self._recalled(read.query, [hit.block for hit in hits if hit.block.text in given], now)
        return context

    def _memory(
        self, seen: Visibility, visible: Callable[[Block], bool], today: date, told: list[str]
    ) -> tuple[Line, ...]:
        """Give what is loaded of MEMORY.md: what its budget holds, from the top (seed 003 section 26.7)."""
        lines = self._view.memory_lines(seen, visible, today)
        left = self._config.memory_tokens
        for place, line in enumerate(lines):
            left -= self._counter.count(f"{line.text}\n")
            if left < 0:
                words = _MEMORY_LEFT[self._config.language]
                told.append(words.format(left=len(lines) - place, budget=self._config.memory_tokens))
                return lines[:place]
        return lines

    def _is_told(self, block: Block, session_id: str, history: tuple[HistoryMessage, ...]) -> bool:
        """Tell whether the history's own summary says what an earlier summary of the same session said."""
        return block.session == session_id and is_summary(block) and any(line.role == "system" for line in history)

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
        hits, by_words = await self._found(
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
        degraded, notice = self._trouble(kind, by_words)
        return MemoryResults(
            results=tuple(
                SearchResult(
                    path=hit.block.path,
                    start_line=hit.block.start_line,
                    end_line=hit.block.end_line,
                    score=hit.score,
                    snippet=_snippet(hit.block),
                    layer=hit.block.layer,
                    time=hit.block.time,
                    steps=hit.steps,
                )
                for hit in hits
            ),
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
        """Give lines of a document, as far as this kind of session may see the whole of it."""
        await self.look()
        kind = self._kind("", get.session_kind)
        if not self._view.may_get(get.path, self._policies[kind]):
            return _no_document(get.path, f"sessionKind: a {kind} session reads what lies in shared/ by its path alone")
        if not self._catalog.knows(get.path):
            return _no_document(
                get.path, f"path: there is no document {get.path}; search gives the paths of those there are"
            )
        await self._store.wake([get.path])
        document = self._catalog.document(get.path)
        if document is None or (problem := self._store.problems().get(get.path)) is not None:
            return _no_document(get.path, problem if document is not None else f"path: {get.path} can't be read")
        return await anyio.to_thread.run_sync(lines_of, get, document)

    async def started(self, started: SessionStarted) -> MemoryContext:
        """Give what a session of this kind loads, and tell the log (seed 003 section 26.2.2)."""
        session, tokens = started.session_id, self._config.session_start_tokens
        kind = self._kind(session, started.session_kind)
        context = await self.context(MemoryRead(query="", session_id=session, max_tokens=tokens, session_kind=kind))
        files = self._view.loads(self._policies[kind], self._today(self._clock.now()))
        log.info(
            "session %s began as %s, so it loads %s; its context has %d messages, %d facts, %d tasks, %d summaries%s",
            session,
            kind,
            ", ".join(files) or "nothing of the workspace",
            len(context.history),
            len(context.facts),
            len(context.tasks),
            len(context.summaries),
            ", and more was left out for the budget" if context.truncated else "",
        )
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
        points = await anyio.to_thread.run_sync(self._points, session)
        if not points:
            return None
        text = "\n".join(f"- {point}" for point in points)
        title = f"会话 {session}" if self._config.language == "zh" else f"Session {session}"
        return MemoryWrite(
            type="note",
            content=NoteContent(text=text, title=title),
            session_id=session,
            session_kind=kind,
            # Told again, before its first telling is in the log, it is the same note.
            idempotency_key=f"session:ended {hashlib.sha256(text.encode()).hexdigest()}",
        )

    def _points(self, session: str) -> list[str]:
        """Give what the last days of a session come to, but for what the notes of these days say already."""
        today = self._today(self._clock.now())
        newest = islice(self._catalog.newest_messages(session, None), HISTORY_LOOKED_AT)
        said = [
            (block.role or "", block.text)
            for block in newest
            if block.origin != "untrusted"
            and block.time is not None
            and (today - self._today(block.time)).days < self._view.days_told
        ]
        known = self._view.note_texts(today)
        # Imported when the first session ends: its patterns take a while to be compiled.
        from openclaw_memory.capture.points import key_points

        return key_points(said[::-1], known=known, language=self._config.language)

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

    async def _found(self, query: str, session: str | None, asked: Asked, **how: Any) -> tuple[list[Hit], str | None]:
        """Search, and search again when a file that a hit lies in, or that the session goes on in, was changed.

        Gives the hits, and why meaning had no part in them, where it should have had one.
        """
        for _ in range(SEARCHES):
            try:
                hits, paths = await anyio.to_thread.run_sync(self._search, query, session, asked, how)
            except VectorsError as error:
                assert self._meaning is not None
                asked = await self._meaning.report(error)
                hits, paths = await anyio.to_thread.run_sync(self._search, query, session, asked, how)
            if await self._mend():
                continue
            wanted = self._catalog.wanted()
            await self._store.wake(wanted)
            if not await self._store.look_at(paths) and not wanted:
                break
        return hits, asked.notice

    def _search(
        self, query: str, session: str | None, asked: Asked, how: Mapping[str, Any]
    ) -> tuple[list[Hit], set[str]]:
        """Give the hits, and the files that the answer rests on."""
        self._catalog.feed()
        searcher = Searcher(self._catalog.index, self._ranking, asked.vectors, asked.lens)
        hits = searcher.search(query, vector=asked.vector, **how)
        return hits, {hit.block.path for hit in hits} | set(self._catalog.paths_of(session) if session else ())

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
        return visible

    def _facts(
        self, visible: Callable[[Block], bool], kind: SessionKind, matched: frozenset[str], as_of: datetime | None
    ) -> tuple[Line, ...]:
        """Give profile and preferences, and the other facts that match the query."""
        if self._policies[kind].facts == "none":
            return ()
        times = self._catalog.document(state.FACT_TIMES)
        lines = []
        for document in self._catalog.documents(facts.FOLDER):
            shown = {block.key for block in facts.blocks(document) if visible(block)}
            archive = self._catalog.document(facts.archive_path(document.path))
            current = facts.fact_lines(document)
            if as_of is not None:
                current = facts.lines_as_of(current, archive, times.values if times else {}, as_of)
            lines += [
                Line(line.text, line.key, line.essential)
                for line in current
                if line.key in shown and (line.essential or line.key in matched)
            ]
        return tuple(lines)

    def _tasks(self, kind: SessionKind, task_id: str | None, as_of: datetime | None) -> tuple[Task, ...]:
        document = self._catalog.document(tasks.ACTIVE)
        seen = self._policies[kind].tasks
        if document is None or seen == "none":
            return ()
        return tuple(
            task
            for task in tasks.open_tasks(document, self._zone)
            if (seen == "all" or task.id == task_id)
            and (as_of is None or task.created is None or task.created <= as_of)
        )

    def _summaries(
        self, visible: Callable[[Block], bool], kind: SessionKind, now: datetime, as_of: datetime | None
    ) -> tuple[Line, ...]:
        if self._policies[kind].summaries != "all":
            return ()
        known = {
            document.path: document
            for folder in summaries.FOLDERS
            for document in self._catalog.documents(folder)
            if document.body.strip()
        }
        if as_of is not None:
            # What a summary tells of the days after it was not known then.
            before = as_of.astimezone(self._zone).date()
            periods = {path: summaries.period_of(path) for path in known}
            known = {path: doc for path, doc in known.items() if (p := periods[path]) is not None and p.last < before}
        chosen = summaries.recent(known, self._today(now), self._config.summary_days)
        return tuple(Line(summaries.text_of(known[path]), path) for path in chosen)

    def _history(
        self, session_id: str, kind: SessionKind, as_of: datetime | None, hits: Sequence[Hit]
    ) -> tuple[tuple[HistoryMessage, ...], frozenset[str]]:
        """Give the recent messages of this session, those marked important, and those that match the query best."""
        compacted, summary = self.compacted(session_id, kind, as_of) or (None, None)
        own = self._own_messages(session_id, kind, as_of, HISTORY_LOOKED_AT)
        newest = list(islice(since(own, compacted), HISTORY_LOOKED_AT))
        newest += [] if summary is None else [summary]
        messages = [
            HistoryMessage(
                role=cast(Role, block.role), content=block.text, timestamp=block.time, key=block.key, name=block.name
            )
            for block in reversed(newest)
            if block.time is not None
        ]
        important = frozenset([block.key for block in newest if block.important][:IMPORTANT_MESSAGES])
        if summary is not None:
            # It stands for everything before, so it goes in front of what is chosen of the rest.
            important |= {summary.key}
        keys = {block.key for block in newest}
        chosen = select_history(
            messages,
            important=important,
            relevant=[hit.block.key for hit in hits if hit.block.key in keys],
            recent=self._config.history_messages,
        )
        return chosen, important

    def _own_messages(
        self, session_id: str, kind: SessionKind, as_of: datetime | None, most: int
    ) -> Iterator[Block]:
        """Yield what a session of this kind may see of what was said in it, newest first."""
        visible = self._policies[kind].history != "group"
        messages_of: Iterable[Block] = self._catalog.newest_messages(session_id, as_of)
        if self._view.session_areas:
            known = list(islice(messages_of, most))
            lines = self._view.session_blocks(session_id, known)
            messages_of = known if lines is None else lines
            messages_of = [block for block in messages_of if as_of is None or block.time is None or block.time <= as_of]
        # A session's id alone opens nothing: a group sees what was said to the group.
        return (block for block in messages_of if visible or block.visibility in ("group", "shared"))

    def compacted(
        self, session_id: str, kind: SessionKind, as_of: datetime | None = None
    ) -> tuple[Compacted, Block] | None:
        """Give how far a session is summed up, and its summary; None when it is not. For a thread.

        Where the summary is gone, because a person took it out, all messages are history again.
        """
        document = self._catalog.document(COMPACTIONS)
        told = None if document is None else read_compacted(document.values, session_id, audience(kind))
        if told is None or (as_of is not None and told.at > as_of):
            return None
        summary = self._catalog.find(told.summary)
        return None if summary is None else (told, summary)

    async def said_in(self, session_id: str, kind: SessionKind, most: int) -> list[Block]:
        """Give the newest messages of a session, oldest first, those that it is summed up to included."""
        await self.look()
        await self._view.wake(session_id, self._today(self._clock.now()))
        own = partial(self._own_messages, session_id, kind, None, most)
        newest = await anyio.to_thread.run_sync(lambda: list(islice(own(), most)))
        return newest[::-1]

    async def history_length(self, session_id: str) -> int:
        """Count the messages that are history of a session."""
        kind = self._kind(session_id, None)

        def count() -> int:
            compacted, _ = self.compacted(session_id, kind) or (None, None)
            return sum(1 for _ in since(self._own_messages(session_id, kind, None, HISTORY_LOOKED_AT), compacted))

        await self.look()
        return await anyio.to_thread.run_sync(count)

    def noted(self) -> list[str]:
        """Give what the daily notes of these days say, piece by piece. For a thread."""
        return self._view.note_texts(self._today(self._clock.now()))

    def _trouble(self, kind: SessionKind, by_words: str | None) -> tuple[bool, str | None]:
        """Tell whether something can't be read, and what else the reader of an answer should know.

        The names of private files, and what an embedder said, stay in private sessions.
        """
        told = sorted(self._store.problems().values())
        degraded = bool(told)
        private = self._policies[kind].search == "all"
        if told and not private:
            told = [_UNREADABLE[self._config.language]]
        if by_words is not None:
            told.append(by_words if private else _BY_WORDS[self._config.language])
        if self._estimate is not None and (private or not degraded):
            told.append(self._estimate)
        return degraded, "; ".join(told) or None


async def _nothing_to_mend() -> bool:
    return False


def _most_that_fit(max_tokens: int) -> int:
    """Give how many hits are worth a look for a budget; the pool that they are ranked in is the same for all.

    A piece takes some twenty tokens and more. Twice as many find nothing more on LoCoMo, for budgets of 500 to 2,000.
    """
    return max(LEAST_HITS, max_tokens // 20)



class _Faults:
    """One part of a context that can't be made costs that part, not the context."""

    def __init__(self) -> None:
        self.told: list[str] = []

    def guard(self, part: str, make: Callable[[], T], otherwise: T) -> T:
        """Give what `make` gives, or `otherwise` and a word about it when that fails."""
        try:
            return make()
        except Exception as error:
            log.exception("%s can't be read", part)
            self.told.append(f"{part} can't be read ({type(error).__name__})")
            return otherwise


def _no_document(path: str, why: str | None) -> MemoryDocument:
    return MemoryDocument(path=path, text="", truncated=False, notice=why)


def _snippet(block: Block) -> str:
    text = f"{block.section}/{block.text}" if block.section and block.layer == "fact" else block.text
    return snippet(text, SNIPPET_CHARS)
