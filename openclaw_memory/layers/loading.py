"""Write a document of a workspace out for the prompt, piece by piece, as it stands in the file."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from openclaw_memory.layers.documents import MarkdownDocument
from openclaw_memory.markdown.text import split_lines
from openclaw_memory.retrieval.blocks import Block


@dataclass(frozen=True, slots=True)
class Loaded:
    """A piece of a document: its `text`, under the headings that stand right above it, and its address."""

    text: str
    key: str


def loaded(document: MarkdownDocument, blocks: Sequence[Block]) -> list[Loaded]:
    """Give pieces with the headings between them, in the order of the file; put together they read like the file.

    Parameters: `blocks`, those pieces of the document that are to be shown; one within another is not shown twice.
    """
    lines = [line.rstrip("\r\n") for line in split_lines(document.body)]
    before = document.body_start - 1
    shown: list[Loaded] = []
    done = 0
    for block in sorted(blocks, key=lambda block: (block.start_line, -block.end_line)):
        first, last = block.start_line - before, block.end_line - before
        if last <= done:
            continue
        headings = [line for line in lines[done : first - 1] if line.startswith("#")]
        text = "\n".join([*headings, *lines[max(first - 1, done) : last]])
        done = last
        if text.strip():
            shown.append(Loaded(text.strip("\n"), block.key))
    return shown
