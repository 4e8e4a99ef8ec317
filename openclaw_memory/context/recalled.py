"""Write hits as pieces for the prompt: the date and place once, then the lines, in few tokens."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import tzinfo
from typing import Literal

from contracts.reading import Citation
from openclaw_memory.retrieval.blocks import Block
from openclaw_memory.retrieval.index import Hit, sequence_of

Language = Literal["zh", "en"]

_SPEAKERS: dict[Language, dict[str, str]] = {
    "zh": {"user": "用户", "assistant": "Agent", "system": "系统", "tool": "工具"},
    "en": {"user": "User", "assistant": "Agent", "system": "System", "tool": "Tool"},
}
GAP = "…"
"""Stands between two messages of a piece that did not follow each other."""
_ADJACENT_LINES = 3
"""Messages whose lines are at most this far apart followed each other."""


@dataclass(frozen=True, slots=True)
class Piece:
    """Hits from one place, as one text, with the address of the best of them."""

    text: str
    citation: Citation


def head_of(block: Block, tz: tzinfo | None) -> str:
    """Give the line that says when and where: the date, and for what is no message the place."""
    return _head(block, tz, sequence_of(block))


def _head(block: Block, tz: tzinfo | None, sequence: str | None) -> str:
    when = block.time.astimezone(tz).date().isoformat() if block.time else ""
    if sequence is not None:
        return when or block.path
    place = f"{block.path} {block.section}" if block.section else block.path
    return f"{when} {place}".strip()


def group_of(block: Block, tz: tzinfo | None) -> tuple[str, str]:
    """Name the piece that a block belongs to: messages of one session and day, else blocks of one place."""
    sequence = sequence_of(block)
    return (sequence or "", _head(block, tz, sequence))


def line_of(block: Block, language: Language) -> str:
    """Write one block: `User: text` for a message, else its text."""
    if block.role is None:
        return block.text
    return f"{_SPEAKERS[language].get(block.role, block.role)}: {block.text}"


def recalled_text(block: Block, context: Sequence[Block], tz: tzinfo | None, language: Language) -> str:
    """Write a block together with others of its place: the head once, then all lines in the order of time."""
    blocks = sorted({one.identity: one for one in (block, *context)}.values(), key=_in_order)
    return "\n".join([head_of(block, tz), *_lines(blocks, {one.identity: line_of(one, language) for one in blocks})])


def pieces_of(hits: Sequence[Hit], lines: Mapping[tuple[str, int], str], tz: tzinfo | None) -> list[Piece]:
    """Merge hits (best first) into pieces, best first. `lines` gives the text of each hit by its identity."""
    return [Piece(_text(group, head, lines), _citation(group)) for head, group in _groups(hits, tz)]


def texts_of(hits: Sequence[Hit], lines: Mapping[tuple[str, int], str], tz: tzinfo | None) -> list[str]:
    """Give the texts of the same pieces alone, for counting."""
    return [_text(group, head, lines) for head, group in _groups(hits, tz)]


def _groups(hits: Sequence[Hit], tz: tzinfo | None) -> list[tuple[str, list[Hit]]]:
    groups: dict[tuple[str, str], list[Hit]] = {}
    for hit in hits:
        groups.setdefault(group_of(hit.block, tz), []).append(hit)
    return [(head, group) for (_, head), group in groups.items()]


def _text(group: list[Hit], head: str, lines: Mapping[tuple[str, int], str]) -> str:
    blocks = [group[0].block] if len(group) == 1 else sorted((hit.block for hit in group), key=_in_order)
    return "\n".join([head, *_lines(blocks, lines)])


def _citation(group: list[Hit]) -> Citation:
    best = group[0]
    blocks = [hit.block for hit in group]
    same_file = [block for block in blocks if block.path == best.block.path]
    return Citation(
        path=best.block.path,
        start_line=min(block.start_line for block in same_file),
        end_line=max(block.end_line for block in same_file),
        layer=best.block.layer,
        key=best.block.key,
        time=best.block.time,
        score=best.score,
    )


def _lines(blocks: Sequence[Block], lines: Mapping[tuple[str, int], str]) -> list[str]:
    written: list[str] = []
    last: Block | None = None
    for block in blocks:
        if last is not None and block.role is not None and block.start_line - last.end_line > _ADJACENT_LINES:
            written.append(GAP)
        written.append(lines[block.identity])
        last = block
    return written


def _in_order(block: Block) -> tuple[float, str, int]:
    return (block.time.timestamp() if block.time else 0.0, block.path, block.start_line)
