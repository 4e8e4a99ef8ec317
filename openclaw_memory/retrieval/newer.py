"""Put a newer statement before an older one that it most likely takes the place of. Pure.

Notes are only ever added to: what was true once stays beside what is true now, and questions are as like the one as
the other. Among what the words find, a newer note that says nearly all of what an older one shares with the question
is about the same thing, and comes first. Both stay.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import chain, islice

from openclaw_memory.retrieval.blocks import Block
from openclaw_memory.retrieval.hits import Hit
from openclaw_memory.retrieval.terms import terms

LOOKED_AT = 20
"""How many of the best are put into another order; always as many, so that the answer does not depend on the limit."""

OF_THE_QUESTION = 0.7
"""Share of what an older statement has in common with the question that the newer one must have too."""

OF_ALL = 0.2
"""Share of the terms of both that both must have: the same subject, and not only the same name."""

OF_THE_SCORE = 0.5
"""Share of the older one's score that the newer one must have by itself."""

LAYERS = frozenset({"note", "memory", "fact"})
"""Where statements stand. In talk, what is said later answers what was said before; it seldom replaces it."""

TOLD = "newer than one like it"


def newer_first(hits: Iterator[Hit], question: frozenset[str]) -> Iterator[Hit]:
    """Yield the hits, each newer statement right before the best older one that it is like, with at least its score.

    Parameters: `hits`, best first; `question`, its terms.
    """
    first = list(islice(hits, LOOKED_AT))
    if sum(_states(hit.block) for hit in first) > 1:
        held = [frozenset(terms(hit.block.text)) if _states(hit.block) else frozenset() for hit in first]
        order = list(_order(first, held, question))
        first = [first[place] if by is None else _raised(first[place], first[by]) for place, by in order]
    return chain(first, hits)


def _order(
    hits: Sequence[Hit], held: Sequence[frozenset[str]], question: frozenset[str]
) -> Iterator[tuple[int, int | None]]:
    """Yield the places, and with each that was moved the place of the hit that it now comes before."""
    done: set[int] = set()
    for place in range(len(hits)):
        if place in done:
            continue
        asked = held[place] & question
        later = (other for other in range(place + 1, len(hits)) if other not in done)
        newer = next((other for other in later if asked and _replaces(hits, held, other, place, asked)), None)
        if newer is not None:
            done.add(newer)
            yield newer, place
        done.add(place)
        yield place, None


def _replaces(
    hits: Sequence[Hit], held: Sequence[frozenset[str]], newer: int, older: int, asked: frozenset[str]
) -> bool:
    """Tell whether a hit most likely says anew what another one says."""
    one, other = hits[newer].block, hits[older].block
    if not _states(one) or not _states(other) or one.time is None or other.time is None or one.time <= other.time:
        return False
    if one.layer != other.layer or hits[newer].score < OF_THE_SCORE * hits[older].score:
        return False
    both = len(held[newer] & held[older])
    return both >= OF_ALL * len(held[newer] | held[older]) and len(asked & held[newer]) >= OF_THE_QUESTION * len(asked)


def _states(block: Block) -> bool:
    return block.layer in LAYERS


def _raised(hit: Hit, older: Hit) -> Hit:
    return hit._replace(score=max(hit.score, older.score), steps=(*hit.steps, TOLD) if hit.steps else ())
