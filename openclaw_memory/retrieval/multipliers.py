"""What a score is multiplied with: recency, times that the question names, importance. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from operator import mul

from openclaw_memory.retrieval.moments import microseconds, moment
from openclaw_memory.retrieval.neighbours import Neighbour
from openclaw_memory.retrieval.questions import asks_about_past
from openclaw_memory.retrieval.ranking import IMPORTANT, IN_TIME, MOST_RECENT, Ranking, Recency, recency
from openclaw_memory.retrieval.times import spans

SECOND = 1_000_000
"""In microseconds."""


class Multipliers:
    """The multipliers of one question, asked at `now`: its zone is the one whose days count."""

    def __init__(self, ranking: Ranking, query: str, now: datetime) -> None:
        past = ranking.recency != "off" and asks_about_past(query)
        self._recency: Recency = "off" if past else ranking.recency
        self._now = now
        self._spans = spans(query, now) if ranking.times else []
        self._importance = ranking.importance

    @property
    def of_a_time(self) -> bool:
        """Tell whether the question names a time."""
        return bool(self._spans)

    @property
    def most(self) -> float:
        """Give what no multiplier of a block exceeds."""
        return MOST_RECENT[self._recency] * (IN_TIME if self._spans else 1.0) * (IMPORTANT if self._importance else 1.0)

    def apply(self, scores: Sequence[float], places: Sequence[Neighbour]) -> list[float]:
        """Multiply scores, those of places in the same order."""
        result = list(scores)
        for _, multipliers in self._steps(places):
            result = list(map(mul, result, multipliers))
        return result

    def told(self, place: Neighbour) -> list[str]:
        """Say what a score was multiplied with, for a person."""
        steps = sorted(self._steps([place]), key=lambda step: step[0] != "time")
        return [f"{name} x{one:.2g}" for name, (one,) in steps if one != 1.0]

    def _steps(self, places: Sequence[Neighbour]) -> list[tuple[str, list[float]]]:
        steps = []
        if self._recency != "off":
            now = microseconds(self._now)
            ages = [(now - one.time) / SECOND if one.dated else None for one in places]
            steps.append((f"recency {self._recency}", recency(self._recency, ages)))
        if self._spans:
            steps.append(("time", [IN_TIME if self._is_in_time(one) else 1.0 for one in places]))
        if self._importance:
            steps.append(("important", [IMPORTANT if one.important else 1.0 for one in places]))
        return steps

    def _is_in_time(self, place: Neighbour) -> bool:
        when = moment(place.time, 0 if place.dated else None)
        if when is None:
            return False
        day = when.astimezone(self._now.tzinfo).date()
        return any(span.holds(day) for span in self._spans)
