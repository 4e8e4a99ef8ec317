"""Pure steps that turn keyword scores into a ranking. No step takes a score to zero: nothing becomes unfindable."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from datetime import datetime
from typing import Literal

from openclaw_memory.retrieval.blocks import Block

Recency = Literal["steps", "exponential", "half_life", "off"]

HOUR = 3_600.0
DAY = 86_400.0

HALF_LIFE_DAYS = 365.0
LEAST_MULTIPLIER = 0.1
"""Where decay ends: a tenth of its worth is left to the oldest block, so that the one that answers still comes before
those that share a common word with the question."""

NEIGHBOUR_SHARES = {1: 0.5, 2: 0.25}
"""What a message lends to those one and two places away in its conversation."""
NEIGHBOUR_GAP_SECONDS = 3 * HOUR
"""Messages of one session that lie further apart than this are no neighbours: a session may last for months."""

IMPORTANT = 1.2
"""What a block that is marked important is worth more."""


def _steps(age: float) -> float:
    for limit, multiplier in ((HOUR, 2.0), (DAY, 1.5), (3 * DAY, 1.2), (7 * DAY, 1.0)):
        if age < limit:
            return multiplier
    return 0.5


def _exponential(age: float) -> float:
    return math.exp(-0.1 * age / DAY)


def _half_life(age: float) -> float:
    return float(0.5 ** (age / DAY / HALF_LIFE_DAYS))


def _off(age: float) -> float:
    return 1.0


_RECENCY: Mapping[Recency, Callable[[float], float]] = {
    "steps": _steps,
    "exponential": _exponential,
    "half_life": _half_life,
    "off": _off,
}


def recency(name: Recency, ages: Sequence[float | None]) -> list[float]:
    """Give the multipliers for blocks of these ages.

    `ages` are in seconds; None is an unknown age and counts as neither new nor old (1.0), a negative age as new.
    `steps` is the table of seed 000 section 6.2, `exponential` is exp(-0.1 days) of seed 004, `half_life` halves in
    `HALF_LIFE_DAYS`. No multiplier is below `LEAST_MULTIPLIER`.
    """
    weigh = _RECENCY[name]
    return [1.0 if age is None else max(LEAST_MULTIPLIER, weigh(max(0.0, age))) for age in ages]


def age_seconds(block: Block, now: datetime) -> float | None:
    """Give the age of a block in seconds; None when its time is unknown."""
    return None if block.time is None else (now - block.time).total_seconds()


def lent(distance: int, one: Block, other: Block) -> float:
    """Give the share of its score that one message lends another `distance` places away; 0.0 when not near in time."""
    apart = 0.0 if one.time is None or other.time is None else abs((one.time - other.time).total_seconds())
    if apart > NEIGHBOUR_GAP_SECONDS:
        return 0.0
    return NEIGHBOUR_SHARES.get(abs(distance), 0.0)
