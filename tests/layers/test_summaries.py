"""Which summaries a context gets."""

from __future__ import annotations

from datetime import date

import pytest

from openclaw_memory.layers.summaries import Period, period_of, recent


@pytest.mark.parametrize(
    ("path", "first", "last"),
    [
        ("summaries/daily/2026-05-04.md", date(2026, 5, 4), date(2026, 5, 4)),
        ("summaries/weekly/2026-w18.md", date(2026, 4, 27), date(2026, 5, 3)),
        ("summaries/weekly/2026-W01.md", date(2025, 12, 29), date(2026, 1, 4)),
        ("summaries/monthly/2026-02.md", date(2026, 2, 1), date(2026, 2, 28)),
        ("summaries/monthly/2026-12.md", date(2026, 12, 1), date(2026, 12, 31)),
    ],
)
def test_period_is_read_from_the_name(path: str, first: date, last: date) -> None:
    """Days, ISO weeks from Monday to Sunday, months."""
    assert period_of(path) == Period(first, last)


@pytest.mark.parametrize("name", ["notes", "2026-13", "2026-w60", "2026-02-30", ""])
def test_other_names_have_no_period(name: str) -> None:
    """A file that a person put there is no error."""
    assert period_of(f"summaries/{name}.md") is None


def test_recent_days_and_the_latest_of_all() -> None:
    """The daily ones of the last days, oldest first; the latest, of whatever length, is always among them."""
    paths = [
        "summaries/daily/2026-05-01.md",
        "summaries/daily/2026-05-03.md",
        "summaries/daily/2026-05-02.md",
        "summaries/monthly/2026-04.md",
        "summaries/notes.md",
    ]
    days = [f"summaries/daily/2026-05-0{day}.md" for day in (1, 2, 3)]
    assert recent(paths, date(2026, 5, 4), 3) == days
    assert recent(paths, date(2026, 5, 4), 2) == days[1:]
    assert recent(paths, date(2026, 6, 30), 3) == days[2:]
    assert recent(paths, date(2026, 4, 30), 3) == ["summaries/monthly/2026-04.md"]
    assert recent([], date(2026, 5, 4), 3) == []


def test_longer_summary_that_ends_later_is_the_latest() -> None:
    """A week's summary that covers yesterday's stands beside it."""
    paths = ["summaries/daily/2026-05-02.md", "summaries/weekly/2026-w18.md"]
    assert recent(paths, date(2026, 5, 4), 3) == ["summaries/weekly/2026-w18.md", "summaries/daily/2026-05-02.md"]
