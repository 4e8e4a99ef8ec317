"""Summaries: days, weeks and months in few words (seed 000 section 2.4). Read here; nothing writes them yet."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import UTC, date, datetime, time, timedelta, tzinfo

from openclaw_memory.layers.documents import BodyFormat, MarkdownDocument, told
from openclaw_memory.layers.pieces import free_text
from openclaw_memory.retrieval.blocks import Block

FOLDER = "summaries"
FOLDERS = (FOLDER, f"{FOLDER}/daily", f"{FOLDER}/weekly", f"{FOLDER}/monthly")

FORMAT = BodyFormat("summary", {}, {})

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
    """Give a summary as the prompt holds it."""
    return document.body.replace("\r\n", "\n").strip()


def blocks(document: MarkdownDocument, zone: tzinfo) -> list[Block]:
    """Give the items of a summary as addressable pieces; their time is the end of the period."""
    period = period_of(document.path)
    day = None if period is None else told(period.last)
    when = None if day is None else datetime.combine(day, time.max, zone).astimezone(UTC)
    return free_text(document, "summary", time=told(when))
