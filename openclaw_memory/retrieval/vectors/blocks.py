"""From vectors, which belong to texts, to blocks, which somebody may see."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Protocol

from openclaw_memory.retrieval.blocks import Block
from openclaw_memory.retrieval.embedding.passages import passage, text_id
from openclaw_memory.retrieval.embedding.protocol import Vector
from openclaw_memory.retrieval.vectors.store import VectorStore


class BlocksByText(Protocol):
    """What an index tells about texts."""

    def blocks_of(self, texts: Sequence[bytes]) -> Sequence[Sequence[Block]]:
        """Give for each text id the blocks that have this text; none where no block has it."""
        ...


class BlockVectors:
    """Search blocks by meaning. Every call may take some 20 ms over a million vectors: ask from a thread.

    Raises: `VectorsLostError`, `VectorsUnavailableError`.
    """

    def __init__(self, store: VectorStore, blocks: BlocksByText) -> None:
        self._store, self._blocks = store, blocks

    def nearest(
        self, query: Vector, limit: int, allow: Callable[[Block], bool], among: Iterable[Block] | None = None
    ) -> list[tuple[Block, float]]:
        """Give the blocks nearest to the query that may be shown, with their cosines, best first.

        Looks further as long as too few of the nearest may be shown. `among` are the blocks of somebody who may see
        few (a group's session): these alone are compared, whatever the size of the rest.
        """
        if limit < 1:
            return []
        if among is not None:
            return self._nearest_among(query, limit, [block for block in among if allow(block)])
        count = limit
        while True:
            near = self._store.nearest(query, count)
            held = self._blocks.blocks_of([text for text, _ in near])
            found = [
                (block, cosine)
                for (_, cosine), blocks in zip(near, held, strict=True)
                for block in sorted(blocks, key=_newest_first)
                if allow(block)
            ]
            if len(found) >= limit or len(near) < count:
                return found[:limit]
            count *= 4

    def cosines(self, query: Vector, blocks: Sequence[Block]) -> list[float | None]:
        """Give each block's cosine; None for one that has no vector yet."""
        texts = [text_id(passage(block)) for block in blocks]
        known = self._store.cosines(query, texts)
        return [known.get(text) for text in texts]

    def _nearest_among(self, query: Vector, limit: int, blocks: Sequence[Block]) -> list[tuple[Block, float]]:
        scored = [
            (block, cosine)
            for block, cosine in zip(blocks, self.cosines(query, blocks), strict=True)
            if cosine is not None
        ]
        scored.sort(key=lambda one: (-one[1], _newest_first(one[0])))
        return scored[:limit]


def _newest_first(block: Block) -> tuple[float, tuple[str, int]]:
    return (-block.time.timestamp() if block.time else 0.0, block.identity)
