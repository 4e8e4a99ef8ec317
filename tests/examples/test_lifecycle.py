"""The way of a memory through the layers, as the picture of the documentation shows it."""

from __future__ import annotations

from pathlib import Path

import pytest

from examples import lifecycle


@pytest.mark.timeout(120)
async def test_every_place_in_its_order(tmp_path: Path) -> None:
    """Day, week, month, archive; completed and expired; and after all that it is found."""
    steps = await lifecycle.run(tmp_path)
    days = {}
    for step in steps:
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
        "conversations/archive/2026-05-04.md": 181,
    }
    assert steps[-1].path == "conversations/archive/2026-05-04.md"


def test_the_picture_is_of_these_steps() -> None:
    """Renew it by `python -m examples.lifecycle --svg docs/images/lifecycle.svg`."""
    picture = (Path(__file__).parents[2] / "docs/images/lifecycle.svg").read_text(encoding="utf-8")
    for words in ("summaries/weekly/2026-w19.md", "tasks/archived/2026-06-tasks.md", "DEC-0054", "181"):
        assert words in picture
