"""List items of the form `- key: value`: read from raw lines, written so that the same value is read back.

A value may have several lines; those after the first are indented under the bullet, and so are nested lists, which
belong to the value.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass

from openclaw_memory.markdown.text import without_end

_BULLET = re.compile(r"([ \t]*(?:[-*+]|\d{1,9}[.)]))([ \t]+|$)(?:\[([ xX])\][ \t]+)?")
_OPENERS = ("**", "__", "*", "_", "`")
_MARKS = frozenset("*_`")
_CJK = re.compile(r"[\u3040-\u30ff\u3400-\u9fff\uf900-\ufaff\uff21-\uff5a\U00020000-\U0003ffff]")
_STARTS_BLOCK = re.compile(r"[-*+>#|`~=<]|\d+[.)]|(?: {4}|\t)")


@dataclass(frozen=True, slots=True)
class Item:
    """A list item; lines are counted from 1, both ends included.

    `key` is None where the item has no `key: value`; then `value` is all of `text`. `text` is what stands after the
    bullet and the check box, without the indentation of the lines that follow. `indent` is the column of the bullet.
    `checked` is None where there is no check box. `prefix` is what stands before the value in its first line, `margin`
    how far the lines that follow are indented, in columns.
    """

    key: str | None
    value: str
    text: str
    start_line: int
    end_line: int
    indent: int
    checked: bool | None
    prefix: str
    margin: int


def read_item(lines: Sequence[str], start_line: int) -> Item:
    """Read one item from its raw lines.

    Args:
        lines: Its lines, with or without their ends; the first one has the bullet.
        start_line: Number of the first line.
    """
    first, *rest = (without_end(line).rstrip("\r") for line in lines)
    bullet = _BULLET.match(first)
    begin = bullet.end() if bullet else 0
    head = first[begin:]
    indent = len(first) - len(first.lstrip(" \t"))
    margin = _margin(bullet) if bullet else 0
    tail = [_dedent(line, margin) for line in rest]
    found = split_key(head) if bullet and bullet[1].lstrip()[0] in "-*+" else None
    key, value_at = found or (None, 0)
    value_at = len(head) - len(head[value_at:].lstrip())
    return Item(
        key=key,
        value="\n".join([head[value_at:], *tail]).strip(),
        text="\n".join([head, *tail]).strip(),
        start_line=start_line,
        end_line=start_line + len(lines) - 1,
        indent=indent,
        checked=bullet[3] != " " if bullet and bullet[3] else None,
        prefix=first[: begin + value_at],
        margin=margin,
    )


def split_key(text: str) -> tuple[str, int] | None:
    """Find the key at the beginning of an item's text.

    The key ends at a full-width colon, or at a colon before white space or beside a Chinese or Japanese character:
    `https://`, `14:30` and `C:/` hold none. Emphasis around the key is no part of it.

    Args:
        text: First line of the item after the bullet.

    Returns:
        The key, and where what follows the colon begins (after closing emphasis); None where there is no key.
    """
    for match in re.finditer("[:：]", text):
        at = match.start()
        before, after = text[at - 1 : at], text[at + 1 : at + 2]
        opener = next((mark for mark in _OPENERS if text.startswith(mark)), "")
        closes = bool(opener) and text.startswith(opener, at + 1) and not text[:at].rstrip().endswith(opener)
        if not (
            match.group() == "：" or not after or after.isspace() or closes or _CJK.match(before) or _CJK.match(after)
        ):
            continue
        key = bare(text[:at] + opener if closes else text[:at])
        if not key:
            return None
        return key, at + 1 + (len(opener) if closes else 0)
    return None


def bare(text: str) -> str:
    """Trim, and take off emphasis or code marks that enclose the whole."""
    text = text.strip()
    if text[:1] not in _MARKS:
        return text
    for mark in _OPENERS:
        inner = text[len(mark) : -len(mark)].strip()
        if inner and text.startswith(mark) and text.endswith(mark):
            return bare(inner)
    return text


def matching(name: str) -> str:
    """Return the form in which names of sections and keys are compared: NFKC, case folded, without emphasis."""
    if name.isascii():
        # Nothing to normalize, and most names of large files.
        return bare(name.lower())
    return unicodedata.normalize("NFKC", bare(unicodedata.normalize("NFKC", name).casefold())).strip()


def canonical(value: str) -> str:
    r"""Return a value as it can be kept: lines end at `\n`, no white space at its ends or in empty lines."""
    lines = value.replace("\r\n", "\n").replace("\r", "\n").split("\n")
    return "\n".join(line if line.strip() else "" for line in lines).strip()


def write_value(prefix: str, value: str, newline: str, margin: int = 2) -> list[str]:
    """Write a value after its key, each line with its end.

    Args:
        prefix: The first line up to the value, such as `- key: `.
        value: The value; `canonical` is what is written.
        newline: Line end to use.
        margin: How far later lines are indented, in columns.
    """
    first, *rest = canonical(value).split("\n")
    if rest and _STARTS_BLOCK.match(first):
        first, rest = "", [first, *rest]
    lines = [prefix + first if first else prefix.rstrip(" \t")]
    lines += [" " * margin + line if line else "" for line in rest]
    return [line + newline for line in lines]


def bullet_beside(item: Item) -> str:
    """Return the bullet that a new item beside this one has, so that both are of one list."""
    mark = item.prefix.lstrip()[:1]
    return mark if mark and mark in "-*+" else "-"


def _margin(bullet: re.Match[str]) -> int:
    """Return the column at which the text of an item begins, by CommonMark's rule."""
    marker = len(bullet[1].expandtabs(4))
    text = len((bullet[1] + bullet[2]).expandtabs(4))
    return text if marker < text <= marker + 4 else marker + 1


def _dedent(line: str, margin: int) -> str:
    """Take off up to `margin` columns of white space; a tab counts as all of it."""
    if line.startswith("\t"):
        return line[1:]
    return line[min(margin, len(line) - len(line.lstrip(" "))) :]
