"""Make one summary and write it down, unless a person has had a hand in it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import date, datetime

from openclaw_memory.completion import CompletionError
from openclaw_memory.errors import ConfigError
from openclaw_memory.layers.summaries import date_of, path_of
from openclaw_memory.layers.summary_edits import digest_of, tasks_section
from openclaw_memory.layers.summary_records import SUMMARIES, Record, Stamp, judge, plan_record, record_in
from openclaw_memory.layers.task_upkeep import room_for_tasks
from openclaw_memory.lifecycle.summaries.extractive import Extractive
from openclaw_memory.lifecycle.summaries.model import ModelSummarizer
from openclaw_memory.lifecycle.summaries.passages import Material, Passage
from openclaw_memory.lifecycle.summaries.summarizer import Summarizer
from openclaw_memory.lifecycle.tools import Tools
from openclaw_memory.markdown.summaries import Period, format_summary
from openclaw_memory.markdown.summary_items import SummaryItems, without_sources, write_items
from openclaw_memory.storage.documents import Draft
from openclaw_memory.storage.operations import Operation


@dataclass(frozen=True, slots=True)
class Wanted:
    """A summary that could be made: of which period, of what, and what names that (`content`).

    `sources` are the lines that name its files; `last` is the last day of the period; `stamps` are those of its files.
    `forgotten` is what `Tools.forgotten` gave before they were read.
    """

    period: Period
    day: date
    last: date
    passages: tuple[Passage, ...]
    sources: tuple[str, ...]
    content: str
    forgotten: object
    stamps: Mapping[str, Stamp] = field(default_factory=dict)

    @property
    def path(self) -> str:
        """File of the summary."""
        return path_of(self.period, self.day)


@dataclass(frozen=True, slots=True)
class Result:
    """What became of a summary: its key when it was written, and what is to be said about it."""

    key: str | None = None
    remark: str | None = None


class Maker:
    """Makes summaries.

    Parameters: `tools`; `summarizer`, one to use instead of those that the configuration names, for those who bring
    their own.
    """

    def __init__(self, tools: Tools, summarizer: Summarizer | None = None) -> None:
        self._tools = tools
        self._given = summarizer
        self._rules = Extractive(tools.counter.count)
        self._budgets: Mapping[Period, int] = {
            "daily": tools.config.summaries.daily_tokens,
            "weekly": tools.config.summaries.weekly_tokens,
            # Its completed tasks come later, a month after they were completed.
            "monthly": tools.config.summaries.monthly_tokens - room_for_tasks(tools.config.summaries.monthly_tokens),
        }

    async def make(self, wanted: Wanted, now: datetime, *, again: bool = False) -> Result:
        """Make a summary where none is, or of something else than before.

        Parameters: `again`, also where it would be the same, or where somebody removed it; what a person wrote stays.

        Raises: `UnreadableDocumentError`, `StaleMaterialError`, `StorageError`; then nothing is written.
        """
        local = now.astimezone(self._tools.config.zone)
        draft = await self._draft(wanted)
        if not self._is_wanted(draft, wanted, again):
            return Result()
        config = self._tools.config
        body = draft.document(wanted.path).body
        old = digest_of(body)
        material = Material(wanted.period, date_of(wanted.period, wanted.day), config.language, wanted.passages)

        def written(items: SummaryItems, more: str = "") -> str:
            return format_summary(
                wanted.period,
                material.date,
                "\n\n".join(part for part in (write_items(items, language=config.language), more) if part),
                generated=local.isoformat(timespec="seconds"),
                sources=wanted.sources,
                language=config.language,
            )

        def fits(items: SummaryItems) -> bool:
            return self._tools.counter.count(without_sources(written(items)).strip()) <= self._budgets[wanted.period]

        room = self._budgets[wanted.period] - self._tools.counter.count(written(SummaryItems()))
        summarizer, problem = await self._summarizer(wanted, local.date())
        made = await summarizer.summarize(material, fits, max(room, 0))
        remark = "; ".join(told for told in (problem, made.remark) if told) or None
        draft = await self._draft(wanted)
        self._tools.refuse_stale(wanted.forgotten)
        if digest_of(draft.document(wanted.path).body) != old or not self._is_wanted(draft, wanted, again):
            # Somebody wrote it while it was made. What they wrote stays.
            return Result(remark=remark)
        by = "model" if made.by == "model" else "rules"
        if made.items:
            text = written(made.items, tasks_section(body))
            arguments = {"text": text, "old": old, "at": local.isoformat(timespec="seconds")}
            draft.apply(Operation(wanted.path, "write", arguments))
            body = draft.document(wanted.path).body
        plan_record(draft, wanted.path, Record(digest_of(body), by, wanted.content, wanted.stamps))  # type: ignore[arg-type]
        commit = self._tools.store.commit(draft)
        await commit.wait()
        if commit.error is not None:
            raise commit.error
        return Result(wanted.path if made.items else None, remark)

    async def _draft(self, wanted: Wanted) -> Draft:
        return await self._tools.store.draft([wanted.path, SUMMARIES])

    def _is_wanted(self, draft: Draft, wanted: Wanted, again: bool) -> bool:
        record = record_in(draft.document(SUMMARIES).values, wanted.path)
        verdict = judge(record, draft.document(wanted.path).body, wanted.content)
        return bool(wanted.passages) and (verdict == "make" or (again and verdict in ("same", "removed")))

    async def _summarizer(self, wanted: Wanted, today: date) -> tuple[Summarizer, str | None]:
        """Choose who makes it, and tell why it is not the model that is configured."""
        if self._given is not None:
            return self._given, None
        config = self._tools.config
        recent = (today - wanted.last).days <= config.summaries.model_days
        try:
            model = await self._tools.models.model() if recent else None
        except (ConfigError, CompletionError) as error:
            return self._rules, f"rules make summaries, since there is no model: {error}"
        if model is None:
            return self._rules, None
        return ModelSummarizer(model, self._rules, self._tools.counter.count, config.completion), None
