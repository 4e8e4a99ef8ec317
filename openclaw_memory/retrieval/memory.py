"""The index that lives in memory: for tests, and for when no file can be had."""

from __future__ import annotations

import heapq
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from datetime import datetime
from functools import wraps
from itertools import islice
from typing import Concatenate, ParamSpec, TypeVar

from openclaw_memory.retrieval.blocks import Block, FileRecord, sequence_of
from openclaw_memory.retrieval.bm25 import Statistics, Weights
from openclaw_memory.retrieval.hits import Allow, Hit, order
from openclaw_memory.retrieval.neighbours import Neighbour, beside
from openclaw_memory.retrieval.postings import AFTER_ALL, MOST_WAITING, Postings, Spot, spot_of
from openclaw_memory.retrieval.scope import EVERYTHING, Audience, Scope, listed, narrow
from openclaw_memory.retrieval.status import IndexStatus, Progress, no_progress

LOOKED_THROUGH = 50_000
"""Blocks that are looked through for those that few may see; takes some 20 ms."""


P = ParamSpec("P")
R = TypeVar("R")


def _alone(
    method: Callable[Concatenate[InMemoryIndex, P], R],
) -> Callable[Concatenate[InMemoryIndex, P], R]:
    """Let only one thread at a time do this."""

    @wraps(method)
    def locked(self: InMemoryIndex, /, *arguments: P.args, **named: P.kwargs) -> R:
        with self._lock:
            return method(self, *arguments, **named)

    return locked


