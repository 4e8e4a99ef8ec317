"""The settings of the ranking, and its small steps. No step takes a score to zero: nothing becomes unfindable."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Literal

from openclaw_memory.retrieval.blocks import Block
from openclaw_memory.retrieval.hits import Hit
from openclaw_memory.retrieval.neighbours import Neighbour

Recency = Literal["steps", "exponential", "half_life", "off"]
Fusion = Literal["standardised", "weighted", "reciprocal_rank"]

HOUR = 3_600.0
DAY = 86_400.0

HALF_LIFE_DAYS = 365.0
LEAST_MULTIPLIER = 0.1
"""Where decay ends: a tenth of its worth is left to the oldest block, so that the one that answers still comes before
those that share a common word with the question."""

NEIGHBOUR_SHARES = {1: 0.5, 2: 0.3, 3: 0.2}
"""What a message lends to those one, two and three places away in its conversation."""
REACH = max(NEIGHBOUR_SHARES)
"""Places away of the furthest that a message lends to."""
_SHARES = NEIGHBOUR_SHARES | {-distance: share for distance, share in NEIGHBOUR_SHARES.items()}
NEIGHBOUR_GAP = timedelta(days=1) // timedelta(microseconds=1)
"""In microseconds. Messages of one session that lie further apart are no neighbours: a session may last for months."""

IMPORTANT = 1.2
"""What a block that is marked important is worth more."""
IN_TIME = 1.2
"""What a block from a time that the question names is worth more."""


@dataclass(frozen=True, slots=True)
class Ranking:
    """Which steps take part in a ranking; docs/recall.md tells what each is worth.

    Parameters: `fusion` of words and meaning; `neighbours`, `focus`, `times`, `importance`, `feedback`, `stale` and
    `newer`, whether the step takes part; `recency`; `mmr`, the share of relevance against repetition, 0 to 1 (seed 004
    section 3.1 has 0.7), None for no such step; `layer_limits`, how many hits of a layer come before everything that is
    within its limit.

    Raises: `ValueError`, which names the setting.
    """

    fusion: Fusion = "standardised"
    neighbours: bool = True
    focus: bool = True
    times: bool = True
    importance: bool = True
    feedback: bool = True
    stale: bool = True
    newer: bool = True
    recency: Recency = "off"
    mmr: float | None = None
    layer_limits: Mapping[str, int] = field(default_factory=dict)

    def __post_init__(self) -> None:
        """Refuse what makes no sense."""
        if self.mmr is not None and not 0 <= self.mmr <= 1:
            raise ValueError(f"mmr: {self.mmr} is not between 0 and 1; 0.7 is usual, None leaves it out")
        for layer, limit in self.layer_limits.items():
            if limit < 0:
                raise ValueError(f"layer_limits.{layer}: {limit} is below 0")


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


MOST_RECENT: Mapping[Recency, float] = {"steps": 2.0, "exponential": 1.0, "half_life": 1.0, "off": 1.0}
"""The largest multiplier of each."""


def recency(name: Recency, ages: Sequence[float | None]) -> list[float]:
    """Give the multipliers for blocks of these ages.

    `ages` are in seconds; None is an unknown age and counts as neither new nor old (1.0), a negative age as new.
    `steps` is the table of seed 000 section 6.2, `exponential` is exp(-0.1 days) of seed 004, `half_life` halves in
    `HALF_LIFE_DAYS`. No multiplier is below `LEAST_MULTIPLIER`.
    """
    weigh = _RECENCY[name]
    return [1.0 if age is None else max(LEAST_MULTIPLIER, weigh(max(0.0, age))) for age in ages]


def lent(one: Neighbour, beside: Iterable[Neighbour]) -> list[tuple[float, Neighbour]]:
    """Give the shares of its score that a message lends those beside it, as far as they are near, in time as well."""
    first, last = one.time - NEIGHBOUR_GAP, one.time + NEIGHBOUR_GAP
    return [
        (share, other)
        for other in beside
        if (share := _SHARES.get(other.distance)) and (first <= other.time <= last or not other.dated or not one.dated)
    ]


def lowered(hits: Iterable[Hit]) -> Iterator[Hit]:
    """Let no hit that was moved down have more than the one before it."""
    least = float("inf")
    for hit in hits:
        if hit.score > least:
            hit = hit._replace(score=least)
        least = hit.score
        yield hit


def within_limits(blocks: Sequence[Block], limits: Mapping[str, int]) -> list[int]:
    """Give the places in the order in which limits leave them: what is beyond its layer's limit comes last."""
    counts: dict[str, int] = {}
    first: list[int] = []
    last: list[int] = []
    for place, block in enumerate(blocks):
        counts[block.layer] = counts.get(block.layer, 0) + 1
        limit = limits.get(block.layer)
        (first if limit is None or counts[block.layer] <= limit else last).append(place)
    return first + last
