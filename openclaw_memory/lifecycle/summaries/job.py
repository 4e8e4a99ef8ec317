"""The job that makes summaries: of each day that has ended, then of its week, then of its month."""

from __future__ import annotations

import hashlib
from collections.abc import Coroutine, Mapping, Sequence
from dataclasses import replace
from datetime import date, datetime, timedelta
from itertools import chain
from typing import Any

import anyio.lowlevel
import anyio.to_thread

from openclaw_memory.errors import OpenClawMemoryError
from openclaw_memory.layers.day_files import ConversationDocument
from openclaw_memory.layers.documents import MarkdownDocument
from openclaw_memory.layers.parts import FOLDERS as CONVERSATIONS
from openclaw_memory.layers.summaries import FOLDER, path_of
from openclaw_memory.layers.summary_edits import digest_of
from openclaw_memory.layers.summary_records import SUMMARIES, Record, Stamp, plan_record, record_in
from openclaw_memory.lifecycle.jobs import NOTHING, Outcome, another_day
from openclaw_memory.lifecycle.summaries import passages
from openclaw_memory.lifecycle.summaries.making import Maker, Result, Wanted
from openclaw_memory.lifecycle.summaries.passages import Passage
from openclaw_memory.lifecycle.summaries.periods import (
    days_ended,
    end_of_month,
    messages_told,
    months_ended,
    source_lines,
    summary_lines,
    weeks_ended,
)
from openclaw_memory.lifecycle.tools import Tools
from openclaw_memory.markdown.messages import Message, MessageFile
from openclaw_memory.markdown.summaries import Period, parse_summary
from openclaw_memory.markdown.summary_items import read_items

DAYS_AT_ONCE = 200
"""Days that are looked at before others may go on: each takes some microseconds when nothing has changed."""


