"""Search the index, as often as files change under the answer."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from typing import Any

import anyio.to_thread

from contracts import SearchResult
from openclaw_memory.catalog import Catalog
from openclaw_memory.config import MemoryConfig
from openclaw_memory.meaning import Asked, Meaning
from openclaw_memory.reading.documents import Documents
from openclaw_memory.retrieval.blocks import Block
from openclaw_memory.retrieval.cutting import snippet
from openclaw_memory.retrieval.index import Hit
from openclaw_memory.retrieval.ranking import Ranking
from openclaw_memory.retrieval.search import Searcher
from openclaw_memory.retrieval.vectors.errors import VectorsError

LEAST_HITS = 100
"""Hits that are considered for the smallest budget."""

SEARCHES = 3
"""A person who saves again and again does not keep an answer waiting for longer than this."""

SNIPPET_CHARS = 700


class Searching:
    """Finds pieces by words, and by meaning where that is on.

    Parameters: `store` and `catalog` of the same documents; `config`; `meaning`, to search by; None for keywords alone;
    `mend`, which fills an index that was lost and tells whether it was.
    """

    def __init__(
        self,
        store: Documents,
        catalog: Catalog,
        config: MemoryConfig,
        meaning: Meaning | None,
        mend: Callable[[], Awaitable[bool]],
    ) -> None:
        self._store = store
        self._catalog = catalog
        self._meaning = meaning
        self._mend = mend
        self._ranking = Ranking(recency=config.recency, **config.ranking.model_dump())

    async def found(self, query: str, session: str | None, asked: Asked, **how: Any) -> tuple[list[Hit], str | None]:
        """Search, and search again when a file that a hit lies in, or that the session goes on in, was changed.

        Gives the hits, and why meaning had no part in them, where it should have had one.
        """
        for _ in range(SEARCHES):
            try:
                hits, paths = await anyio.to_thread.run_sync(self._search, query, session, asked, how)
            except VectorsError as error:
                assert self._meaning is not None
                asked = await self._meaning.report(error)
                hits, paths = await anyio.to_thread.run_sync(self._search, query, session, asked, how)
            if await self._mend():
                continue
            wanted = self._catalog.wanted()
            await self._store.wake(wanted)
            if not await self._store.look_at(paths) and not wanted:
                break
        return hits, asked.notice

    def _search(
        self, query: str, session: str | None, asked: Asked, how: Mapping[str, Any]
    ) -> tuple[list[Hit], set[str]]:
        """Give the hits, and the files that the answer rests on."""
        self._catalog.feed()
        searcher = Searcher(self._catalog.index, self._ranking, asked.vectors, asked.lens)
        hits = searcher.search(query, vector=asked.vector, **how)
        return hits, {hit.block.path for hit in hits} | set(self._catalog.paths_of(session) if session else ())


def most_that_fit(max_tokens: int) -> int:
    """Give how many hits are worth a look for a budget; the pool that they are ranked in is the same for all.

    A piece takes some twenty tokens and more. Twice as many find nothing more on LoCoMo, for budgets of 500 to 2,000.
    """
    return max(LEAST_HITS, max_tokens // 20)


def result_of(hit: Hit) -> SearchResult:
    """Give a hit as the reply of a search tells it."""
    return SearchResult(
        path=hit.block.path,
        start_line=hit.block.start_line,
        end_line=hit.block.end_line,
        score=hit.score,
        snippet=_snippet(hit.block),
        layer=hit.block.layer,
        time=hit.block.time,
        steps=hit.steps,
    )


def _snippet(block: Block) -> str:
    text = f"{block.section}/{block.text}" if block.section and block.layer == "fact" else block.text
    return snippet(text, SNIPPET_CHARS)
