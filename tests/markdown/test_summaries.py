"""Summaries: the seed's layout, read and written."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from openclaw_memory.markdown.message_header import Language
from openclaw_memory.markdown.summaries import Period, format_summary, parse_summary
from openclaw_memory.markdown.text import split_lines

WHEN = "2026-05-05T00:05:00+08:00"
SECTIONS = st.lists(
    st.tuples(st.sampled_from(["关键对话", "Facts"]), st.sampled_from(["1. a\n   - b", "- x: y", "### z", ""])),
    max_size=3,
)


@given(
    st.sampled_from([("daily", "2026-05-04"), ("weekly", "2026-w18"), ("monthly", "2026-05")]),
    SECTIONS,
    st.lists(st.sampled_from(["conversations/2026-05-04.md (共 47 条消息)", "daily/2026-05-01.md"]), max_size=2),
    st.sampled_from(["zh", "en"]),
    st.sampled_from(["\n", "\r\n"]),
)
def test_a_summary_is_read_back(
    when: tuple[Period, str], sections: list[tuple[str, str]], sources: list[str], language: Language, newline: str
) -> None:
    """Period, date, sources and sections are read back in both languages and kinds of line end."""
    period, date = when
    text = "\n\n".join(f"## {title}\n\n{text}" for title, text in sections) or "nothing"
    body = format_summary(period, date, text, generated=WHEN, sources=sources, language=language, newline=newline)
    found = parse_summary(body)
    assert (found.period, found.date, found.generated, found.sources) == (period, date, WHEN, tuple(sources))
    assert [(title, text.replace("\r\n", "\n")) for title, text in found.sections] == sections
    assert all(line.endswith(newline) for line in split_lines(body))


@given(st.text(max_size=60))
def test_anything_is_read(text: str) -> None:
    """What is no summary is read as one that says little."""
    assert parse_summary(text).sections == () or "#" in text or "-" in text


@pytest.mark.parametrize(
    ("title", "period", "date"),
    [
        ("每日摘要 - 2026-05-04", "daily", "2026-05-04"),
        ("Weekly summary 2026-W18", "weekly", "2026-W18"),
        ("2026-05-04", "daily", "2026-05-04"),
        ("2026-w18", "weekly", "2026-w18"),
        ("五月 2026-05", "monthly", "2026-05"),
        ("每月摘要", "monthly", None),
        ("Notes", None, None),
    ],
)
def test_period_is_guessed_from_the_title(title: str, period: str | None, date: str | None) -> None:
    """A title's word decides, else the form of its date."""
    found = parse_summary(f"# {title}\n")
    assert (found.period, found.date) == (period, date)


def test_summaries_cases(summaries_case: object) -> None:
    """Files of the seed and of people are read as expected."""
    given_text, expected = summaries_case.given, summaries_case.expected  # type: ignore[attr-defined]
    found = parse_summary(given_text)
    shown = [f"{found.title} | {found.period} | {found.date} | {found.generated}"]
    shown += [f"source: {source}" for source in found.sources]
    shown += [f"{title} = {text!r}" for title, text in found.sections]
    assert "\n".join(shown) + "\n" == expected
