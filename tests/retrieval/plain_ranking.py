"""The ranking as it reads: all candidates and all messages beside one, step by step. The quick one has to equal it."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Any

from openclaw_memory.retrieval import Block, Hit
from openclaw_memory.retrieval.fusion import fuse, standardised
from openclaw_memory.retrieval.hits import order
from openclaw_memory.retrieval.mmr import LOOKED_AT, diversified
from openclaw_memory.retrieval.moments import microseconds
from openclaw_memory.retrieval.questions import asks_about_past, focus
from openclaw_memory.retrieval.ranking import IMPORTANT, IN_TIME, NEIGHBOUR_SHARES, Ranking, recency, within_limits
from openclaw_memory.retrieval.terms import is_identifier, query_terms, terms
from openclaw_memory.retrieval.times import spans

CANDIDATES = 200
A_DAY = 86_400_000_000
"""In microseconds."""


def search(
    index: Any,
    everything: Sequence[Block],
    ranking: Ranking,
    query: str,
    *,
    now: datetime,
    limit: int,
    allow: Any,
    min_score: float = 0.0,
    vectors: Any = None,
    vector: Any = None,
) -> list[Hit]:
    """Search an index that holds `everything`: messages of sessions, each at another time."""
    words = query_terms(query)
    found = index.search(words, limit=max(limit, CANDIDATES), allow=allow)
    asked = focus(query) if ranking.focus else None
    again = index.search(query_terms(asked), limit=CANDIDATES, allow=allow) if asked and query_terms(asked) else []
    blocks: dict[tuple[str, int], Block] = {}
    by_words: dict[tuple[str, int], float] = {}
    for hit in [*found[:CANDIDATES], *again]:
        blocks.setdefault(hit.block.identity, hit.block)
        by_words[hit.block.identity] = by_words.get(hit.block.identity, 0.0) + hit.score
    by_meaning: dict[tuple[str, int], float] = {}
    if vectors is not None:
        for block, _ in vectors.nearest(vector, CANDIDATES, allow):
            blocks.setdefault(block.identity, block)
            by_words.setdefault(block.identity, 0.0)
        scores = standardised(vectors.cosines(vector, list(blocks.values())))
        word_parts, meaning_parts = fuse(ranking.fusion, list(by_words.values()), scores)
        by_words = dict(zip(blocks, word_parts, strict=True))
        by_meaning = dict(zip(blocks, meaning_parts, strict=True))
    fused = {one: by_words[one] + by_meaning.get(one, 0.0) for one in blocks}
    total = dict(fused)
    sessions = _sessions(everything)
    if ranking.neighbours:
        for one, score in fused.items():
            for share, other in _beside(blocks[one], sessions):
                if allow(other):
                    blocks.setdefault(other.identity, other)
                    total[other.identity] = total.get(other.identity, 0.0) + share * score
    least = min(total.values(), default=0.0)
    name = "off" if ranking.recency != "off" and asks_about_past(query) else ranking.recency
    named = spans(query, now) if ranking.times else []
    hits = []
    for one, block in blocks.items():
        age = None if block.time is None else (now - block.time).total_seconds()
        (weight,) = recency(name, [age])
        day = None if block.time is None else block.time.astimezone(now.tzinfo).date()
        lift = IN_TIME if day and any(span.holds(day) for span in named) else 1.0
        stress = IMPORTANT if block.important and ranking.importance else 1.0
        score = total[one] if least >= 0 else total[one] - least
        near = total[one] - by_words.get(one, 0.0) - by_meaning.get(one, 0.0)
        steps = [f"keywords {by_words.get(one, 0.0):.2f}"]
        steps += [f"meaning {by_meaning.get(one, 0.0):+.2f}"] if vectors is not None else []
        steps += [f"neighbours {near:+.2f}"] if near else []
        steps += [f"time x{lift:.2g}"] if lift != 1.0 else []
        steps += [f"recency {name} x{weight:.2g}"] if weight != 1.0 else []
        steps += [f"important x{stress:.2g}"] if stress != 1.0 else []
        hits.append(Hit(block, score * weight * lift * stress, tuple(steps)))
    hits.sort(key=order)
    if ranking.newer and not named and not asks_about_past(query):
        hits = _newer_first(hits, set(words))
    if ranking.mmr is not None:
        held = [frozenset(terms(hit.block.text)) for hit in hits[:LOOKED_AT]]
        hits = _descending([hits[at] for at in diversified([hit.score for hit in hits], held, ranking.mmr)])
    if ranking.layer_limits:
        hits = _descending([hits[at] for at in within_limits([hit.block for hit in hits], ranking.layer_limits)])
    last = hits[-1].score if hits else 0.0
    hits += [Hit(hit.block, min(hit.score, last)) for hit in found[CANDIDATES:] if hit.block.identity not in blocks]
    best = hits[0].score if hits else 0.0
    scaled = [hit._replace(score=hit.score / best if best > 0 else 1.0) for hit in hits]
    return [hit for hit in scaled if hit.score >= min_score or _exact(hit.block, words)][:limit]


def _newer_first(hits: list[Hit], asked: set[str]) -> list[Hit]:
    """Put the best newer statement that is like an older one right before it, among the first twenty."""
    left, done = hits[:20], []
    while left:
        older = left.pop(0)
        for place, hit in enumerate(left):
            if _takes_its_place(hit, older, asked):
                raised = max(hit.score, older.score)
                done.append(left.pop(place)._replace(score=raised, steps=(*hit.steps, "newer than one like it")))
                break
        done.append(older)
    return done + hits[20:]


def _takes_its_place(newer: Hit, older: Hit, asked: set[str]) -> bool:
    one, other = newer.block, older.block
    if one.layer != other.layer or one.layer not in ("note", "memory", "fact") or one.time is None:
        return False
    if other.time is None or one.time <= other.time or newer.score < older.score / 2:
        return False
    ours, theirs = set(terms(one.text)), set(terms(other.text))
    shared = theirs & asked
    return bool(shared and len(shared & ours) >= 0.7 * len(shared) and len(ours & theirs) >= 0.2 * len(ours | theirs))


def _exact(block: Block, words: Sequence[str]) -> bool:
    held = set(terms(block.text))
    return all(word in held for word in words) or any(word in held for word in words if is_identifier(word))


def _sessions(everything: Sequence[Block]) -> dict[str, list[Block]]:
    sessions: dict[str, list[Block]] = {}
    for block in sorted(everything, key=lambda one: microseconds(one.time)):
        if block.layer == "conversation":
            sessions.setdefault(block.session or "", []).append(block)
    return sessions


def _beside(block: Block, sessions: dict[str, list[Block]]) -> list[tuple[float, Block]]:
    if block.layer != "conversation":
        return []
    session = sessions[block.session or ""]
    here = session.index(block)
    return [
        (share, session[at])
        for distance, share in NEIGHBOUR_SHARES.items()
        for at in (here - distance, here + distance)
        if 0 <= at < len(session) and abs(microseconds(session[at].time) - microseconds(block.time)) <= A_DAY
    ]


def _descending(hits: list[Hit]) -> list[Hit]:
    least, result = float("inf"), []
    for hit in hits:
        least = min(least, hit.score)
        result.append(hit._replace(score=least))
    return result
