"""The smallest things that can be forgotten: a message, a fact, a task, an item, a paragraph, a line. Pure.

A unit is a run of lines of a Markdown body with all that a selector may ask of it.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import MINYEAR, UTC, datetime, time, tzinfo

from openclaw_memory.layers import day_log, facts, notes, tasks
from openclaw_memory.layers.documents import MarkdownDocument
from openclaw_memory.layers.rooms import room_of
from openclaw_memory.layers.summaries import period_of
from openclaw_memory.markdown.items import read_item
from openclaw_memory.markdown.notes import MAX_PARSED_CHARS
from openclaw_memory.markdown.outline import Outline, outline
from openclaw_memory.markdown.task_blocks import find_places
from openclaw_memory.markdown.text import split_lines

_TIMES_AND_WORDS = frozenset({"state", "priority", "created", "due", "completed"})
"""Attributes of a task that say nothing of what it is about."""

_RULE = re.compile(r"(?=.*\|)\|?\s*:?-+:?\s*(?:\|\s*:?-+:?\s*)*\|?")
"""The line below the names of a table's columns."""

_FIRST, _LAST = datetime.min.replace(tzinfo=UTC), datetime.max.replace(tzinfo=UTC)


@dataclass(frozen=True, slots=True)
class Unit:
    """Lines of a body, from 1, both ends included, that go together.

    `text` is what they say; `section` and `key` name a fact, `task` a task, `message` and `session` one that a day's
    note tells again. `since` and `until` are the time that it is
    of, None where nobody knows. `silent` are lines in it that do not count when a text is looked for.
    """

    start: int
    end: int
    text: str
    section: str | None = None
    key: str | None = None
    task: str | None = None
    since: datetime | None = None
    until: datetime | None = None
    silent: frozenset[int] = frozenset()
    message: str | None = None
    session: str | None = None


def units_of(document: MarkdownDocument, zone: tzinfo) -> list[Unit]:
    """Cut a document into units, in the order of the file; every line with text is in one of them at least.

    A heading is a unit with all that stands right under it, after which what is under it comes by itself: who forgets
    the heading forgets what it is the heading of.
    """
    room = room_of(document.path).name
    said = _logged(document, zone) if room == "note" else []
    body = day_log.own_text(document) if said else document.body
    lines = split_lines(body)
    if len(body) > MAX_PARSED_CHARS:
        return sorted([*_paragraphs(lines, set()), *said], key=lambda unit: unit.start)
    found = outline(body)
    if room == "task":
        units = _tasks(document, found, lines, zone)
    elif room == "fact":
        units = _facts(document)
    else:
        units = []
    taken = {number for unit in units for number in range(unit.start, unit.end + 1)}
    for section in found.sections:
        if section.level and section.start_line not in taken:
            end = section.text_line - 1 if section.level == 1 else max(section.end_line, section.text_line - 1)
            units.append(Unit(section.start_line, end, section.title))
            taken.update(range(section.start_line, section.text_line))
        for item in section.items:
            if item.start_line not in taken:
                units.append(Unit(item.start_line, item.end_line, item.text, section.title or None))
                taken.update(range(item.start_line, item.end_line + 1))
    units = _with_nested(units, found.nested, lines) if room != "task" else units
    units += [*_paragraphs(lines, taken), *said]
    return [_timed(document, unit, zone) for unit in sorted(units, key=lambda unit: (unit.start, -unit.end))]


def heading_lines(document: MarkdownDocument) -> dict[int, int]:
    """Give for each unit that begins with a heading the last line of the heading itself, by its first."""
    body = day_log.own_text(document) if room_of(document.path).name == "note" else document.body
    if len(body) > MAX_PARSED_CHARS:
        return {}
    return {section.start_line: section.text_line - 1 for section in outline(body).sections if section.level}


def lines_as_said(document: MarkdownDocument) -> list[str]:
    """Give the lines of a body; of those that tell what was said, the text alone: none is looked for in their marks."""
    lines = split_lines(document.body)
    if room_of(document.path).name == "note":
        for one in day_log.lines_of(document):
            lines[one.line - 1] = " ".join(filter(None, (one.name, one.text)))
    return lines


def _logged(document: MarkdownDocument, zone: tzinfo) -> list[Unit]:
    """Give the lines of a note that tell what was said, each for itself."""
    day, before = notes.day_of_note(document.path), document.body_start - 1
    blocks = day_log.blocks(document, day, zone)
    return [
        Unit(
            block.start_line - before,
            block.start_line - before,
            block.text,
            since=block.time,
            until=block.time,
            message=block.key.rpartition("#")[2],
            session=block.session,
        )
        for block in blocks
    ]