class InMemoryIndex:
    """BM25 over dictionaries. Adding or removing a block costs its own terms; statistics are exact in every search.

    Parameters: `clock`, which gives seconds, for `catch_up`; `problem`, why it stands in for an index on disk;
    `most_waiting` blocks whose words may wait to be entered.
    """

    def __init__(
        self,
        clock: Callable[[], float] = time.perf_counter,
        *,
        problem: str | None = None,
        most_waiting: int = MOST_WAITING,
    ) -> None:
        self.problem = problem
        self._lock = threading.RLock()
        """Searches run in threads, and work off what waits."""
        self._held = Postings(clock, most_waiting)
        self._records: dict[str, FileRecord] = {}

    def __len__(self) -> int:
        """Count the blocks."""
        return len(self._held)

    @property
    def waiting(self) -> int:
        """Give 0: nothing waits for a commit."""
        return 0

    @_alone
    def add(self, blocks: Iterable[Block]) -> None:
        """Add blocks; those whose keys were known before the call take the places of the earlier ones."""
        self._held.add(blocks)

    @_alone
    def replace(self, path: str, blocks: Iterable[Block], record: FileRecord | None = None) -> None:
        """Put these blocks in the place of all blocks of a file."""
        new = list(blocks)
        self._held.drop_path(path)
        self._held.add(new)
        self.record(path, record)

    @_alone
    def remove(self, path: str) -> None:
        """Take out all blocks of a file, and its record; unknown files are no error."""
        self._held.remove(path)
        self._records.pop(path, None)

    @_alone
    def record(self, path: str, record: FileRecord | None) -> None:
        """Note, or forget, which state of a file its blocks stand for."""
        if record is None:
            self._records.pop(path, None)
        else:
            self._records[path] = record

    @_alone
    def catch_up(self, seconds: float) -> bool:
        """Enter and take out the words that wait for it, for about so long; tells whether none are left."""
        return self._held.catch_up(seconds)

    @_alone
    def search(self, query_terms: Sequence[str], *, limit: int, allow: Allow, scope: Scope = EVERYTHING) -> list[Hit]:
        """Give the best blocks that hold at least one of the terms (BM25), best first; of equals the newest first."""
        self._held.work_off()
        scores = self._scores(query_terms)
        hits: list[Hit] = []
        wanted = limit
        while len(hits) < limit and scores:
            best = self._best(scores, wanted)
            hits = [hit for hit in best if scope.admits(hit.block) and allow(hit.block)][:limit]
            if len(best) == len(scores):
                break
            # Many of the best may not be shown: look further down.
            wanted *= 4
        return hits

    @_alone
    def around_many(self, blocks: Sequence[Block], reach: int) -> list[list[Neighbour]]:
        """Give for each block the messages up to `reach` places before and after it in its session, in their order."""
        return [self._around(block, reach) for block in blocks]

    def _around(self, block: Block, reach: int) -> list[Neighbour]:
        name, spot = sequence_of(block), spot_of(block)
        if name is None:
            return []
        before = list(islice(self._held.backwards(name, spot), reach))
        after = islice(self._held.forwards(name, spot), reach)
        return beside(before, after)

    @_alone
    def spots_after(self, blocks: Sequence[Block], places: int) -> list[Spot | None]:
        """Give for each message where the one so many places after it, or one later, stands; None where unknown."""
        asked = [(sequence_of(block), spot_of(block)) for block in blocks]
        return [None if name is None else self._spot_after(name, spot, places) for name, spot in asked]

    def _spot_after(self, name: str, spot: Spot, places: int) -> Spot | None:
        further = islice(self._held.forwards(name, spot), places - 1, None)
        return next(map(spot_of, further), None)

    @_alone
    def find(self, key: str) -> list[Block]:
        """Give the blocks that have this address: none, one or, where a person wrote it twice, several, by line."""
        return sorted(self._held.of_key(key), key=_by_line)

    @_alone
    def find_many(self, keys: Sequence[str]) -> dict[str, list[Block]]:
        """Give by address what `find` gives; addresses that no block has are left out."""
        return {key: found for key in keys if (found := self.find(key))}

    @_alone
    def blocks_of(self, path: str) -> list[Block]:
        """Give the blocks of a file in the order of its lines."""
        return sorted(self._held.of_path(path), key=_by_line)

    @_alone
    def blocks_of_texts(self, ids: Sequence[bytes]) -> list[list[Block]]:
        """Give for each address of a text the blocks that have it; none where no block has."""
        return [self._held.of_text(text_id) for text_id in ids]

    @_alone
    def text_ids(self, after: bytes, most: int) -> list[bytes]:
        """Give the next addresses of texts in order, each once."""
        return heapq.nsmallest(most, self._held.text_ids(after))

    @_alone
    def within(self, audiences: Sequence[Audience], most: int) -> list[Block] | None:
        """List what these audiences may see; None when there is more than `most`, or too much to look through."""
        if not narrow(audiences) or len(self) > LOOKED_THROUGH:
            return None
        held = [entry.block for entry in list(self._held.entries.values())]
        found = [block for block in held if any(listed(audience, block) for audience in audiences)]
        return found if len(found) <= most else None

    def newest(self, session: str, until: datetime | None = None) -> Iterator[Block]:
        """Yield the messages of a session, the newest first, none of them after `until`."""
        return iter(self._newest(session, until))

    @_alone
    def newest_paths(self, session: str, most: int) -> list[str]:
        """Give the files that hold the newest `most` messages of a session, each once, the newest first."""
        blocks = islice(self._held.backwards(f"session {session}", AFTER_ALL), most)
        return list(dict.fromkeys(block.path for block in blocks))

    @_alone
    def _newest(self, session: str, until: datetime | None) -> list[Block]:
        return [
            block
            for block in self._held.backwards(f"session {session}", AFTER_ALL)
            if until is None or block.time is None or block.time <= until
        ]

    @_alone
    def paths_holding(self, keys: Iterable[str]) -> dict[str, tuple[str, ...]]:
        """Tell in which files the blocks with these addresses lie; unknown addresses are left out."""
        found = {key: tuple(sorted({block.path for block in self._held.of_key(key)})) for key in keys}
        return {key: paths for key, paths in found.items() if paths}

    @_alone
    def records(self) -> dict[str, FileRecord]:
        """Give the record of every file that has one."""
        return dict(self._records)

    @_alone
    def paths(self) -> set[str]:
        """Give the files that have blocks."""
        return set(self._held.paths())

    def commit(self, most: int = 0) -> bool:
        """Do nothing: there is no disk. True, since nothing is left."""
        return True

    @_alone
    def purge(self, progress: Progress = no_progress) -> None:
        """Let go of the words of all blocks that were taken out."""
        self._held.work_off()

    @_alone
    def status(self) -> IndexStatus:
        """Tell what it holds."""
        layers = Counter(entry.block.layer for entry in self._held.entries.values())
        return IndexStatus(
            engine="memory",
            blocks=len(self._held),
            files=len(self.paths()),
            by_layer=dict(sorted(layers.items())),
            problem=self.problem,
        )

    def close(self) -> None:
        """Do nothing."""

    def _best(self, scores: dict[int, float], wanted: int) -> list[Hit]:
        """Give at least the `wanted` best hits, and all equal to the last of them, in order."""
        least = heapq.nlargest(wanted, scores.values())[-1] if wanted > 0 else float("inf")
        entries = self._held.entries
        best = [Hit(entries[number].block, score) for number, score in scores.items() if score >= least]
        best.sort(key=order)
        return best

    def _scores(self, query_terms: Sequence[str]) -> dict[int, float]:
        held = self._held
        postings = {term: held.posting(term) for term in query_terms}
        sizes = {term: len(posting) for term, posting in postings.items()}
        weights = Weights(query_terms, Statistics(len(held), held.total_length, sizes))
        scores: dict[int, float] = {}
        for term, weight in weights.of_term.items():
            for number, count in postings[term].items():
                score = weight * count / (count + weights.norm(held.lengths[number]))
                scores[number] = scores.get(number, 0.0) + score
        return scores


def _by_line(block: Block) -> tuple[int, int, str]:
    return (block.start_line, block.end_line, block.key)
