"""Crash states of forgetting, of compaction and of the heartbeat's jobs, on memories as a whole."""

from __future__ import annotations

import pytest

from tests.reliability.harness import punctual  # noqa: F401 - a fixture for every test here
from tests.reliability.upkeep import UPKEEP, Upkeep, faults_of

_SLOW = ("damaged_forgotten", "topic_forgotten", "handed_in_forgotten", "copies_forgotten", "copied_forgotten")
"""Ways of forgetting whose crash states take longest; `make soak` goes through them as well."""


@pytest.mark.parametrize(
    "upkeep", [pytest.param(one, marks=[pytest.mark.soak] if str(one) in _SLOW else [], id=str(one)) for one in UPKEEP]
)
async def test_no_crash_leaves_it_half_done(upkeep: Upkeep) -> None:
    """Told, it is done, and nothing of what is forgotten is on the disk; before, it is done whole or not at all."""
    states, faults = await faults_of(upkeep)
    print(f"{upkeep}: {states} states")
    assert not faults, "\n".join(faults)
