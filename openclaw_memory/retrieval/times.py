"""Times that a question names, English and Chinese, relative to the moment of asking. Pure.

What is read here only lifts memories of that time, so a wrong reading costs a place or two and hides nothing.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import date, datetime, timedelta

_MONTHS = (
    *("january", "february", "march", "april", "may", "june"),
    *("july", "august", "september", "october", "november", "december"),
)
_MONTH = "(?P<month>" + "|".join(f"{name}|{name[:3]}" for name in _MONTHS if name != "may") + "|may)"
_COUNTED = ("a", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten")
_NUMBERS = {**{word: n for n, word in enumerate(_COUNTED, 1)}, "an": 1}
_DIGITS = {char: n for n, char in enumerate("一二三四五六七八九十", 1)} | {"两": 2}
_SEASONS = {"spring": 3, "summer": 6, "autumn": 9, "fall": 9, "winter": 12, "春": 3, "夏": 6, "秋": 9, "冬": 12}
_UNITS = {"day": 1, "week": 7, "month": 30, "year": 365, "天": 1, "日": 1, "周": 7, "星期": 7, "月": 30, "年": 365}
_LAST = {"year": "year", "month": "month", "week": "week", "去年": "year", "上周": "week", "上星期": "week"}


@dataclass(frozen=True, slots=True)
class Span:
    """Days, the last one included."""

    first: date
    last: date

    def holds(self, day: date) -> bool:
        """Tell whether a day lies within."""
        return self.first <= day <= self.last


def spans(text: str, now: datetime) -> list[Span]:
    """Give the spans of days that a question names: `in May 2023`, `last spring`, `上周`, `三天前`, `2023年5月`.

    `now` is the moment of asking, in the zone whose days count. A month or a day without a year is the latest that has
    begun. Dates that no calendar has are passed over.
    """
    found: list[Span] = []
    for pattern, read in _READERS:
        for match in pattern.finditer(text):
            try:
                found += read(match, now.date())
            except (ValueError, OverflowError):
                continue
    return found


def _numbered_date(match: re.Match[str], today: date) -> Iterator[Span]:
    month, day = match["month"], match["day"]
    yield from _dated(int(match["year"]), int(month) if month else None, int(day) if day else None)


def _short_chinese(match: re.Match[str], today: date) -> Iterator[Span]:
    month, day = int(match["month"]), match["day"]
    year = {"去年": today.year - 1, "前年": today.year - 2, "今年": today.year}.get(match["year"] or "")
    yield from _dated(year or _latest(month, int(day or 1), today), month, int(day) if day else None)


def _english_month(match: re.Match[str], today: date) -> Iterator[Span]:
    month = next(n for n, name in enumerate(_MONTHS, 1) if name.startswith(match["month"].lower()[:3]))
    day = match["before"] or match["after"]
    year = int(match["year"]) if match["year"] else _latest(month, int(day or 1), today)
    yield from _dated(year, month, int(day) if day else None)


def _ago(match: re.Match[str], today: date) -> Iterator[Span]:
    number = match["number"].lower()
    count = int(number) if number.isdecimal() else _NUMBERS.get(number) or _DIGITS.get(number) or 0
    days = count * _UNITS[match["unit"].lower()]
    # "Three weeks ago" is a week or so, "three days ago" a day.
    slack = timedelta(days=0 if days < 7 else max(3, days // 8))
    middle = today - timedelta(days=days)
    yield Span(middle - slack, middle + slack)


def _named_day(match: re.Match[str], today: date) -> Iterator[Span]:
    back = {"yesterday": 1, "昨天": 1, "昨晚": 1, "前天": 2, "today": 0, "今天": 0}[match[0].lower()]
    day = today - timedelta(days=back)
    yield Span(day, day)


def _last_unit(match: re.Match[str], today: date) -> Iterator[Span]:
    unit = _LAST.get((match["unit"] or match[0]).lower(), "month")
    if unit == "week":
        monday = today - timedelta(days=today.weekday() + 7)
        yield Span(monday, monday + timedelta(days=6))
    elif unit == "month":
        end = today.replace(day=1) - timedelta(days=1)
        yield Span(end.replace(day=1), end)
    else:
        yield from _dated(today.year - 1, None, None)


def _season(match: re.Match[str], today: date) -> Iterator[Span]:
    first = _SEASONS[(match["en"] or match["zh"]).lower()]
    year = today.year - (1 if match["zh"] else 0)
    if match["en"] and date(year, first, 1) + timedelta(days=91) > today:
        year -= 1
    begin = date(year, first, 1)
    yield Span(begin, begin + timedelta(days=91))


def _dated(year: int, month: int | None, day: int | None) -> Iterator[Span]:
    if month is None:
        yield Span(date(year, 1, 1), date(year, 12, 31))
    elif day is None:
        after = date(year + month // 12, month % 12 + 1, 1)
        yield Span(date(year, month, 1), after - timedelta(days=1))
    else:
        yield Span(date(year, month, day), date(year, month, day))


def _latest(month: int, day: int, today: date) -> int:
    return today.year if (month, day) <= (today.month, today.day) else today.year - 1


_ENGLISH_DATE = (
    rf"(?:(?P<before>\d\d?)(?:st|nd|rd|th)? (?:of )?|\b(?:in|on|since|during|until|last|early|late) )\b{_MONTH}\b"
    r"(?: (?P<after>\d\d?)(?:st|nd|rd|th)?\b(?!\d))?,?(?: (?:of )?(?P<year>(?:19|20)\d\d))?"
)

_READERS: tuple[tuple[re.Pattern[str], Callable[[re.Match[str], date], Iterator[Span]]], ...] = tuple(
    (re.compile(pattern, re.IGNORECASE), read)
    for pattern, read in (
        (r"(?<!\d)(?P<year>(?:19|20)\d\d)[-/](?P<month>\d\d?)(?:[-/](?P<day>\d\d?))?(?!\d)", _numbered_date),
        (r"(?<!\d)(?P<year>(?:19|20)\d\d)年(?:(?P<month>\d\d?)月(?:(?P<day>\d\d?)[日号])?)?", _numbered_date),
        (r"\bin (?P<year>(?:19|20)\d\d)(?P<month>)(?P<day>)\b", _numbered_date),
        (r"(?<![年\d])(?P<year>去年|前年|今年)?(?P<month>\d\d?)月(?:(?P<day>\d\d?)[日号])?", _short_chinese),
        (_ENGLISH_DATE, _english_month),
        (r"\b(?P<number>\d{1,3}|" + "|".join(_NUMBERS) + r") (?P<unit>day|week|month|year)s? ago\b", _ago),
        (r"(?P<number>\d{1,3}|[一二三四五六七八九十两])个?(?P<unit>天|日|周|星期|月|年)(?:以|之)?前", _ago),
        (r"\b(?:yesterday|today)\b|昨天|昨晚|前天|今天", _named_day),
        (r"\blast (?P<unit>year|month|week)\b", _last_unit),
        (r"(?P<unit>去年)(?![春夏秋冬\d])|上周|上个?星期|上个?月", _last_unit),
        (r"\blast (?P<en>spring|summer|autumn|fall|winter)\b(?P<zh>)", _season),
        (r"去年(?P<zh>[春夏秋冬])(?P<en>)", _season),
    )
)
