"""The items of a JSON array, one after the other: a damaged one costs itself, and the others are read."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from openclaw_memory.markdown.text import decode

_SPACE = re.compile(r"[ \t\r\n]*")
_AGAIN = re.compile(r'[,\[][ \t\r\n]*(?=\{[ \t\r\n]*"(?:title|uuid|id|name|conversation_id|create_time|mapping)")')
"""Where an item of an export of chats begins."""

_DECODER = json.JSONDecoder()


@dataclass(frozen=True, slots=True)
class Item:
    """An item with the line that it begins in, from 1; where it can't be read, `problem` says why."""

    line: int
    value: Any = None
    problem: str | None = None


def items_of(data: bytes) -> Iterator[Item]:
    """Read the items of an array; what is no array is one item. Never raises.

    After a damaged item reading goes on where the next one seems to begin.
    """
    text = decode(data).text.removeprefix("\ufeff")
    at = _skipped(text, 0)
    if not text.startswith("[", at):
        yield _item(text, at, 1)[0]
        return
    at = _skipped(text, at + 1)
    line, counted = 1 + text.count("\n", 0, at), at
    while at < len(text) and text[at] != "]":
        line, counted = line + text.count("\n", counted, at), at
        item, end = _item(text, at, line)
        yield item
        if end is None:
            again = _AGAIN.search(text, at + 1)
            if again is None:
                return
            at = _skipped(text, again.end())
            continue
        at = _skipped(text, end)
        if text.startswith(",", at):
            at = _skipped(text, at + 1)
        elif not text.startswith("]", at):
            yield Item(line + text.count("\n", counted, at), problem="the list of chats breaks off here")
            again = _AGAIN.search(text, at)
            if again is None:
                return
            at = _skipped(text, again.end())
    if at >= len(text):
        yield Item(line, problem="the file ends in the middle of its list")


def _item(text: str, at: int, line: int) -> tuple[Item, int | None]:
    try:
        value, end = _DECODER.raw_decode(text, at)
    except json.JSONDecodeError as error:
        return Item(line, problem=f"no JSON at line {error.lineno}, column {error.colno}: {error.msg}"), None
    except (RecursionError, ValueError) as error:
        return Item(line, problem=f"no JSON that can be read: {error}"), None
    return Item(line, value), end


def _skipped(text: str, at: int) -> int:
    found = _SPACE.match(text, at)
    return found.end() if found else at
