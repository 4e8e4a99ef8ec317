"""Headings, sections and list items of a document, by a full Markdown parser.

The parser decides what is a heading, a fence or an item, so a heading in a fence is no section. It tells only lines;
the text is always taken from the source.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache, lru_cache

from markdown_it import MarkdownIt
from markdown_it.token import Token

from openclaw_memory.markdown.items import Item, read_item
from openclaw_memory.markdown.text import BOM, split_lines

__all__ = ["Heading", "Item", "Outline", "Section", "outline", "write_heading"]

READ_BEFORE = 8
"""Bodies whose outline is remembered: one edit looks at the body before it and after it several times each, and the
next at the one after it again."""

_LONE_CR = re.compile(r"\r(?!\n)")
_CLOSING = re.compile(r"((?:^|[ \t])\\*)(#+)$")
_ESCAPED_CLOSING = re.compile(r"((?:^|[ \t])\\*)\\(#+)$")


@dataclass(frozen=True, slots=True)
class Heading:
    """A heading; `line` is its first line, counted from 1 in the body."""

    level: int
    title: str
    line: int


@dataclass(frozen=True, slots=True)
class Section:
    """A heading with what stands under it, up to the next heading of any level.

    `path` holds the titles of the headings above it and its own. Text before the first heading is a section with
    level 0, an empty title and an empty path. Lines are counted from 1, both ends included; an empty section without
    a heading has `end_line` 0. `text_line` is the first line after the heading.
    """

    title: str
    level: int
    path: tuple[str, ...]
    start_line: int
    text_line: int
    end_line: int
    items: tuple[Item, ...]


@dataclass(frozen=True, slots=True)
class Outline:
    """What a body is made of. `title` is the first heading of level 1.

    `last_block_line` is where the last top-level block begins, 0 in an empty body: an unclosed fence or comment is
    always that block. `nested` are first and last line of each item within an item.
    """

    title: str | None
    headings: tuple[Heading, ...]
    sections: tuple[Section, ...]
    last_block_line: int
    nested: tuple[tuple[int, int], ...] = ()


@lru_cache(maxsize=READ_BEFORE)
def outline(body: str) -> Outline:
    """Read headings, sections and their items; of the last bodies it is known what was read.

    Args:
        body: The document without its front matter.
    """
    lines = split_lines(body)
    tokens = [token for token in _parser().parse(_parsable(body)) if token.map is not None]
    headings: list[Heading] = []
    text_starts = [1]
    items: list[Item] = []
    nested: list[tuple[int, int]] = []
    last_block_line = 0
    for token in tokens:
        start, end = token.map or [0, 0]
        if token.level == 0:
            last_block_line = start + 1
        if token.type == "heading_open" and token.level == 0:
            headings.append(Heading(int(token.tag[1]), _title(lines[start:end], token), start + 1))
            text_starts.append(end + 1)
        elif token.type == "list_item_open":
            while end > start + 1 and not lines[end - 1].strip():
                end -= 1
            if token.level == 1:
                items.append(read_item(lines[start:end], start + 1))
            else:
                nested.append((start + 1, end))
    title = next((heading.title for heading in headings if heading.level == 1), None)
    sections = _sections(headings, text_starts, items, len(lines))
    return Outline(title, tuple(headings), sections, last_block_line, tuple(nested))


def write_heading(level: int, title: str) -> str:
    """Write a heading line, without its end, that is read back with the same title.

    Args:
        level: 1 to 6.
        title: One line.
    """
    return f"{'#' * level} {_CLOSING.sub(_one_backslash_more, title)}"


def _one_backslash_more(match: re.Match[str]) -> str:
    return f"{match[1]}\\{match[2]}"


@cache
def _parser() -> MarkdownIt:
    """Make the parser, which keeps nothing between two texts: blocks only, no inline marks, no references."""
    parser = MarkdownIt("commonmark")
    parser.disable(["inline", "text_join", "reference"])
    return parser


def _parsable(body: str) -> str:
    r"""Return the body with the same lines for the parser as for us, whose lines end at `\n` only."""
    if body.startswith(BOM):
        body = " " + body[1:]
    return _LONE_CR.sub(" ", body) if "\r" in body else body


def _title(lines: Sequence[str], token: Token) -> str:
    """Return the text of a heading; a backslash before closing `#` signs is one that `write_heading` put there."""
    if token.markup in ("=", "-"):
        return " ".join(line.strip() for line in lines[:-1])
    text = lines[0].strip().lstrip(BOM).lstrip()[len(token.markup) :].strip()
    closing = re.search(r"(?:^|[ \t])#+$", text)
    if closing:
        return text[: closing.start()].rstrip()
    return _ESCAPED_CLOSING.sub(r"\1\2", text)


def _sections(
    headings: Sequence[Heading], text_starts: Sequence[int], items: Sequence[Item], last_line: int
) -> tuple[Section, ...]:
    found = []
    above: list[Heading] = []
    remaining = list(reversed(items))
    for index, text_line in enumerate(text_starts):
        heading = headings[index - 1] if index else None
        end = headings[index].line - 1 if index < len(headings) else last_line
        own = []
        while remaining and remaining[-1].start_line <= end:
            own.append(remaining.pop())
        if heading is None:
            if own or end:
                found.append(Section("", 0, (), 1, 1, end, tuple(own)))
            continue
        above = [*(upper for upper in above if upper.level < heading.level), heading]
        path = tuple(upper.title for upper in above)
        found.append(Section(heading.title, heading.level, path, heading.line, text_line, end, tuple(own)))
    return tuple(found)
