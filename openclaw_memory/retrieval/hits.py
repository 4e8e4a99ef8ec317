"""What a search gives, and in which order."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from openclaw_memory.retrieval.blocks import Block
from openclaw_memory.retrieval.moments import microseconds

Allow = Callable[[Block], bool]
"""Tells whether a block may be shown. Asked for every block before it becomes a hit."""


@dataclass(frozen=True, slots=True)
class Hit:
    """A block that answers a question. Scores compare within one answer; `steps` tell how the score came about."""

    block: Block
    score: float
    steps: tuple[str, ...] = ()


def order(hit: Hit) -> tuple[float, int, str, int]:
    """Give what hits sort by: the best first, of equals the newest, then by address."""
    block = hit.block
    return (-hit.score, -microseconds(block.time), block.key, block.start_line)
