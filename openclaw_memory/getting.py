"""Read lines of a document by its address, for `memory:get`. Pure."""

from __future__ import annotations

from typing import Any

from contracts import MemoryDocument, MemoryGet
from openclaw_memory.layers.history import HistoryDocument
from openclaw_memory.layers.rooms import format_of
from openclaw_memory.markdown.text import decode, split_lines
from openclaw_memory.retrieval.cutting import safe_cut

MAX_LINES = 120
"""Most lines of one answer."""

MAX_CHARS = 12_000
"""Most characters of one answer."""


def lines_of(get: MemoryGet, document: Any) -> MemoryDocument:
    """Give the lines that are asked for, as they are in the file or, after the next flush, will be.

    `truncated` tells that there are more of them than one answer holds: ask again with a later `from`. Parameters:
    `document`, as its layer holds it.
    """
    if isinstance(document, HistoryDocument):
        # A month of it may be compressed in its file.
        lines = split_lines(document.text)
    else:
        lines = split_lines(decode(format_of(get.path).render(document)[0]).text)
    first = (get.from_ or 1) - 1
    if first and first >= len(lines):
        return MemoryDocument(
            path=get.path, text="", truncated=False, notice=f"from: {get.path} has {len(lines)} lines, not {first + 1}"
        )
    asked = lines[first:] if get.lines is None else lines[first : first + get.lines]
    text = "".join(asked[:MAX_LINES])
    if len(text) > MAX_CHARS:
        # Whole lines, unless the first alone is too long.
        cut = text.rfind("\n", 0, MAX_CHARS) + 1
        text = text[: cut or safe_cut(text, MAX_CHARS)]
    return MemoryDocument(path=get.path, text=text, truncated=len(text) < sum(map(len, asked)))


def says_nothing(document: Any) -> bool:
    """Tell whether a day's file holds neither messages nor a person's text; one that there is none of does not."""
    return document is None or not (document.file.blocks or document.file.preamble.strip())
