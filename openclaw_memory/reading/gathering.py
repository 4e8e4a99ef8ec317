"""Put a context together from what was found and what is there whatever the question. For a thread."""

from __future__ import annotations

import logging
from collections.abc import Callable, Sequence
from datetime import date, datetime
from typing import TypeVar

from contracts import HistoryMessage, MemoryContext, MemoryRead
from contracts.fields import SessionKind
from openclaw_memory.catalog import Catalog
from openclaw_memory.config import MemoryConfig
from openclaw_memory.context.assemble import build_context
from openclaw_memory.context.material import Line, Material
from openclaw_memory.context.tokens import TokenCounter
from openclaw_memory.context.visibility import policies
from openclaw_memory.layers.compactions import is_summary
from openclaw_memory.reading.history import History
from openclaw_memory.reading.layers import Layers
from openclaw_memory.reading.searching import most_that_fit
from openclaw_memory.reading.trouble import Troubles
from openclaw_memory.retrieval.blocks import Block
from openclaw_memory.retrieval.index import Hit
from openclaw_memory.workspace import LOG_LINES, WorkspaceView

log = logging.getLogger(__name__)


T = TypeVar("T")


class Gathering:
    """Gathers the material of contexts.

    Parameters: `catalog`; `view` of the workspace; `history` of sessions; `troubles` of what can't be read; `config`;
    `counter` of tokens; `recalled`, called with the question, the pieces that a context of the owner's own was made of,
    and the time.
    """

    def __init__(
        self,
        catalog: Catalog,
        view: WorkspaceView,
        history: History,
        troubles: Troubles,
        config: MemoryConfig,
        counter: TokenCounter,
        recalled: Callable[[str, Sequence[Block], datetime], None] | None,
    ) -> None:
        self._view = view
        self._history = history
        self._troubles = troubles
        self._layers = Layers(catalog, view, config, counter)
        self._config = config
        self._counter = counter
        self._recalled = recalled
        self._zone = config.zone
        self._policies = policies(config.session)

    def context(
        self,
        read: MemoryRead,
        kind: SessionKind,
        task_id: str | None,
        visible: Callable[[Block], bool],
        now: datetime,
        hits: list[Hit],
        by_words: str | None,
    ) -> MemoryContext:
        """Put a context together from what was found and what is there whatever the question."""
        faults = _Faults()
        nothing: tuple[tuple[HistoryMessage, ...], frozenset[str]] = ((), frozenset())
        history, important = faults.guard(
            "history", lambda: self._history.selected(read.session_id, kind, read.as_of, hits), nothing
        )
        matched = frozenset(hit.block.key for hit in hits)
        no_lines: tuple[Line, ...] = ()
        found = faults.guard("facts", lambda: self._layers.facts(visible, kind, matched, read.as_of), no_lines)
        if read.as_of is not None:
            # A fact's line does not tell since when it holds, `facts` answers that; an entry of MEMORY.md neither.
            hits = [hit for hit in hits if hit.block.layer not in ("fact", "memory")]
        seen, today = self._policies[kind], now.astimezone(self._zone).date()
        degraded, notice = self._troubles.of(kind, by_words)
        told: list[str] = []
        material = Material(
            facts=found,
            memory=faults.guard(
                "MEMORY.md",
                lambda: () if read.as_of is not None else self._layers.memory(seen, visible, today, told),
                no_lines,
            ),
            notes=faults.guard("notes", lambda: self._notes(read, kind, visible, today, history), no_lines),
            tasks=faults.guard("tasks", lambda: self._layers.tasks(kind, task_id, read.as_of), ()),
            summaries=faults.guard(
                "summaries", lambda: self._layers.summaries(visible, kind, now, read.as_of), no_lines
            ),
            recalled=tuple(hit for hit in hits if not _is_told(hit.block, read.session_id, history)),
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

    def _notes(
        self,
        read: MemoryRead,
        kind: SessionKind,
        visible: Callable[[Block], bool],
        today: date,
        history: tuple[HistoryMessage, ...],
    ) -> tuple[Line, ...]:
        """Give what the days' notes say, without what the session's history says already, or sums up."""
        compacted, _ = self._history.compacted(read.session_id, kind, read.as_of) or (None, None)

        def is_news(block: Block) -> bool:
            if compacted is not None and block.session == read.session_id:
                return visible(block) and (block.time is None or block.time > compacted.until)
            return visible(block)

        seen, said = self._policies[kind], {message.key for message in history}
        logged = self._view.log_lines(seen, is_news, today, min(LOG_LINES, most_that_fit(read.max_tokens)))
        return (*(line for line in logged if line.key not in said), *self._view.note_lines(seen, visible, today))


def _is_told(block: Block, session_id: str, history: tuple[HistoryMessage, ...]) -> bool:
    """Tell whether the history's own summary says what an earlier summary of the same session said."""
    return block.session == session_id and is_summary(block) and any(line.role == "system" for line in history)


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
