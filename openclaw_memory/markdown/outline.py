"""Headings, sections and list items of a document, by a full Markdown parser.

The parser decides what is a heading, a fence or an item, so a heading in a fence is no section. It tells only lines;
the text is always taken from the source.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

from openclaw_memory.markdown.blocks_in import Heading, blocks_in
from openclaw_memory.markdown.items import Item

__all__ = ["Heading", "Item", "Outline", "Section", "outline", "write_heading"]

READ_BEFORE = 8
"""Bodies whose outline is remembered: one edit looks at the body before it and after it several times each, and the
next at the one after it again."""

_CLOSING = re.compile(r"((?:^|[ \t])\\*)(#+)$")


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
    found = blocks_in(body)
    title = next((heading.title for heading in found.headings if heading.level == 1), None)
    sections = _sections(found.headings, (1, *found.text_starts), found.items, found.lines)
    return Outline(title, found.headings, sections, found.last_block_line, found.nested)


def write_heading(level: int, title: str) -> str:
    """Write a heading line, without its end, that is read back with the same title.

    Args:
        level: 1 to 6.
        title: One line.
    """
    return f"{'#' * level} {_CLOSING.sub(_one_backslash_more, title)}"


def _one_backslash_more(match: re.Match[str]) -> str:
    return f"{match[1]}\\{match[2]}"


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
