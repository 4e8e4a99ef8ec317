"""The way of a memory through the layers, as the picture of the documentation shows it."""

from __future__ import annotations

from pathlib import Path

import pytest

from examples import lifecycle


@pytest.mark.timeout(120)
async def test_every_place_in_its_order(tmp_path: Path) -> None:
    """Day, week, month, archive; completed and expired; and after all that it is found."""
    way = await lifecycle.run(tmp_path)
    days: dict[str, int] = {}
    for step in way.steps:
        days.setdefault(step.path, (step.day - lifecycle.BEGIN.date()).days)
    assert days == {
        "conversations/2026-05-04.md": 0,
        "tasks/active.md": 0,
        "summaries/daily/2026-05-04.md": 1,
        "summaries/weekly/2026-w19.md": 7,
        "tasks/completed.md": 9,
        "summaries/monthly/2026-05.md": 28,
        "tasks/archived/2026-05-tasks.md": 32,
        "tasks/archived/2026-06-tasks.md": 35,
        "conversations/archive/2026-05-04.md": 61,
    }
    assert way.steps[-1].path == "conversations/archive/2026-05-04.md"
    first, *_, last = way.counts.values()
    assert first == lifecycle.Counts(3, 0, 0, 0, 0, 1, 0, 0, 2, 0, 0)
    # 70 days of two messages and one more; what is more than sixty days ago is in the archive.
    assert (last.messages, last.archived) == (2 * 60, 2 * 10 + 1)
    assert (last.daily, last.weekly, last.monthly) == (70, 10, 2)
    assert (last.facts, last.old_facts, last.entries) == (1, 3, 5)
    assert (last.active, last.completed, last.archived_tasks) == (0, 0, 2)


def test_the_picture_is_of_these_steps() -> None:
    """Renew it by `python -m examples.lifecycle --svg docs/images/lifecycle.svg`."""
    picture = (Path(__file__).parents[2] / "docs/images/lifecycle.svg").read_text(encoding="utf-8")
    for words in ("summaries/weekly/2026-w19.md", "tasks/archived/2026-06-tasks.md", "DEC-0054", "2026-07-04"):
        assert words in picture
