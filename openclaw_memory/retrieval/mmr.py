"""Put repetition last: maximal marginal relevance (Carbonell and Goldstein, 1998; seed 004 section 3.1). Pure."""

from __future__ import annotations

from collections.abc import Sequence

LOOKED_AT = 50
"""How many of the best are put into another order; always as many, so that the answer does not depend on the limit."""


def likeness(one: frozenset[str], other: frozenset[str]) -> float:
    """Give the share of terms that two blocks have in common (Jaccard), 0 to 1."""
    return len(one & other) / len(one | other) if one or other else 0.0


def diversified(scores: Sequence[float], terms: Sequence[frozenset[str]], share: float) -> list[int]:
    """Give the places, best first: each with the most of `share * score - (1 - share) * likeness` to those before.

    `scores` are best first and not negative; they are taken as shares of the first. Places beyond `LOOKED_AT` follow in
    their own order.
    """
    best = scores[0] if scores and scores[0] > 0 else 1.0
    left = list(range(min(len(scores), LOOKED_AT)))
    repeated = [0.0] * len(left)
    taken: list[int] = []
    while left:
        chosen = max(left, key=lambda place: (share * scores[place] / best - (1 - share) * repeated[place], -place))
        left.remove(chosen)
        taken.append(chosen)
        for place in left:
            repeated[place] = max(repeated[place], likeness(terms[place], terms[chosen]))
    return [*taken, *range(len(taken), len(scores))]
