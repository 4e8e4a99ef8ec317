"""The keyword score, the same for every index."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

K1 = 1.2
"""How soon repeating a term stops adding to the score."""
B = 0.75
"""How much a long block pays for its length, 0 to 1."""


@dataclass(frozen=True, slots=True)
class Statistics:
    """What BM25 has to know of the whole: number of blocks, terms in all of them, blocks that hold a term."""

    blocks: int
    length: int
    held_by: Mapping[str, int]


def weight(blocks: int, holders: int) -> float:
    """Give what a term is worth that so many of so many blocks hold."""
    return math.log(1 + (blocks - holders + 0.5) / (holders + 0.5)) * (K1 + 1)


class Weights:
    """BM25 for the terms of one question.

    Parameters: `terms`, each counted once; `statistics` of everything that is searched.
    """

    def __init__(self, terms: Iterable[str], statistics: Statistics) -> None:
        blocks = statistics.blocks
        self._by_length = K1 * B / ((statistics.length / blocks if blocks else 0.0) or 1.0)
        self.of_term: dict[str, float] = {}
        """What a term is worth; terms that nothing holds are left out."""
        for term in dict.fromkeys(terms):
            holders = statistics.held_by.get(term, 0)
            if holders > 0:
                self.of_term[term] = weight(blocks, holders)

    def norm(self, length: int) -> float:
        """Give what a block of so many terms is divided by, beside the count."""
        return K1 * (1 - B) + self._by_length * length

    def score(self, counts: Mapping[str, int], length: int) -> float:
        """Score a block from how often it holds each term; sums in the order of the question."""
        norm, total = self.norm(length), 0.0
        for term, weight in self.of_term.items():
            count = counts.get(term)
            if count:
                total += weight * count / (count + norm)
        return total
