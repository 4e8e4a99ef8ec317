"""The candidates of one search, and what each step of the ranking gives them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence, Set
from datetime import datetime
from itertools import chain, groupby, islice, pairwise
from typing import TYPE_CHECKING

from openclaw_memory.retrieval.blocks import Block, searchable, sequence_of
from openclaw_memory.retrieval.fusion import fuse, standardised
from openclaw_memory.retrieval.hits import Allow, Hit
from openclaw_memory.retrieval.index import Index
from openclaw_memory.retrieval.mmr import LOOKED_AT, diversified
from openclaw_memory.retrieval.multipliers import Multipliers
from openclaw_memory.retrieval.neighbours import Neighbour, neighbour
from openclaw_memory.retrieval.newer import LOOKED_AT as AT_NEWER
from openclaw_memory.retrieval.newer import newer_first
from openclaw_memory.retrieval.postings import Spot
from openclaw_memory.retrieval.questions import asks_about_past
from openclaw_memory.retrieval.ranking import NEIGHBOUR_SHARES, REACH, Ranking, lent, lowered, within_limits
from openclaw_memory.retrieval.stale import STALE, is_stale
from openclaw_memory.retrieval.terms import query_terms, terms
from openclaw_memory.retrieval.vectors.asked import Vectors

if TYPE_CHECKING:
    from openclaw_memory.retrieval.embedding.protocol import Vector
    from openclaw_memory.retrieval.lens import Lens

CANDIDATES = 200
"""How many hits by words, and as many by meaning, are ranked, whatever number is asked for: so the best hit does not
depend on it."""

FEEDBACK_HITS = 3
"""How many of the best hits tell what else a question means."""

ROUNDING = 1e-9
"""What a sum of some floating point numbers may be off, as a share."""

Identity = tuple[str, int]


class Pool:
    """The candidates of one search, by number: hits first, then the messages beside them.

    Most of the latter are ranked and never shown. So they are known by their places alone until the answer comes to
    them; only then is it asked what they say, and whether it may be shown. None of them lends to others, so the answer
    is the same as if all had been asked about at once.
    """

    def __init__(self, index: Index, ranking: Ranking, visible: Allow) -> None:
        self._index, self._ranking, self._visible = index, ranking, visible
        self._numbers: dict[Identity, int] = {}
        self._hits: list[Block] = []
        self._words: list[float] = []
        self._meaning: list[float] = []
        self._places: list[Neighbour] = []
        """Of hits and, once somebody asked what is beside them, of these messages."""
        self._near: dict[int, list[tuple[float, int]]] = {}
        """By hit the share and number of each message that it lends to."""
        self._shown: dict[int, Block | None] = {}
        """Messages beside hits that were asked about; None for one that may not be shown, or is gone."""

    def add_words(self, hits: Sequence[Hit], focused: Sequence[Hit]) -> None:
        """Take hits by words; those of the sentence that asks count as well."""
        for hit in (*hits, *focused):
            self._words[self._enter(hit.block)] += hit.score

    def add_meaning(self, vectors: Vectors, lens: Lens | None, vector: Vector) -> None:
        """Take hits by meaning, and score every candidate by it."""
        for block, _ in vectors.nearest(vector, CANDIDATES, self._visible):
            self._enter(block)
        hits = self._hits
        if lens is None:
            self._meaning = standardised(vectors.cosines(vector, hits))
            return
        direction = lens.question(vector)
        self._meaning = [direction.score(cosine) for cosine in vectors.cosines(direction.vector, hits)]
        if self._ranking.feedback:
            scores = [sum(both) for both in self._parts()]
            if self._ranking.neighbours:
                self._look_beside(range(len(hits)))
                scores = self._with_neighbours(scores)
            best = sorted(range(len(hits)), key=lambda number: (-scores[number], hits[number].identity))[:FEEDBACK_HITS]
            shown = [one for one in vectors.vectors_of([hits[number] for number in best]) if one is not None]
            direction = lens.more_like(direction, shown)
            self._meaning = [direction.score(cosine) for cosine in vectors.cosines(direction.vector, hits)]

    def ranked(self, query: str, now: datetime, explain: bool, enough: int | None) -> Iterator[Hit]:
        """Take every step that is switched on, and yield the hits, best first; of equals the newest, then by address.

        `enough` is the number of hits after which nobody asks for more; None when that is not known.
        """
        ranking = self._ranking
        multipliers = Multipliers(ranking, query, now)
        if ranking.layer_limits:
            enough = None
        elif enough is not None and (ranking.mmr is not None or ranking.newer):
            enough = max(enough, LOOKED_AT if ranking.mmr is not None else AT_NEWER)
        parts = self._parts()
        total = fused = [sum(both) for both in parts]
        stale = self._stale(now) if ranking.stale else set()
        if ranking.neighbours:
            if not self._near:
                self._look_beside(self._lenders(fused, multipliers, stale, enough))
            total = self._with_neighbours(fused)
        scores = multipliers.apply(self._positive(total), self._places)
        for number in stale:
            scores[number] *= STALE

        def steps(number: int) -> tuple[str, ...]:
            words, meaning = parts[number] if number < len(parts) else (0.0, 0.0)
            near = total[number] - words - meaning
            by_meaning = [f"meaning {meaning:+.2f}"] if self._meaning else []
            beside = [f"neighbours {near:+.2f}"] if near else []
            passed = [f"stale x{STALE:.2g}"] if number in stale else []
            return (f"keywords {words:.2f}", *by_meaning, *beside, *multipliers.told(self._places[number]), *passed)

        order = self._in_order(scores)
        shown = self._to_show(order, enough or CANDIDATES)
        hits: Iterator[Hit] = (Hit(block, scores[at], steps(at) if explain else ()) for at, block in shown)
        if ranking.newer and not multipliers.of_a_time and not asks_about_past(query):
            hits = newer_first(hits, frozenset(query_terms(query)))
        return self._varied(hits)

    # -- scores -------------------------------------------------------------------------------------------------

    def _enter(self, block: Block) -> int:
        number = self._numbers.setdefault(block.identity, len(self._hits))
        if number == len(self._hits):
            self._hits.append(block)
            self._places.append(neighbour(block))
            self._words.append(0.0)
        return number

    def _parts(self) -> list[tuple[float, float]]:
        """Give what words and what meaning add, hit by hit."""
        if not self._meaning:
            return [(score, 0.0) for score in self._words]
        words, meaning = fuse(self._ranking.fusion, self._words, self._meaning)
        return list(zip(words, meaning, strict=True))

    def _with_neighbours(self, scores: list[float]) -> list[float]:
        """Add what messages lend each other; a message beside a hit that is none itself begins at 0."""
        total = scores + [0.0] * (len(self._places) - len(scores))
        for number, near in self._near.items():
            score = scores[number]
            for share, other in near:
                total[other] += share * score
        return total

    def _stale(self, now: datetime) -> set[int]:
        """Give the hits that have lost their meaning with their day; what is no hit but beside one is a message."""
        return {number for number, block in enumerate(self._hits) if is_stale(block, now)}

    def _lenders(
        self, fused: Sequence[float], multipliers: Multipliers, stale: Set[int], enough: int | None
    ) -> list[int]:
        """Choose the hits whose neighbours matter: all but those that lend to messages that nobody will come to.

        A hit without another in its reach lends to no other hit, and what it lends has to reach the least of what is
        shown by itself.
        """
        every = list(range(len(fused)))
        if enough is None or len(fused) < enough or min(fused) < 0:
            return every
        alone = multipliers.apply(fused, self._places)
        for number in stale:
            alone[number] *= STALE
        least = sorted(alone, reverse=True)[enough - 1] * (1 - ROUNDING)
        most = multipliers.most * max(NEIGHBOUR_SHARES.values())
        weak = {at for at in every if fused[at] * most < least}
        together = self._together(weak)
        return [at for at in every if at not in weak or at in together]

    def _together(self, weak: Set[int]) -> set[int]:
        """Tell which hits may lend to the same message as another, or to another; asked for those that are weak."""
        of_session: dict[str, list[tuple[Spot, int]]] = {}
        for number, block in enumerate(self._hits):
            if (session := sequence_of(block)) is not None:
                place = self._places[number]
                of_session.setdefault(session, []).append(((place.time, place.path, place.start_line), number))
        pairs = [
            (one, other, spot)
            for hits in of_session.values()
            if len(hits) > 1
            for (_, one), (spot, other) in pairwise(sorted(hits))
            if one in weak or other in weak
        ]
        further = self._index.spots_after([self._hits[one] for one, _, _ in pairs], 2 * REACH) if pairs else []
        near = (pair for pair, after in zip(pairs, further, strict=True) if after is None or after >= pair[2])
        return {number for one, other, _ in near for number in (one, other)}

    def _look_beside(self, lenders: Sequence[int]) -> None:
        """Find the messages that these hits lend to, and enter those that are no hits."""
        number_of, places = self._numbers.setdefault, self._places
        found = self._index.around_many([self._hits[number] for number in lenders], REACH) if lenders else []
        known = len(places)
        for number, beside in zip(lenders, found, strict=True):
            near = self._near[number] = []
            for share, other in lent(places[number], beside):
                at = number_of((other.key, other.start_line), known)
                if at == known:
                    places.append(other)
                    known += 1
                near.append((share, at))

    def _positive(self, total: list[float]) -> list[float]:
        """Shift scores so that none that is shown is below zero, as multipliers need it."""
        if min(total, default=0.0) >= 0:
            return total
        hits = len(self._hits)
        least = min(total[:hits], default=0.0)
        lower = [number for number in range(hits, len(total)) if total[number] < least]
        least = min([least, *(total[number] for number, _ in self._to_show(lower, len(lower)))])
        return total if least >= 0 else [score - least for score in total]

    # -- order --------------------------------------------------------------------------------------------------

    def _in_order(self, scores: Sequence[float]) -> Iterator[int]:
        """Yield the numbers, the best first; times and addresses are only looked at among equals."""
        numbers = sorted(range(len(scores)), key=scores.__getitem__, reverse=True)
        for _, equals in groupby(numbers, key=scores.__getitem__):
            same = list(equals)
            yield from same if len(same) == 1 else sorted(same, key=self._order_of_equals)

    def _order_of_equals(self, number: int) -> tuple[int, str, int]:
        place = self._places[number]
        return (-place.time, place.key, place.start_line)

    def _to_show(self, numbers: Iterable[int], at_once: int) -> Iterator[tuple[int, Block]]:
        """Yield those that may be shown, with what they say; so many are looked up at a time."""
        rest = iter(numbers)
        while some := list(islice(rest, max(1, at_once))):
            self._look_up([number for number in some if number >= len(self._hits) and number not in self._shown])
            for number in some:
                block = self._hits[number] if number < len(self._hits) else self._shown[number]
                if block is not None:
                    yield number, block

    def _look_up(self, numbers: Sequence[int]) -> None:
        """Find out what messages beside hits say, and whether that may be shown."""
        unknown = [place.key for number in numbers if (place := self._places[number]).block is None]
        found = self._index.find_many(unknown) if unknown else {}
        for number in numbers:
            place = self._places[number]
            block = place.block
            if block is None:
                # It may have been moved, or taken out, since it was seen beside a hit.
                same = found.get(place.key, [])
                block = next((one for one in same if place.is_at(one)), same[0] if same else None)
            self._shown[number] = block if block is not None and self._visible(block) else None

    def _varied(self, hits: Iterator[Hit]) -> Iterator[Hit]:
        ranking = self._ranking
        if ranking.mmr is not None:
            first = list(islice(hits, LOOKED_AT))
            held = [frozenset(terms(searchable(hit.block))) for hit in first]
            places = diversified([hit.score for hit in first], held, ranking.mmr)
            hits = lowered(chain((first[place] for place in places), hits))
        if ranking.layer_limits:
            every = list(hits)
            hits = lowered(every[place] for place in within_limits([hit.block for hit in every], ranking.layer_limits))
        return hits
