"""Messages beside others, as far as ranking has to know them before it is sure that they will be shown."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from openclaw_memory.retrieval.blocks import Block
from openclaw_memory.retrieval.moments import microseconds


# A tuple: a search makes a thousand of them, and shows a tenth.
class Neighbour(NamedTuple):
    """A message `distance` places after (negative: before) another in its session.

    `time` is in microseconds (UTC), 0 where `dated` is False. `block` is the message itself where that costs nothing to
    give; else `Index.find_many` gives it by its key.
    """

    distance: int
    key: str
    path: str
    start_line: int
    time: int
    dated: bool
    important: bool
    block: Block | None = None

    def is_at(self, block: Block) -> bool:
        """Tell whether a block with this key stands at this place."""
        return block.start_line == self.start_line and block.path == self.path


def neighbour(block: Block, distance: int = 0) -> Neighbour:
    """Say what ranking has to know of a block that is at hand."""
    return Neighbour(
        distance,
        block.key,
        block.path,
        block.start_line,
        microseconds(block.time),
        block.time is not None,
        block.important,
        block,
    )


def beside(before: list[Block], after: Iterable[Block]) -> list[Neighbour]:
    """Put together what is before a message, the nearest first, and what is after it, in the order of the session."""
    earlier = [neighbour(block, -distance) for distance, block in enumerate(before, 1)]
    return [*reversed(earlier), *(neighbour(block, distance) for distance, block in enumerate(after, 1))]
