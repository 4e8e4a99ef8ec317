"""From a question to hits: terms, the index, neighbours, recency, importance."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

from openclaw_memory.retrieval.blocks import Block
from openclaw_memory.retrieval.index import Allow, Hit, Index, searchable
from openclaw_memory.retrieval.ranking import IMPORTANT, NEIGHBOUR_SHARES, Recency, age_seconds, lent, recency
from openclaw_memory.retrieval.terms import fold, is_identifier, query_terms, terms

CANDIDATES = 200
"""How many keyword hits are ranked, whatever number is asked for: so the best hit does not depend on it."""


def allow_all(block: Block) -> bool:
    """Allow every block."""
    return True


class Searcher:
    """Answer questions from an index."""

    def __init__(self, index: Index) -> None:
        self._index = index

    def catch_up(self, seconds: float) -> bool:
        """Let the index work for about so long; tells whether nothing is left that a search would have to wait for."""
        return self._index.catch_up(seconds)

    def search(
        self,
        query: str,
        *,
        now: datetime,
        limit: int = 10,
        allow: Allow = allow_all,
        layers: Sequence[str] = (),
        tags: Sequence[str] = (),
        recency: Recency = "off",
        min_score: float = 0.0,
        explain: bool = False,
    ) -> list[Hit]:
        """Give the best blocks for a question, best first; the hits for a small limit begin those for a larger one.

        A question without any word or number (only punctuation, emoji, white space) finds nothing. `now` is the time
        that ages are reckoned from. `allow` decides what the asker may see; no hidden block lends score either.
        `layers` and `tags` narrow the search; several tags are alternatives. Scores are shares of the best hit's,
        which has 1.0. `min_score` leaves out hits below that share, but never one that holds every telling word of the
        question, or an identifier that the question names. `explain` fills `steps`.
        """
        words = query_terms(query)
        if not words or limit < 1:
            return []
        visible = _narrowed(allow, layers, tags)
        found = self._index.search(words, limit=max(limit, CANDIDATES), allow=visible)
        ranked = self._ranked(found[:CANDIDATES], visible, now, recency, explain)
        known = {hit.block.identity for hit in ranked}
        # Beyond the pool hits keep their keyword order, after everything that was ranked.
        last = ranked[-1].score if ranked else 0.0
        tail = [hit for hit in found[CANDIDATES:] if hit.block.identity not in known]
        ranked += [Hit(hit.block, min(hit.score, last)) for hit in tail]
        return _cut(ranked, words, min_score, limit)

    def _ranked(self, pool: list[Hit], visible: Allow, now: datetime, name: Recency, explain: bool) -> list[Hit]:
        own = {hit.block.identity: hit.score for hit in pool}
        blocks = {hit.block.identity: hit.block for hit in pool}
        gained: dict[tuple[str, int], float] = {}
        for hit in pool:
            for distance, other in self._index.around(hit.block, max(NEIGHBOUR_SHARES)):
                share = lent(distance, hit.block, other) * hit.score
                which = other.identity
                if share and (which in blocks or visible(other)):
                    blocks.setdefault(which, other)
                    gained[which] = gained.get(which, 0.0) + share
        weights = recency(name, [age_seconds(block, now) for block in blocks.values()])
        hits: list[Hit] = []
        for (which, block), weight in zip(blocks.items(), weights, strict=True):
            stress = IMPORTANT if block.important else 1.0
            words, near = own.get(which, 0.0), gained.get(which, 0.0)
            steps = _steps(words, near, name, weight, stress) if explain else ()
            hits.append(Hit(block, (words + near) * weight * stress, steps))
        hits.sort(key=_by_worth)
        return hits


def _by_worth(hit: Hit) -> tuple[float, float, tuple[str, int]]:
    when = hit.block.time.timestamp() if hit.block.time else 0.0
    return (-hit.score, -when, hit.block.identity)


def _narrowed(allow: Allow, layers: Sequence[str], tags: Sequence[str]) -> Allow:
    wanted_layers, wanted_tags = frozenset(layers), frozenset(fold(tag) for tag in tags)

    def visible(block: Block) -> bool:
        if wanted_layers and block.layer not in wanted_layers:
            return False
        if wanted_tags and not any(fold(tag) in wanted_tags for tag in block.tags):
            return False
        return allow(block)

    return visible


def _cut(ranked: list[Hit], words: Sequence[str], min_score: float, limit: int) -> list[Hit]:
    """Scale scores to the best hit and leave out what is below the minimum and no exact hit."""
    hits: list[Hit] = []
    for hit in ranked:
        score = hit.score / ranked[0].score
        if score >= min_score or _exact(hit.block, words):
            hits.append(Hit(hit.block, score, hit.steps))
            if len(hits) == limit:
                break
    return hits


def _exact(block: Block, words: Sequence[str]) -> bool:
    held = set(terms(searchable(block)))
    return all(word in held for word in words) or any(word in held for word in words if is_identifier(word))


def _steps(words: float, near: float, name: Recency, weight: float, stress: float) -> tuple[str, ...]:
    steps = [f"keywords {words:.2f}"]
    if near:
        steps.append(f"neighbours +{near:.2f}")
    if weight != 1.0:
        steps.append(f"recency {name} x{weight:.2g}")
    if stress != 1.0:
        steps.append(f"important x{stress:.2g}")
    return tuple(steps)
