"""From vectors, which belong to texts, to blocks, which somebody may see."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING, Protocol

from openclaw_memory.retrieval.blocks import Block
from openclaw_memory.retrieval.embedding.protocol import Vector
from openclaw_memory.retrieval.passages import passage, text_id
from openclaw_memory.retrieval.scope import Audience
from openclaw_memory.retrieval.vectors.store import VectorStore

if TYPE_CHECKING:
    from openclaw_memory.retrieval.vectors.signs import Floats

FEW = 5_000
"""Blocks that somebody may see who sees few: these are compared alone, in some 50 ms at the most."""


class BlocksByText(Protocol):
    """What an index tells about texts."""

    def blocks_of_texts(self, ids: Sequence[bytes]) -> Sequence[Sequence[Block]]:
        """Give for each address of a text the blocks that have it; none where no block has."""
        ...

    def within(self, audiences: Sequence[Audience], most: int) -> Sequence[Block] | None:
        """List what these audiences may see; None when that is more than `most`, or can't be listed."""
        ...


class BlockVectors:
    """Search blocks by meaning. Every call may take some 20 ms over a million vectors: ask from a thread.

    Parameters: `store`; `blocks`, the index; `audiences`, who asks, where they may see few (a group's session): then
    only what they may see is compared, whatever the size of the rest.

    Raises: `VectorsLostError`, `VectorsUnavailableError`.
    """

    def __init__(self, store: VectorStore, blocks: BlocksByText, audiences: Sequence[Audience] = ()) -> None:
        self._store, self._blocks, self._audiences = store, blocks, audiences

    def nearest(self, query: Vector, limit: int, allow: Callable[[Block], bool]) -> list[tuple[Block, float]]:
        """Give the blocks nearest to the query that may be shown, with their cosines, best first.

        Looks further as long as too few of the nearest may be shown.
        """
        if limit < 1:
            return []
        few = self._blocks.within(self._audiences, FEW) if self._audiences else None
        if few is not None:
            return self._nearest_among(query, limit, [block for block in few if allow(block)])
        count = limit
        while True:
            near = self._store.nearest(query, count)
            held = self._blocks.blocks_of_texts([text for text, _ in near])
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
        texts = _ids(blocks)
        known = self._store.cosines(query, texts)
        return [known.get(text) for text in texts]

    def vectors_of(self, blocks: Sequence[Block]) -> list[Floats | None]:
        """Give each block's vector, of length 1; None for one that has none yet."""
        texts = _ids(blocks)
        known = self._store.vectors(texts)
        return [known.get(text) for text in texts]

    def _nearest_among(self, query: Vector, limit: int, blocks: Sequence[Block]) -> list[tuple[Block, float]]:
        scored = [
            (block, cosine)
            for block, cosine in zip(blocks, self.cosines(query, blocks), strict=True)
            if cosine is not None
        ]
        scored.sort(key=lambda one: (-one[1], _newest_first(one[0])))
        return scored[:limit]


def _ids(blocks: Iterable[Block]) -> list[bytes]:
    return [text_id(passage(block)) for block in blocks]


def _newest_first(block: Block) -> tuple[float, tuple[str, int]]:
    return (-block.time.timestamp() if block.time else 0.0, block.identity)
