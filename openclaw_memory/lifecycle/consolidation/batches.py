"""Which messages are consolidated together. Pure."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from openclaw_memory.lifecycle.own_output import is_own, without_recalled
from openclaw_memory.retrieval.blocks import Block
from openclaw_memory.retrieval.cutting import snippet

MAX_MESSAGE_CHARS = 4_000
"""Of a longer message the beginning is told; the whole stays where it is."""

MAX_TOOL_CHARS = 600


@dataclass(frozen=True, slots=True)
class Batch:
    """Messages of one session, and what is told of them: some of them are nobody's words but memory's own.

    `messages` are all that the pointer passes over, oldest first; `lines` what the model is shown.
    """

    messages: tuple[Block, ...]
    lines: tuple[str, ...]


def batch_of(
    waiting: Sequence[Block], window: int, room: int, count: Callable[[str], int], shown: Callable[[Block], str]
) -> Batch | None:
    """Choose the messages to consolidate: none until a window of them waits, then all but the newest half of a window.

    The newest are still part of the conversation, and say more when it has gone on. As many are taken as `room` holds,
    at least one.

    Parameters: `waiting`, the messages behind the pointer, oldest first; `window`, `window_size`; `room`, tokens;
    `count`, which counts them; `shown`, which gives a message's time as the model sees it.
    """
    if len(waiting) < window:
        return None
    taken: list[Block] = []
    lines: list[str] = []
    for block in waiting[: len(waiting) - window // 2]:
        line = line_of(block, shown)
        cost = count(line) + 1 if line else 0
        if taken and cost > room:
            break
        room -= cost
        taken.append(block)
        lines += [line] if line else []
    return Batch(tuple(taken), tuple(lines))


def line_of(block: Block, shown: Callable[[Block], str]) -> str:
    """Write a message for the model; nothing for what memory itself said, and for what came from outside unasked."""
    if is_own(block) or block.role == "system" or block.origin == "untrusted":
        return ""
    text = " ".join(without_recalled(block.text).split())
    if not text:
        return ""
    name = f" {block.name}" if block.name else ""
    most = MAX_TOOL_CHARS if block.role == "tool" else MAX_MESSAGE_CHARS
    return f"[{shown(block)}] {block.role or 'user'}{name}: {snippet(text, most)}"
