"""Tell what memory itself has said, which is never a source of anything (cases 17 and 29). Pure."""

from __future__ import annotations

import re

from openclaw_memory.context.prompt_words import WORDS
from openclaw_memory.layers.compactions import is_summary
from openclaw_memory.retrieval.blocks import Block

MEMORY_TOOLS = ("memory_", "memory.", "memory-")
"""How the names of tools begin that look into memory: their results are what memory said."""

_FENCE = re.compile(r"(`{3,})")


def is_own(block: Block) -> bool:
    """Tell whether a message is memory's own: a summary, or what a tool brought from memory."""
    return is_summary(block) or (block.role == "tool" and (block.name or "").casefold().startswith(MEMORY_TOOLS))


def without_recalled(text: str) -> str:
    """Leave out what memory put into a prompt and a message brings back: the heading, the note, what is fenced below.

    As `auto_recall` and `assemble_prompt` write it, in either language.
    """
    notes = {words.data for words in WORDS.values()}
    if not any(note in text for note in notes):
        return text
    lines = text.split("\n")
    kept: list[str] = []
    at = 0
    while at < len(lines):
        if lines[at].strip() not in notes:
            kept.append(lines[at])
            at += 1
            continue
        if kept and kept[-1].lstrip().startswith("#"):
            kept.pop()
        at += 1
        opened = _FENCE.match(lines[at].lstrip()) if at < len(lines) else None
        if opened is None:
            continue
        at += 1
        while at < len(lines) and lines[at].strip() != opened[1]:
            at += 1
        at += 1
    return "\n".join(kept).strip()
