"""Answer from what is remembered: the context of a session, and searches."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Iterable, Sequence
from datetime import datetime
from itertools import islice
from typing import Any, Protocol, TypeVar

import anyio.to_thread

from contracts import HistoryMessage, MemoryContext, MemoryRead, MemoryResults, MemorySearch, SearchResult, Task
from contracts.fields import SessionKind
from openclaw_memory.catalog import Catalog
from openclaw_memory.clock import Clock
from openclaw_memory.config import MemoryConfig
from openclaw_memory.context.assemble import build_context
from openclaw_memory.context.material import Line, Material
from openclaw_memory.context.selection import select_history
from openclaw_memory.context.tokens import TokenCounter
from openclaw_memory.context.visibility import allow, kind_of, policy, task_named
from openclaw_memory.layers import facts, state, summaries, tasks
from openclaw_memory.layers.documents import told
from openclaw_memory.layers.rooms import FOLDERS
from openclaw_memory.retrieval.blocks import Block
from openclaw_memory.retrieval.cutting import snippet
from openclaw_memory.retrieval.index import Hit
from openclaw_memory.retrieval.search import Searcher

log = logging.getLogger(__name__)

T = TypeVar("T")

LOOK_INTERVAL_SECONDS = 1.0
"""How often all conversation files are looked at for edits when there are many; other layers' are on every read."""

FEW_CONVERSATIONS = 500
"""So many conversation files are looked at on every read: it costs a millisecond or two."""

INDEXING_SECONDS = 0.002
"""How long a read that finds the index behind keeps the event loop, before it lets others run."""

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


class Documents(Protocol):
    """What reading asks of those who hold the documents, whether they own them or follow their owner."""

    async def look(self, folders: Iterable[str]) -> None: ...

    async def look_at(self, paths: Iterable[str]) -> bool: ...

    def problems(self) -> dict[str, str]: ...


