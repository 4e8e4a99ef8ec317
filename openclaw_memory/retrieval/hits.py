"""What a search gives, and in which order."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from openclaw_memory.retrieval.blocks import Block
from openclaw_memory.retrieval.moments import microseconds
from openclaw_memory.retrieval.scope import EVERYTHING, Scope

Allow = Callable[[Block], bool]
"""Tells whether a block may be shown. Asked for every block before it becomes a hit."""


# A tuple, as `Block` is.
class Hit(NamedTuple):
    """A block that answers a question. Scores compare within one answer; `steps` tell how the score came about."""

    block: Block
    score: float
    steps: tuple[str, ...] = ()


def within(scope: Scope, allow: Allow) -> Allow:
    """Allow what lies within a scope and is allowed."""
    if scope == EVERYTHING:
        return allow
    return lambda block: scope.admits(block) and allow(block)


def order(hit: Hit) -> tuple[float, int, str, int]:
    """Give what hits sort by: the best first, of equals the newest, then by address."""
    block = hit.block
    return (-hit.score, -microseconds(block.time), block.key, block.start_line)
