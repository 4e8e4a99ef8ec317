"""What ranking asks of the vectors."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Protocol

from openclaw_memory.retrieval.blocks import Block

if TYPE_CHECKING:
    from openclaw_memory.retrieval.embedding.protocol import Vector


class Vectors(Protocol):
    """Vectors of blocks, as a search looks at them."""

    def nearest(self, query: Vector, limit: int, allow: Callable[[Block], bool]) -> Sequence[tuple[Block, float]]:
        """Give the nearest blocks that may be shown, with their cosines, best first."""
        ...

    def cosines(self, query: Vector, blocks: Sequence[Block]) -> Sequence[float | None]:
        """Give each block's cosine; None for one that has no vector yet."""
        ...

    def vectors_of(self, blocks: Sequence[Block]) -> Sequence[Vector | None]:
        """Give each block's vector; None for one that has none yet."""
        ...
