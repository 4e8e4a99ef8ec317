"""A simulated year: what memory does by itself holds at each month's end, and a restart at any day changes nothing."""

from __future__ import annotations

import random
from pathlib import Path

import pytest

from tests.lifecycle.year.life import DAYS, LAST_WORDS, How, Life
from tests.lifecycle.year.rules import holds
from tests.lifecycle.year.talk import locomo_turns
from tests.lifecycle.year.traces import traces
from tests.support import Remembering


def restarts(seed: int, days: int = DAYS) -> dict[int, How]:
    """Choose days on which memory is closed, and days on which it is killed."""
    chance = random.Random(seed)
    chosen: dict[int, How] = dict.fromkeys(chance.sample(range(days), 6), "closed")
    return chosen | dict.fromkeys(chance.sample([day for day in sorted(LAST_WORDS) if day < days], 3), "killed")


@pytest.mark.timeout(900)
async def test_a_year(tmp_path: Path) -> None:
    """Every rule holds at each month's end, whatever befalls: the list is in `year/life.py`."""
    life = Life(tmp_path, locomo_turns(), restarts(6))
    await life.run(holds)
    assert {name for name, outcome in life.jobs if outcome == "done"} == {
        "summaries",
        "consolidation",
        "history_months",
        "task_cleanup",
        "task_archive",
        "retention",
        "recall_counts",
        "promotion",
    }
    # The model was of every kind, so that each way was gone.
    assert life.jobs["consolidation", "failed"] > 3
    assert min(life.model[kind] for kind in ("hostile", "summary", "saved", "dropped", "told")) > 1


async def nothing(life: Life, it: Remembering) -> None:
    """Look at nothing."""


async def the_same(folder: Path, turns: list[str], chosen: dict[int, How], days: int) -> None:
    """Live twice, once without a restart: all that was said and all that was written is the same, to the byte."""
    lives = []
    for name, how in (("one", {}), ("other", chosen)):
        (folder / name).mkdir()
        life = Life(folder / name, turns, how, days)
        await life.run(nothing)
        lives.append(life)
    one, other = lives
    assert other.said == one.said
    left, right = traces(one.root), traces(other.root)
    assert right.keys() == left.keys()
    assert [name for name in left if right[name] != left[name]] == []


@pytest.mark.timeout(900)
async def test_restarts_change_nothing(tmp_path: Path) -> None:
    """Two months, with the turn of two of them: nine restarts, three of them after a crash."""
    await the_same(tmp_path, locomo_turns(), restarts(7, 64), 64)


@pytest.mark.soak
@pytest.mark.timeout(3_600)
@pytest.mark.parametrize("seed", range(4))
async def test_restarts_change_nothing_in_a_year(tmp_path: Path, seed: int) -> None:
    """The whole year, other days each time; also without LoCoMo's turns."""
    await the_same(tmp_path, locomo_turns() if seed % 2 else [], restarts(seed), DAYS)
