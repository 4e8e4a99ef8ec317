"""From a question to hits: words, meaning, neighbours, times, recency, importance, variety."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from datetime import datetime
from typing import TYPE_CHECKING

from openclaw_memory.retrieval.blocks import Block, searchable
from openclaw_memory.retrieval.hits import Allow, Hit, within
from openclaw_memory.retrieval.index import Index
from openclaw_memory.retrieval.pool import CANDIDATES, Pool
from openclaw_memory.retrieval.questions import focus
from openclaw_memory.retrieval.ranking import Ranking, Recency
from openclaw_memory.retrieval.scope import EVERYTHING, Scope
from openclaw_memory.retrieval.terms import fold, is_identifier, query_terms, terms
from openclaw_memory.retrieval.vectors.asked import Vectors

if TYPE_CHECKING:
    from openclaw_memory.retrieval.embedding.protocol import Vector
    from openclaw_memory.retrieval.lens import Lens


def allow_all(block: Block) -> bool:
    """Allow every block."""
    return True


class Searcher:
    """Answer questions from an index.

    Parameters: `index`; `ranking`, which steps take part; `vectors` to search by meaning, and the `lens` fitted to them
    (None: too few to fit one; cosines are then standardised over the pool).
    """

    def __init__(
        self, index: Index, ranking: Ranking | None = None, vectors: Vectors | None = None, lens: Lens | None = None
    ) -> None:
        self._index = index
        self._ranking = ranking or Ranking()
        self._vectors = vectors
        self._lens = lens

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
        scope: Scope = EVERYTHING,
        layers: Sequence[str] = (),
        tags: Sequence[str] = (),
        recency: Recency | None = None,
        min_score: float = 0.0,
        explain: bool = False,
        vector: Vector | None = None,
    ) -> list[Hit]:
        """Give the best blocks for a question, best first; the hits for a small limit begin those for a larger one.

        A question without any word or number (only punctuation, emoji, white space) finds nothing. `now` is the time
        that ages, and times in the question, are reckoned from. `vector` is the question's, to search by meaning.
        `allow` decides what the asker may see; no hidden block lends score either. `scope`, `layers` and `tags` narrow
        the search; several tags are alternatives. `recency` overrides the setting. Scores are shares of the best hit's,
        which has 1.0. `min_score` leaves out hits below that share, but never one that holds every telling word of the
        question, or an identifier that the question names. `explain` fills `steps`.
        """
        words = query_terms(query)
        if not words or limit < 1:
            return []
        ranking = self._ranking if recency is None else replace(self._ranking, recency=recency)
        wanted = _narrowed(allow, layers, tags)
        found = self._index.search(words, limit=max(limit, CANDIDATES), allow=wanted, scope=scope)
        pool = Pool(self._index, ranking, within(scope, wanted))
        pool.add_words(found[:CANDIDATES], self._focused(query, ranking, wanted, scope))
        if vector is not None and self._vectors is not None:
            pool.add_meaning(self._vectors, self._lens, vector)
        beyond = len(found) > CANDIDATES
        # What is below the minimum may be passed over.
        ranked: Iterable[Hit] = pool.ranked(query, now, explain, None if beyond or min_score > 0 else limit)
        if beyond:
            ranked = _with_tail(list(ranked), found[CANDIDATES:])
        return _cut(ranked, words, min_score, limit)

    def _focused(self, query: str, ranking: Ranking, wanted: Allow, scope: Scope) -> list[Hit]:
        asked = focus(query) if ranking.focus else None
        words = query_terms(asked) if asked else []
        return self._index.search(words, limit=CANDIDATES, allow=wanted, scope=scope) if words else []


def _narrowed(allow: Allow, layers: Sequence[str], tags: Sequence[str]) -> Allow:
    if not layers and not tags:
        return allow
    wanted_layers, wanted_tags = frozenset(layers), frozenset(fold(tag) for tag in tags)

    def wanted(block: Block) -> bool:
        if wanted_layers and block.layer not in wanted_layers:
            return False
        if wanted_tags and not any(fold(tag) in wanted_tags for tag in block.tags):
            return False
        return allow(block)

    return wanted


def _with_tail(ranked: list[Hit], tail: Sequence[Hit]) -> list[Hit]:
    """Add what lies beyond the pool: hits keep their keyword order, after everything that was ranked."""
    known = {hit.block.identity for hit in ranked}
    last = ranked[-1].score if ranked else 0.0
    return ranked + [Hit(hit.block, min(hit.score, last)) for hit in tail if hit.block.identity not in known]


def _cut(ranked: Iterable[Hit], words: Sequence[str], min_score: float, limit: int) -> list[Hit]:
    """Scale scores to the best hit and leave out what is below the minimum and no exact hit."""
    hits: list[Hit] = []
    best: float | None = None
    for hit in ranked:
        if best is None:
            best = hit.score
        score = hit.score / best if best > 0 else 1.0
        if score >= min_score or _exact(hit.block, words):
            hits.append(Hit(hit.block, score, hit.steps))
            if len(hits) == limit:
                break
    return hits


def _exact(block: Block, words: Sequence[str]) -> bool:
    held = set(terms(searchable(block)))
    return all(word in held for word in words) or any(word in held for word in words if is_identifier(word))
