"""Put scores by words and scores by meaning together. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from statistics import fmean, pstdev

from openclaw_memory.retrieval.ranking import Fusion

WEIGHT_OF_MEANING = 0.7
"""Of the weighted fusion (seed 004 section 3.1 searches by both); words get the rest."""
RANK_OFFSET = 60
"""The usual constant of reciprocal rank fusion (Cormack and others, 2009)."""


def fuse(name: Fusion, words: Sequence[float], meaning: Sequence[float]) -> tuple[list[float], list[float]]:
    """Give what words and what meaning add to each block's score, so that a sum of both is the fused score.

    `words` are BM25 scores, 0.0 where no word is held; `meaning` is standardised over the store or the pool.
    """
    if name == "weighted":
        return (
            [(1 - WEIGHT_OF_MEANING) * score for score in _from_0_to_1(words)],
            [WEIGHT_OF_MEANING * score for score in _from_0_to_1(meaning)],
        )
    if name == "reciprocal_rank":
        return _by_rank(words), _by_rank(meaning)
    # BM25's zero means "holds none of the words", which most of the store does: it is not moved, only scaled.
    spread = pstdev(words) if words else 0.0
    return [score / spread if spread else 0.0 for score in words], list(meaning)


def standardised(scores: Sequence[float | None]) -> list[float]:
    """Give z-scores; unknown ones count as the mean."""
    known = [score for score in scores if score is not None]
    if not known:
        return [0.0] * len(scores)
    mean, spread = fmean(known), pstdev(known)
    return [0.0 if score is None or not spread else (score - mean) / spread for score in scores]


def _from_0_to_1(scores: Sequence[float]) -> list[float]:
    least, most = min(scores, default=0.0), max(scores, default=0.0)
    return [(score - least) / (most - least) if most > least else 0.0 for score in scores]


def _by_rank(scores: Sequence[float]) -> list[float]:
    """Score by place; equals share the best place among them."""
    place: dict[float, int] = {}
    for rank, score in enumerate(sorted(scores, reverse=True), 1):
        place.setdefault(score, rank)
    return [1 / (RANK_OFFSET + place[score]) for score in scores]
