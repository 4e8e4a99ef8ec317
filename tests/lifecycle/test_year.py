"""A simulated year: what memory does by itself holds at each month's end, and a restart at any day changes nothing."""

from __future__ import annotations

import random
from pathlib import Path

import pytest

from tests.lifecycle.year.life import DAYS, LAST_WORDS, SILENT, How, Life
from tests.lifecycle.year.rules import holds
from tests.lifecycle.year.talk import locomo_turns


@pytest.mark.timeout(180)
async def test_a_year(tmp_path: Path) -> None:
    life = Life(tmp_path, locomo_turns(), {})
    await life.run(holds)
    print(life.model, life.jobs)