class Summaries:
    """Job of the heartbeat: what is missing is made, what rests on something else than before is made anew.

    Parameters: `tools`; `maker`, which makes one.
    """

    name = "summaries"

    def __init__(self, tools: Tools, maker: Maker) -> None:
        self._tools = tools
        self._maker = maker
        self._zone = tools.config.zone
        self._checked: dict[str, MessageFile] = {}
        """The messages of each file that was looked at last, by path: the same ones tell nothing new."""
        self._listed: tuple[list[str], date, dict[date, list[str]]] | None = None

    def due(self, last: datetime | None, now: datetime) -> bool:
        """Tell whether a day has ended, or something was said later on of a day that had."""
        return another_day(last, now, self._zone) or bool(self._late(now))

    def _late(self, now: datetime) -> list[str]:
        """List files of days that have ended which are others than when they were looked at."""
        today = now.astimezone(self._zone).date()
        return [path for path in chain.from_iterable(self._days(today).values()) if self._is_another(path) is True]

    def _is_another(self, path: str) -> bool | None:
        """Tell whether a file holds other messages than when it was looked at; None for one at rest."""
        document = self._tools.catalog.document(path)
        return None if document is None else document.file is not self._checked.get(path)

    def _days(self, today: date) -> dict[date, list[str]]:
        """Give the files of the days before today. Names are read again when there are others."""
        files = self._tools.catalog.paths(*CONVERSATIONS)
        if self._listed is None or self._listed[0] is not files or self._listed[1] != today:
            self._listed = (files, today, days_ended(files, today))
        return self._listed[2]

    async def run(self, now: datetime) -> Outcome:
        """Make what is due. A period whose files can't be read costs itself, and is tried again with the next tick."""
        today = now.astimezone(self._zone).date()
        await self._tools.store.look([f"{FOLDER}/{length}" for length in ("daily", "weekly", "monthly")], wake=True)
        done = _Done()
        records, stamps = await self._known()
        for number, (day, paths) in enumerate(self._days(today).items()):
            if number % DAYS_AT_ONCE == 0:
                await anyio.lowlevel.checkpoint()
            record = record_in(records, path_of("daily", day))
            if record is None or not self._unchanged(paths, stamps, record.stamps):
                of_day = {path: stamps[path] for path in paths if path in stamps}
                await self._each(done, self._day(day, paths, of_day, record, now))
        for longer in ("weekly", "monthly"):
            forgotten = self._tools.forgotten()
            for period, first, documents, content in self._longer_ended(records, today, longer):
                await self._each(done, self._longer(period, first, documents, content, forgotten, now))
        return done.outcome()

    async def make(self, period: Period, day: date, now: datetime) -> Outcome:
        """Make one summary now, also where it would be the same, or was removed; what a person wrote stays."""
        done = _Done()
        if period == "daily":
            paths = self._days(date.max).get(day, [])
            records, stamps = await self._known()
            of_day = {path: stamps[path] for path in paths if path in stamps}
            record = record_in(records, path_of("daily", day))
            await self._each(done, self._day(day, paths, of_day, record, now, again=True))
        else:
            first = day - timedelta(days=day.weekday()) if period == "weekly" else day.replace(day=1)
            forgotten = self._tools.forgotten()
            for _, this, documents, content in self._longer_ended({}, date.max, period):
                if this == first:
                    await self._each(done, self._longer(period, first, documents, content, forgotten, now, again=True))
        return done.outcome()

    async def _each(self, done: _Done, making: Coroutine[Any, Any, Result | None]) -> None:
        try:
            result = await making
        except OpenClawMemoryError as error:
            done.failed.append(str(error))
            return
        if result is not None:
            done.keys += [result.key] if result.key else []
            done.remarks += [result.remark] if result.remark else []

    # -- a day --------------------------------------------------------------------------------------------------

    async def _known(self) -> tuple[Mapping[str, Any], dict[str, Stamp]]:
        """Give the records of summaries, and the states of the files that the index was filled from."""
        kept: Mapping[str, Any] = (await self._tools.store.draft([SUMMARIES])).document(SUMMARIES).values
        files = await anyio.to_thread.run_sync(self._tools.catalog.index.records)
        return kept, {path: (file.size, file.mtime_ns, file.checksum) for path, file in files.items()}

    async def _day(
        self,
        day: date,
        paths: Sequence[str],
        stamps: Mapping[str, Stamp],
        record: Record | None,
        now: datetime,
        *,
        again: bool = False,
    ) -> Result | None:
        path, forgotten = path_of("daily", day), self._tools.forgotten()
        wake = [one for one in paths if self._tools.catalog.document(one) is None]
        if wake:
            await self._tools.store.wake(wake)
        documents = {one: held for one in paths if (held := self._tools.catalog.document(one)) is not None}
        said, counts, content = await anyio.to_thread.run_sync(self._said, day, list(documents.values()))
        self._checked |= {one: document.file for one, document in documents.items()}
        if record is not None and record.content == content and not again:
            if dict(record.stamps) != stamps and len(stamps) == len(paths):
                await self._remember(path, stamps)
            return None
        lines = source_lines(counts, self._tools.config.language)
        wanted = Wanted("daily", day, day, said, lines, content, forgotten, stamps)
        return await self._maker.make(wanted, now, again=again)

    def _unchanged(self, paths: Sequence[str], stamps: Mapping[str, Stamp], before: Mapping[str, Stamp]) -> bool:
        """Tell whether all files are as they were; one in memory by the document, one at rest by its stamp."""
        for path in paths:
            another = self._is_another(path)
            if another or (another is None and (path not in stamps or stamps[path] != before.get(path))):
                return False
        return True

    def _said(
        self, day: date, documents: Sequence[ConversationDocument]
    ) -> tuple[tuple[Passage, ...], list[tuple[str, int]], str]:
        """Give what the owner and the agent said, how much of it stands in each file, and a name for all of it."""
        kind = self._tools.config.default_session_kind
        counts: list[tuple[str, int]] = []
        seen: set[str] = set()
        messages: list[Message] = []
        for document in documents:
            blocks = [block for block in document.file.blocks if passages.is_summarised(block.message, kind)]
            fresh = [block.message for block in blocks if block.message.id not in seen]
            seen.update(message.id for message in fresh)
            messages += fresh
            if fresh:
                counts.append((document.path, len(fresh)))
        said = passages.passages_of(messages, day)
        return said, counts, passages.digest_of(said)

    async def _remember(self, path: str, stamps: Mapping[str, Stamp]) -> None:
        """Note that the files were written anew and say the same: they need not be read again."""
        draft = await self._tools.store.draft([SUMMARIES])
        record = record_in(draft.document(SUMMARIES).values, path)
        if record is None:
            return
        plan_record(draft, path, replace(record, stamps=stamps))
        commit = self._tools.store.commit(draft)
        await commit.wait()
        if commit.error is not None:
            raise commit.error

    # -- a week, a month ----------------------------------------------------------------------------------------

    def _longer_ended(
        self, records: Mapping[str, Any], today: date, period: Period
    ) -> list[tuple[Period, date, list[MarkdownDocument], str]]:
        """List the weeks or months that have ended and rest on something else than their record says.

        Gives first day, documents, and what names these. Summaries are never at rest.
        """
        shorter = self._tools.catalog.documents(f"{FOLDER}/{'daily' if period == 'weekly' else 'weekly'}")
        documents = {document.path: document for document in shorter if document.body.strip()}
        ended = (weeks_ended if period == "weekly" else months_ended)(documents, today)
        found = []
        for first, paths in ended.items():
            content = self._content([documents[path] for path in paths])
            record = record_in(records, path_of(period, first))
            if record is None or record.content != content:
                found.append((period, first, [documents[path] for path in paths], content))
        return found

    def _content(self, documents: Sequence[MarkdownDocument]) -> str:
        """Name what some summaries say."""
        lines = (f"{one.path} {one.once('digest', lambda one=one: digest_of(one.body))}" for one in documents)  # type: ignore[misc]
        return hashlib.sha256("\n".join(lines).encode()).hexdigest()[:32]

    async def _longer(
        self,
        period: Period,
        first: date,
        documents: Sequence[MarkdownDocument],
        content: str,
        forgotten: object,
        now: datetime,
        *,
        again: bool = False,
    ) -> Result | None:
        said, counts = await anyio.to_thread.run_sync(_shorter, documents)
        last = first + timedelta(days=6) if period == "weekly" else end_of_month(first)
        lines = summary_lines(counts, self._tools.config.language)
        return await self._maker.make(Wanted(period, first, last, said, lines, content, forgotten), now, again=again)


class _Done:
    """What a run came to."""

    def __init__(self) -> None:
        self.keys: list[str] = []
        self.remarks: list[str] = []
        self.failed: list[str] = []

    def outcome(self) -> Outcome:
        keys = tuple(self.keys)
        message = "; ".join(dict.fromkeys([*self.failed, *self.remarks])) or None
        if self.failed:
            return Outcome("failed", keys, message)
        return Outcome("done", keys, message) if keys else Outcome("nothing", (), message) if message else NOTHING


def _shorter(documents: Sequence[MarkdownDocument]) -> tuple[tuple[Passage, ...], list[tuple[str, int]]]:
    """Give the items of shorter summaries, and how many messages each tells of."""
    said: list[Passage] = []
    counts = []
    for document in documents:
        body = document.body.replace("\r\n", "\n")
        said += passages.passages_in(read_items(body), document.path)
        counts.append((document.path, messages_told(parse_summary(body).sources)))
    return tuple(said), counts
