"""What the layers say whatever the question: facts, MEMORY.md, tasks, summaries. For a thread."""

from __future__ import annotations

from collections.abc import Callable
from datetime import date, datetime

from contracts import Task
from contracts.fields import SessionKind
from openclaw_memory.catalog import Catalog
from openclaw_memory.config import MemoryConfig
from openclaw_memory.context.material import Line
from openclaw_memory.context.tokens import TokenCounter
from openclaw_memory.context.visibility import Visibility, policies
from openclaw_memory.layers import facts, state, summaries, tasks
from openclaw_memory.retrieval.blocks import Block
from openclaw_memory.workspace import WorkspaceView

_MEMORY_LEFT = {
    "zh": "MEMORY.md 有 {left} 段超出预算未载入(memory_tokens: {budget})",
    "en": "{left} pieces of MEMORY.md were not loaded (memory_tokens: {budget})",
}


class Layers:
    """Gives lines of the layers, as far as a session may see them.

    Parameters: `catalog`; `view` of the workspace; `config`; `counter` of tokens.
    """

    def __init__(self, catalog: Catalog, view: WorkspaceView, config: MemoryConfig, counter: TokenCounter) -> None:
        self._catalog = catalog
        self._view = view
        self._config = config
        self._counter = counter
        self._zone = config.zone
        self._policies = policies(config.session)

    def memory(
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

    def facts(
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

    def tasks(self, kind: SessionKind, task_id: str | None, as_of: datetime | None) -> tuple[Task, ...]:
        """Give the open tasks; of a session that has one task, that one."""
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

    def summaries(
        self, visible: Callable[[Block], bool], kind: SessionKind, now: datetime, as_of: datetime | None
    ) -> tuple[Line, ...]:
        """Give the newest summaries, as far as they were known then."""
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
        chosen = summaries.recent(known, now.astimezone(self._zone).date(), self._config.summary_days)
        return tuple(Line(summaries.text_of(known[path]), path) for path in chosen)
