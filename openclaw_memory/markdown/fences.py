"""What is in a fence, and what somebody left open at the end of a text: whatever came after it would be part of it.

The Markdown parser decides: a closing line is the one after which, and an empty line, a heading is a heading.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache

from markdown_it import MarkdownIt

from openclaw_memory.markdown.outline import outline
from openclaw_memory.markdown.text import BOM

HIDES = re.compile(rf"^{BOM}?[ \r]{{0,3}}(?:```|~~~|<)", re.MULTILINE)
"""Begins what may hide a heading that stands at the beginning of a line: a fence, a block of HTML.

A carriage return within a line, and a mark at the beginning of the text, are spaces to the parser.
"""

_PROBE = "# x\n"
_FENCE = re.compile(rf"{BOM}?[ \r]{{0,3}}(`{{3,}}|~{{3,}})")
_LONE_CR = re.compile(r"\r(?!\n)")
_HTML_ENDS = ("-->", "?>", "]]>", ">", "</pre>")
"""What ends the blocks of HTML that do not end at an empty line (CommonMark 0.31, section 4.6)."""


def fenced_lines(text: str) -> frozenset[int]:
    """Give the numbers of the lines that belong to a fence, its markers included, from 1.

    Parameters: `text`, Markdown whose first line begins a block.
    """
    if "```" not in text and "~~~" not in text:
        return frozenset()
    fences = (token.map for token in _parser().parse(_LONE_CR.sub(" ", text)) if token.type == "fence" and token.map)
    return frozenset(number for start, end in fences for number in range(start + 1, end + 1))


def closing_line(text: str) -> str:
    """Give the line, without its end, that closes what is open at the end of a text; empty where an empty line does.

    Parameters: `text`, Markdown whose first line begins a block.
    """
    if not HIDES.search(text):
        return ""
    begun = text if text.endswith("\n") or not text else text + "\n"
    return next((line for line in _candidates(text) if _ends(begun, line)), "")


def _ends(begun: str, line: str) -> bool:
    """Tell whether a heading that follows the text and this line is one."""
    closed = begun + (line + "\n" if line else "") + "\n"
    headings = outline(closed + _PROBE).headings
    return bool(headings) and headings[-1].line == closed.count("\n") + 1


def _candidates(text: str) -> Iterator[str]:
    yield ""
    last = outline(text).last_block_line
    opener = _FENCE.match(text.split("\n")[last - 1]) if last else None
    if opener:
        yield opener[1]
    yield from _HTML_ENDS


@cache
def _parser() -> MarkdownIt:
    """Make a parser of blocks, which keeps nothing between two texts."""
    return MarkdownIt("commonmark").disable(["inline", "text_join", "reference"])
