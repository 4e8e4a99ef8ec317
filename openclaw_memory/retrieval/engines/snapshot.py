"""One moment of an index: what is committed, and what waits beside it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import apsw

from openclaw_memory.retrieval.blocks import Block
from openclaw_memory.retrieval.engines.engine import Engine
from openclaw_memory.retrieval.engines.overlay import Masks


@dataclass(frozen=True, slots=True)
class Snapshot:
    """What a search or look-up sees; nothing of it changes while it is used."""

    reader: apsw.Connection
    engine: Engine
    view: Any
    masks: Masks
    epoch: int
    """How often what is committed had changed."""


@dataclass(frozen=True, slots=True)
class Waiting:
    """What the overlay adds to a search."""

    matches: Sequence[tuple[Block, Mapping[str, int], int]]
    """Blocks that hold one of the terms, how often they hold each, and their lengths."""
    blocks: int
    """Blocks that wait, less rows that are hidden."""
    length: int
    """Their terms, less those of hidden rows."""
    held_by: Mapping[str, int]
    """By term how many of the blocks that wait hold it, less those of the hidden rows."""
    hidden: int
