"""Answer a question from one moment of the index."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from operator import itemgetter
from typing import Any

from openclaw_memory.retrieval.blocks import Block
from openclaw_memory.retrieval.bm25 import Statistics, Weights
from openclaw_memory.retrieval.engines.database import Row, among, read_state
from openclaw_memory.retrieval.engines.engine import Question
from openclaw_memory.retrieval.engines.errors import IndexDamagedError, TermsDamagedError
from openclaw_memory.retrieval.engines.faults import told
from openclaw_memory.retrieval.engines.marks import condition_of
from openclaw_memory.retrieval.engines.overlay import Masks
from openclaw_memory.retrieval.engines.rows import COLUMNS, block_of
from openclaw_memory.retrieval.engines.snapshot import Snapshot, Waiting
from openclaw_memory.retrieval.engines.words import SIZE, count_in, digest_of, stored
from openclaw_memory.retrieval.hits import Allow, Hit
from openclaw_memory.retrieval.moments import microseconds
from openclaw_memory.retrieval.scope import Scope

Candidate = tuple[float, int, str, int, Any]
"""What `hits.order` sorts by (score and time negative), and a `Row`, or the `Block` where it waits beside the rows."""
_ORDER = itemgetter(0, 1, 2, 3)
_ROWS = f"SELECT {COLUMNS}, length, counts FROM blocks WHERE id"


def search(
    terms: Sequence[str],
    limit: int,
    wanted: Allow,
    scope: Scope,
    snapshot: Snapshot,
    waiting: Waiting,
    *,
    in_step: bool,
) -> list[Hit]:
    """Give the best blocks, best first, of equals the newest first.

    Scores are reckoned here, for rows from their packed counts, with statistics of rows and overlay together; so they
    are the same for every engine, and for what waits. An engine only chooses the rows that are worth it.
    `in_step` tells whether every row that the engine names has to be there.
    """
    reader, engine = snapshot.reader, snapshot.engine
    names = {term: stored(term) for term in terms}
    with told("searching the index"):
        held: dict[str, int] = dict(among(reader, "SELECT term, held FROM terms WHERE term", list(names.values())))
        state = read_state(reader)
    held_now = {term: held.get(names[term], 0) + waiting.held_by[term] for term in terms}
    weights = Weights(terms, Statistics(state.blocks + waiting.blocks, state.length + waiting.length, held_now))
    found = list(_waiting(waiting, weights))
    question = Question(
        {names[term]: worth for term, worth in weights.of_term.items() if names[term] in held},
        held,
        state.blocks,
        condition_of(scope),
        None if scope.until is None else microseconds(scope.until),
    )
    fault = TermsDamagedError if engine.own_files else IndexDamagedError
    # Some of them may be hidden.
    size = limit + engine.spare + min(waiting.hidden, limit)
    seen: set[int] = set()
    while question.words:
        with told("searching the terms", fault):
            ids = engine.candidates(snapshot.view, reader, question, size)
        new = [id_ for id_ in ids if id_ not in seen]
        with told("searching the index"):
            rows = among(reader, _ROWS, new)
        if in_step and len(rows) != len(new):
            raise fault("the terms", f"{len(new) - len(rows)} of {len(new)} blocks that they name are missing")
        seen.update(new)
        found += _scored(rows, weights, names)
        hits = _best(found, limit, wanted, snapshot.masks)
        if len(hits) >= limit or len(ids) < size:
            return hits
        size *= 4
    return _best(found, limit, wanted, snapshot.masks)


def _waiting(waiting: Waiting, weights: Weights) -> Iterator[Candidate]:
    for block, counts, length in waiting.matches:
        score = weights.score(counts, length)
        yield (-score, -microseconds(block.time), block.key, block.start_line, block)


def _scored(rows: Iterable[Row], weights: Weights, names: Mapping[str, str]) -> Iterator[Candidate]:
    """Score rows from their packed counts."""
    asked = [(digest_of(names[term]), worth) for term, worth in weights.of_term.items()]
    for row in rows:
        packed, norm, score = row[-1], weights.norm(row[-2]), 0.0
        # The sum of `Weights.score`, in the same order, without a dictionary for each row.
        for digest, worth in asked:
            at = packed.find(digest)
            if at >= 0:
                # Seldom is a digest found across two entries.
                count = packed[at + 4] + 256 * packed[at + 5] if at % SIZE == 0 else count_in(packed, digest)
                score += worth * count / (count + norm)
        yield (-score, -row[6], row[1], row[3], row)


def _best(found: list[Candidate], limit: int, wanted: Allow, masks: Masks) -> list[Hit]:
    """Give the best of them that may be shown; a row becomes a block only when its turn comes."""
    found.sort(key=_ORDER)
    hits: list[Hit] = []
    hiding = bool(masks.paths or masks.keys)
    for score, _, _, _, held in found:
        if isinstance(held, Block):
            block = held
        else:
            block = block_of(held)
            if hiding and masks.hide(block):
                continue
        if wanted(block):
            hits.append(Hit(block, -score))
            if len(hits) == limit:
                break
    return hits
