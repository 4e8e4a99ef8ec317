"""What a commit has to do, decided from what lies in the index and what is to lie there."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from openclaw_memory.retrieval.blocks import Block
from openclaw_memory.retrieval.moments import microseconds, offset_of


@dataclass(frozen=True, slots=True)
class Changes:
    """Rows that go, rows that stay but lie elsewhere now, and blocks that are new."""

    gone: tuple[tuple[int, Block], ...]
    moved: tuple[tuple[int, Block], ...]
    new: tuple[Block, ...]


def plan_changes(held: Iterable[tuple[int, Block]], wanted: Iterable[Block]) -> Changes:
    """Decide how the blocks of rows become the wanted blocks with the fewest words taken out and entered.

    A row that differs from a wanted block in nothing but its file and lines keeps its words: an edit at the top of a
    file, or its rotation into a part, moves hundreds of blocks.
    """
    by_content: dict[Any, list[tuple[int, Block]]] = {}
    for id_, block in held:
        by_content.setdefault(_content(block), []).append((id_, block))
    moved, new = [], []
    for block in wanted:
        same = by_content.get(_content(block)) if by_content else None
        if not same:
            new.append(block)
            continue
        # The one at the same place, where several are alike.
        at = next((at for at, (_, old) in enumerate(same) if _place(old) == _place(block)), 0)
        id_, old = same.pop(at)
        if _place(old) != _place(block):
            moved.append((id_, block))
    gone = [one for left in by_content.values() for one in left]
    return Changes(tuple(gone), tuple(moved), tuple(new))


def _content(block: Block) -> tuple[Any, ...]:
    time = (microseconds(block.time), offset_of(block.time))
    what = (block.key, block.layer, block.text, block.session, block.role, block.section, block.visibility)
    return (*what, time, block.important, block.tags, block.name, block.origin)


def _place(block: Block) -> tuple[str, int, int]:
    return (block.path, block.start_line, block.end_line)
