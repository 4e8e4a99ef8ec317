"""Crash states of forgetting, of compaction and of the heartbeat's jobs, on memories as a whole."""

from __future__ import annotations

import pytest

from tests.reliability.harness import punctual  # noqa: F401 - a fixture for every test here
from tests.reliability.upkeep import UPKEEP, Upkeep, faults_of


@pytest.mark.parametrize("upkeep", UPKEEP, ids=str)
async def test_no_crash_leaves_it_half_done(upkeep: Upkeep) -> None:
    """Told, it is done, and nothing of what is forgotten is on the disk; before, it is done whole or not at all."""
    states, faults = await faults_of(upkeep)
    print(f"{upkeep}: {states} states")
    assert not faults, "\n".join(faults)