def _facts(document: MarkdownDocument) -> list[Unit]:
    return [
        Unit(fact.start_line, fact.end_line, fact.value, fact.section, fact.key) for fact in facts.facts_in(document)
    ]


def _tasks(document: MarkdownDocument, found: Outline, lines: Sequence[str], zone: tzinfo) -> list[Unit]:
    places = {place.id: place for place in find_places(found, lines)}
    units = []
    for task in tasks.tasks_in(document, zone):
        silent = {
            number
            for attribute, item in places[task.id].items
            if attribute in _TIMES_AND_WORDS
            for number in range(item.start_line, item.end_line + 1)
        }
        units.append(
            Unit(
                task.start_line,
                task.end_line,
                task.title,
                task=task.id,
                since=task.created,
                until=task.completed or task.created,
                silent=frozenset(silent),
            )
        )
    return units


def _with_nested(units: Sequence[Unit], nested: Sequence[tuple[int, int]], lines: Sequence[str]) -> list[Unit]:
    """Add the items within items and facts: what one of them says, the item around it does not say itself."""
    headed = {unit.start for unit in units if lines[unit.start - 1].lstrip().startswith("#")}
    found = []
    for unit in units:
        inner = [] if unit.start in headed else [one for one in nested if unit.start < one[0] and one[1] <= unit.end]
        found.append(replace(unit, silent=unit.silent | _lines_of(inner)))
        for start, end in inner:
            own = lines[start - 1 : end]
            text = read_item(own, start).text
            within = [one for one in inner if start < one[0] and one[1] <= end]
            found.append(Unit(start, end, text, unit.section, silent=_lines_of(within)))
    return found


def _lines_of(runs: Iterable[tuple[int, int]]) -> frozenset[int]:
    return frozenset(number for start, end in runs for number in range(start, end + 1))


def _paragraphs(lines: Sequence[str], taken: set[int]) -> Iterator[Unit]:
    """Yield runs of lines that are neither blank nor taken, and the rows of tables one by one."""
    for start, end in _runs(lines, taken):
        yield from _in_run(lines, start, end)


def _in_run(lines: Sequence[str], start: int, end: int) -> Iterator[Unit]:
    """Cut a run of lines: what names the columns of a table stands for all of it, a row for itself."""
    head = next((at for at in range(start, end) if "|" in lines[at - 1] and _RULE.fullmatch(lines[at].strip())), None)
    if head is None:
        yield Unit(start, end, "".join(lines[start - 1 : end]).strip())
        return
    if head > start:
        yield Unit(start, head - 1, "".join(lines[start - 1 : head - 1]).strip())
    last = head + 1
    while last < end and "|" in lines[last]:
        last += 1
    rows = range(head + 2, last + 1)
    yield Unit(head, last, lines[head - 1].strip(), silent=frozenset(rows))
    for row in rows:
        yield Unit(row, row, lines[row - 1].strip())
    if last < end:
        yield from _in_run(lines, last + 1, end)


def _runs(lines: Sequence[str], taken: set[int]) -> Iterator[tuple[int, int]]:
    """Yield first and last line of what is neither blank nor taken."""
    start = 0
    for number, line in enumerate([*lines, ""], start=1):
        inside = bool(line.strip()) and number not in taken
        if inside and not start:
            start = number
        elif not inside and start:
            yield start, number - 1
            start = 0


def _timed(document: MarkdownDocument, unit: Unit, zone: tzinfo) -> Unit:
    """Give a unit the time that its document tells: a note's day and hour, a summary's period."""
    if unit.since is not None:
        return unit
    if (period := period_of(document.path)) is not None and room_of(document.path).name == "summary":
        since = datetime.combine(period.first, time.min, zone)
        return _with(unit, since, datetime.combine(period.last, time.max, zone))
    day = notes.day_of_note(document.path) if room_of(document.path).name == "note" else None
    if day is None:
        return unit
    entries = [entry for entry in notes.notes_in(document) if entry.start_line <= unit.start <= entry.end_line]
    if entries:
        at = datetime.combine(day, entries[-1].time, zone)
        return _with(unit, at, at)
    begin, end = (datetime.combine(day, at, zone) for at in (time.min, time.max))
    return _with(unit, begin, end)


def _with(unit: Unit, since: datetime, until: datetime) -> Unit:
    return replace(unit, since=_utc(since), until=_utc(until))


def _utc(time: datetime) -> datetime:
    try:
        return time.astimezone(UTC)
    except OverflowError:
        # A person may name a file by the first day of all, or the last: what is beyond those is as early, or as late.
        return _FIRST if time.year == MINYEAR else _LAST
