"""Summaries: a title with its period, where it comes from, and sections (seed 000 section 2.4)."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from openclaw_memory.markdown.message_header import Language
from openclaw_memory.markdown.outline import Section, outline, write_heading
from openclaw_memory.markdown.text import split_lines, without_end

Period = Literal["daily", "weekly", "monthly"]

TITLES: Mapping[Language, Mapping[Period, str]] = {
    "zh": {"daily": "每日摘要", "weekly": "每周摘要", "monthly": "每月摘要"},
    "en": {"daily": "Daily summary", "weekly": "Weekly summary", "monthly": "Monthly summary"},
}
_LABELS: Mapping[Language, tuple[str, str]] = {"zh": ("生成时间", "源文件"), "en": ("Generated", "Source")}
_GENERATED = re.compile(r" {0,3}>[ \t]*(?:生成时间|generated)[ \t]*[:：][ \t]*(.*)", re.IGNORECASE)
_SOURCE = re.compile(r" {0,3}>[ \t]*(?:源文件|sources?)[ \t]*[:：][ \t]*(.*)", re.IGNORECASE)
_DATES: Mapping[Period, re.Pattern[str]] = {
    "daily": re.compile(r"\d{4}-\d\d-\d\d"),
    "weekly": re.compile(r"\d{4}-[wW]\d\d"),
    "monthly": re.compile(r"\d{4}-\d\d(?![-\d])"),
}


@dataclass(frozen=True, slots=True)
class Summary:
    """A summary as it stands in a file.

    `period` and `date` (such as `2026-05-04`, `2026-w18`, `2026-05`) are read from the title and None where it does
    not tell. `generated` and `sources` are as written after `> 生成时间:` and `> 源文件:`. `sections` holds the titles
    and raw texts of the headings of level 2, deeper ones within them.
    """

    title: str | None
    period: Period | None
    date: str | None
    generated: str | None
    sources: tuple[str, ...]
    sections: tuple[tuple[str, str], ...]


def parse_summary(body: str) -> Summary:
    """Read a summary.

    Args:
        body: The document without its front matter.
    """
    found = outline(body)
    lines = split_lines(body)
    tops = [section for section in found.sections if section.level == 2]
    first = tops[0].start_line - 1 if tops else len(lines)
    head = [without_end(line) for line in lines[:first]]
    generated = [match[1].strip() for line in head if (match := _GENERATED.match(line))]
    sources = [match[1].strip() for line in head if (match := _SOURCE.match(line))]
    period, date = _period(found.title or "")
    return Summary(
        title=found.title,
        period=period,
        date=date,
        generated=generated[0] if generated else None,
        sources=tuple(source for source in sources if source),
        sections=tuple((top.title, _text(top, found.sections, lines)) for top in tops),
    )


def format_summary(
    period: Period,
    date: str,
    text: str,
    *,
    generated: str,
    sources: Sequence[str],
    language: Language,
    newline: str = "\n",
) -> str:
    """Write the body of a summary.

    Args:
        period: How long a time it covers.
        date: The period, such as `2026-05-04`, `2026-w18` or `2026-05`.
        text: Markdown, beginning with a heading of level 2 where it has sections.
        generated: When it was made, ISO 8601 with an offset.
        sources: Each file with a remark, such as `conversations/2026-05-04.md (共 47 条消息)`.
        language: Language of title and labels.
        newline: Line end to use.
    """
    when, source = _LABELS[language]
    head = [write_heading(1, f"{TITLES[language][period]} - {date}"), "", f"> {when}: {generated}"]
    head += [f"> {source}: {' '.join(one.split())}" for one in sources]
    lines = text.replace("\r\n", "\n").strip("\n").split("\n")
    return newline.join([*head, "", *lines, ""])


def _period(title: str) -> tuple[Period | None, str | None]:
    """Guess the period from a title: by its word, else by the form of its date."""
    folded = title.casefold()
    dates = {period: match[0] for period, pattern in _DATES.items() if (match := pattern.search(title))}
    for names in TITLES.values():
        for period, name in names.items():
            if name.casefold() in folded:
                return period, dates.get(period)
    return next(iter(dates.items()), (None, None))


def _text(top: Section, sections: Sequence[Section], lines: Sequence[str]) -> str:
    """Return the raw text below a heading, up to the next one of its level or above."""
    next_start = min(
        (other.start_line for other in sections if other.start_line > top.start_line and other.level <= 2),
        default=len(lines) + 1,
    )
    return "".join(lines[top.text_line - 1 : next_start - 1]).strip("\r\n")