class Reader:
    """Answers `memory:read` and `memory:search`.

    Parameters: `store`, `catalog` and `searcher` over the same documents; `config`; `clock`; `counter` of tokens.
    """

    def __init__(
        self,
        store: Documents,
        catalog: Catalog,
        searcher: Searcher,
        config: MemoryConfig,
        clock: Clock,
        counter: TokenCounter,
    ) -> None:
        self._store = store
        self._catalog = catalog
        self._searcher = searcher
        self._config = config
        self._clock = clock
        self._counter = counter
        self._zone = config.zone
        self._looked_at = float("-inf")
        self._estimate = None if counter.exact else _ESTIMATED[config.language]

    async def look(self, *, everywhere: bool = False) -> None:
        """Take note of what a person did to the files."""
        now = self._clock.monotonic()
        folders = [folder for folder in FOLDERS if folder != "conversations"]
        few = self._catalog.count("conversations") <= FEW_CONVERSATIONS
        if everywhere or few or now - self._looked_at >= LOOK_INTERVAL_SECONDS:
            folders.append("conversations")
            self._looked_at = now
        await self._store.look(folders)

    async def context(self, read: MemoryRead) -> MemoryContext:
        """Give the memories that fit the budget, for this kind of session."""
        await self.look()
        kind = self._kind(read.session_id, read.session_kind)
        now = read.as_of or self._clock.now()
        task_id = task_named(read.session_id, read.query, read.current_message or "") if kind == "sub" else None
        visible = self._visible(read.session_id, kind, task_id, read.as_of)
        hits = await self._found(
            read.query,
            now=now,
            limit=self._config.recall_candidates,
            allow=visible,
            tags=read.tags,
            recency=self._config.recency,
        )
        await self._store.look_at(self._catalog.paths_of(read.session_id))
        faults = _Faults()
        nothing: tuple[tuple[HistoryMessage, ...], frozenset[str]] = ((), frozenset())
        history, important = faults.guard(
            "history", lambda: self._history(read.session_id, kind, read.as_of, hits), nothing
        )
        matched = frozenset(hit.block.key for hit in hits)
        no_lines: tuple[Line, ...] = ()
        found = faults.guard("facts", lambda: self._facts(visible, kind, matched, read.as_of), no_lines)
        if read.as_of is not None:
            # A fact's line does not tell since when it holds; `facts` answers that.
            hits = [hit for hit in hits if hit.block.layer != "fact"]
        degraded, notice = self._trouble(kind)
        material = Material(
            facts=found,
            tasks=faults.guard("tasks", lambda: self._tasks(kind, task_id, read.as_of), ()),
            summaries=faults.guard("summaries", lambda: self._summaries(visible, kind, now), no_lines),
            recalled=tuple(hits),
            history=history,
            important=important,
            degraded=degraded or bool(faults.told),
            notice="; ".join([*([notice] if notice else []), *faults.told]) or None,
        )
        # Counting a long context takes some milliseconds, which belong to no event loop.
        return await anyio.to_thread.run_sync(
            lambda: build_context(
                material, read.max_tokens, self._counter, tz=self._zone, language=self._config.language
            )
        )

    async def search(self, search: MemorySearch) -> MemoryResults:
        """Find pieces by words."""
        await self.look()
        kind = self._kind(search.session_id or "", search.session_kind)
        task_id = task_named(search.session_id or "", search.query) if kind == "sub" else None
        hits = await self._found(
            search.query,
            now=self._clock.now(),
            limit=search.max_results,
            allow=self._visible(search.session_id, kind, task_id, None),
            layers=search.layers,
            recency=self._config.recency,
            min_score=search.min_score,
            explain=search.explain,
        )
        degraded, notice = self._trouble(kind)
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

    async def _found(self, query: str, **how: Any) -> list[Hit]:
        """Search, and search again when a file that a hit lies in was changed meanwhile."""
        for _ in range(SEARCHES):
            while not self._searcher.catch_up(INDEXING_SECONDS):  # noqa: ASYNC110 - it works, and waits for nobody
                await asyncio.sleep(0)
            hits = self._searcher.search(query, **how)
            if not await self._store.look_at({hit.block.path for hit in hits}):
                break
        return hits

    def _kind(self, session_id: str, given: SessionKind | None) -> SessionKind:
        return given or kind_of(session_id, self._config.default_session_kind)

    def _visible(
        self, session_id: str | None, kind: SessionKind, task_id: str | None, as_of: datetime | None
    ) -> Callable[[Block], bool]:
        def visible(block: Block) -> bool:
            if as_of is not None and block.time is not None and block.time > as_of:
                return False
            return allow(block, session_id, kind, task_id)

        return visible

    def _facts(
        self, visible: Callable[[Block], bool], kind: SessionKind, matched: frozenset[str], as_of: datetime | None
    ) -> tuple[Line, ...]:
        """Give profile and preferences, and the other facts that match the query."""
        if policy(kind).facts == "none":
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
        seen = policy(kind).tasks
        if document is None or seen == "none":
            return ()
        return tuple(
            task
            for task in tasks.open_tasks(document, self._zone)
            if (seen == "all" or task.id == task_id)
            and (as_of is None or task.created is None or task.created <= as_of)
        )

    def _summaries(self, visible: Callable[[Block], bool], kind: SessionKind, now: datetime) -> tuple[Line, ...]:
        if policy(kind).summaries != "all":
            return ()
        known = {
            document.path: document
            for folder in summaries.FOLDERS
            for document in self._catalog.documents(folder)
            if document.body.strip()
        }
        today = now.astimezone(self._zone).date()
        chosen = summaries.recent(known, today, self._config.summary_days)
        return tuple(Line(summaries.text_of(known[path]), path) for path in chosen)

    def _history(
        self, session_id: str, kind: SessionKind, as_of: datetime | None, hits: Sequence[Hit]
    ) -> tuple[tuple[HistoryMessage, ...], frozenset[str]]:
        """Give the recent messages of this session, those marked important, and those that match the query best."""
        visible = policy(kind).history != "group"
        messages_of = self._catalog.newest_messages(session_id, as_of)
        # A session's id alone opens nothing: a group sees what was said to the group.
        own = (item for item in messages_of if visible or item[1].visibility in ("group", "shared"))
        newest = list(islice(own, HISTORY_LOOKED_AT))
        messages = [
            HistoryMessage(
                role=message.role, content=message.content, timestamp=message.time, key=key, name=message.name
            )
            for key, message in reversed(newest)
            if told(message.time) is not None
        ]
        important = frozenset([key for key, message in newest if message.important][:IMPORTANT_MESSAGES])
        keys = {key for key, _ in newest}
        chosen = select_history(
            messages,
            important=important,
            relevant=[hit.block.key for hit in hits if hit.block.key in keys],
            recent=self._config.history_messages,
        )
        return chosen, important

    def _trouble(self, kind: SessionKind) -> tuple[bool, str | None]:
        """Tell whether something can't be read; the names of private files stay in private sessions."""
        problems = self._store.problems()
        if not problems:
            return False, self._estimate
        if policy(kind).search != "all":
            return True, "some files can't be read" if self._config.language == "en" else "有文件无法读取"
        return True, "; ".join([*sorted(problems.values()), *([self._estimate] if self._estimate else [])])


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


def _snippet(block: Block) -> str:
    text = f"{block.section}/{block.text}" if block.section and block.layer == "fact" else block.text
    return snippet(text, SNIPPET_CHARS)
