"""What the Markdown parser finds in a body, read piece by piece, so that an edit costs what it touches.

A heading or a bullet that begins a line ends whatever container is open, and nothing that comes after it changes what
was before; so a body may be cut there, and each piece read by itself. Only a fence or a block of HTML that begins a
line swallows such lines: a piece with one goes on until the parser finds the next heading to be one.
"""

from __future__ import annotations

import re
import zlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache, lru_cache

from markdown_it import MarkdownIt
from markdown_it.token import Token

from openclaw_memory.markdown.items import Item, read_item
from openclaw_memory.markdown.text import BOM, split_lines

PIECES_KNOWN = 2_048
"""Pieces of which it is known what is in them: those of some ten thousands of lines."""

LONGEST_KNOWN = 2_000
"""Characters of a piece that is remembered; what a longer one holds takes a megabyte, and each edit makes another."""

_EACH = 16
"""One bullet in so many begins a piece; which one follows from its line alone, so an edit moves no other cut."""

_CUT = re.compile(r"^(?:#{1,6}[ \t]|[-*+][ \t](?:\*\*)?\w)[^\n]*", re.MULTILINE)
_SWALLOWS = re.compile(rf"^{BOM}?[ \r]{{0,3}}(?:```|~~~|<)", re.MULTILINE)
_PROBE = "# x\n"
_LONE_CR = re.compile(r"\r(?!\n)")
_CLOSING = re.compile(r"(?:^|[ \t])#+$")
_ESCAPED_CLOSING = re.compile(r"((?:^|[ \t])\\*)\\(#+)$")


@dataclass(frozen=True, slots=True)
class Heading:
    """A heading; `line` is its first line, counted from 1 in the body."""

    level: int
    title: str
    line: int


@dataclass(frozen=True, slots=True)
class Blocks:
    """Headings, items and nested items of a body, with their lines, counted from 1.

    `text_starts` are the first lines after the headings. `last_block_line` is where the last top-level block begins, 0
    where there is none. `first_list` and `last_list` are the marker of the list that is the first block, begun in the
    first line, and of the one that is the last; empty where that is no bullet list.
    """

    headings: tuple[Heading, ...]
    text_starts: tuple[int, ...]
    items: tuple[Item, ...]
    nested: tuple[tuple[int, int], ...]
    last_block_line: int
    first_list: str
    last_list: str
    lines: int


def blocks_in(body: str) -> Blocks:
    """Read what stands in a body, as the parser reads the whole of it."""
    headings: list[Heading] = []
    text_starts: list[int] = []
    items: list[Item] = []
    nested: list[tuple[int, int]] = []
    last_block_line, last_list, above = 0, "", 0
    first_list: str | None = None
    for piece in _pieces(body):
        found = _read_piece(piece)
        headings += [Heading(one.level, one.title, one.line + above) for one in found.headings]
        text_starts += [line + above for line in found.text_starts]
        items += found.items if above == 0 else [_moved(item, above) for item in found.items]
        nested += [(start + above, end + above) for start, end in found.nested]
        if found.last_block_line:
            goes_on = found.last_block_line == 1 and found.first_list and found.first_list == last_list
            last_block_line = last_block_line if goes_on else found.last_block_line + above
            last_list = found.last_list
        first_list = found.first_list if first_list is None else first_list
        above += found.lines
    return Blocks(
        tuple(headings),
        tuple(text_starts),
        tuple(items),
        tuple(nested),
        last_block_line,
        first_list or "",
        last_list,
        above,
    )


def read_whole(text: str) -> Blocks:
    """Read a text in one go."""
    lines = split_lines(text)
    headings: list[Heading] = []
    text_starts: list[int] = []
    items: list[Item] = []
    nested: list[tuple[int, int]] = []
    last_block_line, first_list, last_list = 0, "", ""
    for token in _tokens(text):
        start, end = token.map or [0, 0]
        if token.level == 0:
            marker = token.markup if token.type == "bullet_list_open" else ""
            if start == 0:
                first_list = marker
            last_block_line, last_list = start + 1, marker
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
    return Blocks(
        tuple(headings),
        tuple(text_starts),
        tuple(items),
        tuple(nested),
        last_block_line,
        first_list,
        last_list,
        len(lines),
    )


def _read_piece(piece: str) -> Blocks:
    return _read_before(piece) if len(piece) <= LONGEST_KNOWN else read_whole(piece)


_read_before = lru_cache(maxsize=PIECES_KNOWN)(read_whole)


def _pieces(body: str) -> Iterator[str]:
    """Cut a body where the parser begins anew."""
    begin = soonest = 0
    swallows = _SWALLOWS.search(body) is not None
    for match in _CUT.finditer(body):
        at = match.start()
        if at == begin or at < soonest:
            continue
        if body[at] != "#" and zlib.crc32(match[0].encode("utf-8", "surrogatepass")) % _EACH:
            continue
        piece = body[begin:at]
        if swallows and _SWALLOWS.search(piece) and not _is_closed(piece):
            # Asked again when the piece is twice as long: it may be open to the end.
            soonest = 2 * at - begin
            continue
        yield piece
        begin = at
    if begin < len(body):
        yield body[begin:]


def _is_closed(piece: str) -> bool:
    """Tell whether a heading right after a piece is one."""
    return _closed_before(piece) if len(piece) <= LONGEST_KNOWN else _closes(piece)


def _closes(piece: str) -> bool:
    last = [token for token in _tokens(piece + _PROBE) if token.level == 0][-1]
    return last.type == "heading_open" and last.map is not None and last.map[0] == len(split_lines(piece))


_closed_before = lru_cache(maxsize=PIECES_KNOWN)(_closes)


def _tokens(text: str) -> list[Token]:
    return [token for token in _parser().parse(_parsable(text)) if token.map is not None]


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
    closing = _CLOSING.search(text)
    if closing:
        return text[: closing.start()].rstrip()
    return _ESCAPED_CLOSING.sub(r"\1\2", text)


def _moved(item: Item, lines: int) -> Item:
    """Give an item so many lines further down."""
    return Item(
        item.key,
        item.value,
        item.text,
        item.start_line + lines,
        item.end_line + lines,
        item.indent,
        item.checked,
        item.prefix,
        item.margin,
    )
