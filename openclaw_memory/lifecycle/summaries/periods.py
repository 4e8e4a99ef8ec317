"""Which periods have ended, and what belongs to each. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from datetime import date, timedelta

from openclaw_memory.layers.parts import day_of, order_of
from openclaw_memory.layers.summaries import month_of_week, period_of
from openclaw_memory.markdown.message_header import Language

_DAY = re.compile(r"(\d{4}-\d\d-\d\d)\.md")
_COUNT = re.compile(r"[(（].*?(\d+)")
_MESSAGES: Mapping[Language, str] = {"zh": "{} (共 {} 条消息)", "en": "{} ({} messages)"}
_PARTS: Mapping[Language, str] = {
    "zh": "{} 等 {} 个文件 (共 {} 条消息)",
    "en": "{} and its parts, {} files ({} messages)",
}

MOST_NAMED = 4
"""So many files of a day are named one by one."""


def days_ended(paths: Iterable[str], today: date) -> dict[date, list[str]]:
    """Group the files of conversations by day, in order, for the days before today."""
    days: dict[date, list[str]] = {}
    for path in paths:
        match = _DAY.fullmatch(day_of(path).rpartition("/")[2])
        try:
            day = date.fromisoformat(match[1]) if match else None
        except ValueError:
            continue
        if day is not None and day < today:
            days.setdefault(day, []).append(path)
    return {day: sorted(days[day], key=order_of) for day in sorted(days)}


def weeks_ended(dailies: Iterable[str], today: date) -> dict[date, list[str]]:
    """Group the summaries of days by the Monday of their ISO week, for the weeks whose Sunday is over."""
    weeks: dict[date, list[str]] = {}
    for path in sorted(dailies):
        period = period_of(path)
        if period is None or period.first != period.last:
            continue
        monday = _monday(period.first)
        if monday is not None and (today - monday).days >= 7:
            weeks.setdefault(monday, []).append(path)
    return dict(sorted(weeks.items()))


def months_ended(weeklies: Iterable[str], today: date) -> dict[date, list[str]]:
    """Group the summaries of weeks by the first day of their month, for the months whose last week is over.

    A week belongs to the month of its Thursday.
    """
    months: dict[date, list[str]] = {}
    for path in sorted(weeklies):
        period = period_of(path)
        if period is None or (period.last - period.first).days != 6:
            continue
        month = month_of_week(period.first)
        if today > end_of_month(month):
            months.setdefault(month, []).append(path)
    return dict(sorted(months.items()))


def end_of_month(month: date) -> date:
    """Give the Sunday that ends the last week of a month; the last day of all where the calendar ends before it."""
    try:
        last = (month + timedelta(days=31)).replace(day=1) - timedelta(days=1)
        # The last Thursday of the month, and the Sunday after it.
        return last - timedelta(days=(last.weekday() - 3) % 7) + timedelta(days=3)
    except OverflowError:
        return date.max


def _monday(day: date) -> date | None:
    try:
        return day - timedelta(days=day.weekday())
    except OverflowError:
        return None


def source_lines(counts: Sequence[tuple[str, int]], language: Language) -> tuple[str, ...]:
    """Name files with how many messages each gave; the parts of a very long day together."""
    if len(counts) <= MOST_NAMED:
        return tuple(_MESSAGES[language].format(path, count) for path, count in counts)
    total = sum(count for _, count in counts)
    return (_PARTS[language].format(counts[-1][0], len(counts), total),)


def summary_lines(counts: Sequence[tuple[str, int]], language: Language) -> tuple[str, ...]:
    """Name the summaries that a longer one is made from."""
    return tuple(_MESSAGES[language].format(path, count) for path, count in counts)


def messages_told(sources: Iterable[str]) -> int:
    """Count the messages that the lines of a summary's head tell of."""
    return sum(int(match[1]) for source in sources if (match := _COUNT.search(source)))
