"""Cut what a person wrote freely into addressable pieces, so that no text of a file is beyond recall."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator
from datetime import datetime

from contracts.fields import Layer
from openclaw_memory.layers.documents import MarkdownDocument, tags_of
from openclaw_memory.markdown.text import split_lines, without_end
from openclaw_memory.retrieval.blocks import Block

_ABOUT_THE_FILE = re.compile(
    r" {0,3}>[ \t]*(?:最后更新|last updated|生成时间|generated|源文件|sources?)[ \t]*[:：]", re.IGNORECASE
)
"""Lines that tell when a file was made and from what: of no use to recall."""

MAX_PIECE_CHARS = 2_000
"""A paragraph longer than this is cut into several pieces, at lines where it has any."""


def free_text(
    document: MarkdownDocument, layer: Layer, *, time: datetime | None, taken: Collection[int] = ()
) -> list[Block]:
    """Give the paragraphs of a body as pieces.

    `taken` are lines of the body, from 1, that are pieces already. Headings begin a piece; a heading alone is none.
    """
    section: str | None = None
    blocks = []
    for start, lines in _paragraphs(document.body, taken):
        text = "\n".join(lines)
        heading = (
            lines[0].lstrip("#").strip() if lines[0].startswith("#") and lines[0].lstrip("#")[:1] in " \t" else None
        )
        if heading is not None:
            section = heading
            lines, start = lines[1:], start + 1
            text = "\n".join(lines)
        if not text.strip():
            continue
        first = document.body_start + start - 1
        blocks.append(
            Block(
                key=f"{document.path}#L{first}",
                layer=layer,
                path=document.path,
                start_line=first,
                end_line=first + len(lines) - 1,
                text=text,
                time=time,
                section=section,
                tags=tags_of(document.front),
            )
        )
    return blocks


def _paragraphs(body: str, taken: Collection[int]) -> Iterator[tuple[int, list[str]]]:
    """Yield runs of lines that are neither blank nor taken, with the number of their first line."""
    run: list[str] = []
    size = 0
    for number, raw in enumerate([*split_lines(body), ""], start=1):
        line = without_end(raw).rstrip("\r")
        ends = not line.strip() or number in taken or _ABOUT_THE_FILE.match(line) is not None
        if run and (ends or line.startswith("#") or size + len(line) > MAX_PIECE_CHARS):
            yield number - len(run), run
            run, size = [], 0
        if not ends:
            run.append(line)
            size += len(line)
