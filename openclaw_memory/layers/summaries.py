"""Summaries: days, weeks and months in few words (seed 000 section 2.4)."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import UTC, date, datetime, time, timedelta, tzinfo

from openclaw_memory.layers.documents import MarkdownDocument, told
from openclaw_memory.layers.pieces import free_text
from openclaw_memory.layers.summary_edits import FORMAT as FORMAT
from openclaw_memory.markdown.summaries import Period as Length
from openclaw_memory.markdown.summary_items import without_sources
from openclaw_memory.retrieval.blocks import Block

FOLDER = "summaries"
FOLDERS = (FOLDER, f"{FOLDER}/daily", f"{FOLDER}/weekly", f"{FOLDER}/monthly")

_DAY = re.compile(r"(\d{4})-(\d\d)-(\d\d)$")
_WEEK = re.compile(r"(\d{4})-w(\d\d)$", re.IGNORECASE)
_MONTH = re.compile(r"(\d{4})-(\d\d)$")


@dataclass(frozen=True, slots=True)
class Period:
    """The days that a summary covers, both included."""

    first: date
    last: date


def period_of(path: str) -> Period | None:
    """Read the period from a file's name; None when the name is of no known form."""
    name = path.rpartition("/")[2].removesuffix(".md")
    try:
        if match := _DAY.search(name):
            day = date(*map(int, match.groups()))
            return Period(day, day)
        if match := _WEEK.search(name):
            monday = date.fromisocalendar(int(match[1]), int(match[2]), 1)
            return Period(monday, monday + timedelta(days=6))
        if match := _MONTH.search(name):
            first = date(int(match[1]), int(match[2]), 1)
            return Period(first, (first + timedelta(days=31)).replace(day=1) - timedelta(days=1))
    except (ValueError, OverflowError):
        return None
    return None


def date_of(length: Length, day: date) -> str:
    """Name the period that a day lies in: `2026-05-04`, `2026-w18` (ISO week), `2026-05`."""
    if length == "daily":
        return day.isoformat()
    if length == "weekly":
        year, week, _ = day.isocalendar()
        return f"{year:04}-w{week:02}"
    return f"{day.year:04}-{day.month:02}"


def path_of(length: Length, day: date) -> str:
    """Give the file of the summary of the period that a day lies in."""
    return f"{FOLDER}/{length}/{date_of(length, day)}.md"


def month_of_week(monday: date) -> date:
    """Give the first day of the month that a week belongs to: that of its Thursday."""
    return (monday + timedelta(days=3)).replace(day=1)


def recent(paths: Iterable[str], today: date, days: int) -> list[str]:
    """Choose the summaries of a context, oldest first: the daily ones of the last `days`, and the latest of all.

    Those of a period that has not begun yet on `today` are left out.
    """
    dated = sorted(
        (period.last, -(period.last - period.first).days, path)
        for path in paths
        if (period := period_of(path)) is not None and period.first <= today
    )
    daily = [path for last, length, path in dated if length == 0 and last >= today - timedelta(days=days)]
    latest = [path for _, _, path in dated[-1:]]
    return list(dict.fromkeys([*(path for path in latest if path not in daily), *daily]))


def text_of(document: MarkdownDocument) -> str:
    """Give a summary as the prompt holds it: without the addresses of what its items rest on."""
    return without_sources(document.body.replace("\r\n", "\n")).strip()


def blocks(document: MarkdownDocument, zone: tzinfo) -> list[Block]:
    """Give the items of a summary as addressable pieces; their time is the end of the period."""
    period = period_of(document.path)
    day = None if period is None else told(period.last)
    when = None if day is None else datetime.combine(day, time.max, zone).astimezone(UTC)
    pieces = free_text(document, "summary", time=told(when))
    return [piece._replace(text=without_sources(piece.text)) for piece in pieces]
