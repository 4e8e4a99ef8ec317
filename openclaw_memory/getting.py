"""Read lines of a document by its address, for `memory:get`."""

from __future__ import annotations

from collections.abc import Sequence
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


class Pages:
    """Gives documents a page at a time; the lines of the last one are kept, for who asks for its next page."""

    def __init__(self) -> None:
        self._last: tuple[Any, list[str]] | None = None

    def page(self, get: MemoryGet, document: Any) -> MemoryDocument:
        """Give the lines that are asked for, as they are in the file or, after the next flush, will be.

        `truncated` tells that there are more of them than one answer holds: ask again with a later `from`. For any
        thread. Parameters: `document`, as its layer holds it.
        """
        last = self._last
        if last is None or last[0] is not document:
            # A document never changes, so what was read of it once holds for ever.
            self._last = last = (document, lines_of(get.path, document))
        return _page(get, last[1])


def lines_of(path: str, document: Any) -> list[str]:
    """Give all lines of a document, as they are in the file or, after the next flush, will be. Pure."""
    if isinstance(document, HistoryDocument):
        # A month of it may be compressed in its file.
        return split_lines(document.text)
    return split_lines(decode(format_of(path).render(document)[0]).text)


def _page(get: MemoryGet, lines: Sequence[str]) -> MemoryDocument:
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
