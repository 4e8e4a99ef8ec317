"""The lines of a JSONL file: bytes, where they are, and what they hold."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

MAX_LINE_BYTES = 16_777_216
"""Longest line that is parsed, in bytes: a message of 1,000,000 characters takes 12 MB where each is escaped."""


@dataclass(frozen=True, slots=True)
class Line:
    """One line with its end. `value` is the object that it holds; else `problem` says why there is none.

    A blank line has neither. `torn` marks a last line without an end.
    """

    offset: int
    raw: bytes
    value: Mapping[str, Any] | None
    problem: str | None

    @property
    def torn(self) -> bool:
        return not self.raw.endswith(b"\n")


def read_line(offset: int, raw: bytes) -> Line:
    """Read one line, whatever it holds; never raises."""
    bare = raw.strip(b" \t\r\n\xef\xbb\xbf" if offset == 0 else b" \t\r\n")
    if not bare:
        return Line(offset, raw, None, None)
    if len(bare) > MAX_LINE_BYTES:
        return Line(offset, raw, None, f"{len(bare):,} bytes in one line, at most {MAX_LINE_BYTES:,} are read")
    try:
        value = json.loads(bare.decode("utf-8"))
    except (ValueError, RecursionError) as error:
        state = "cut off, or no JSON" if not raw.endswith(b"\n") else "no JSON"
        return Line(offset, raw, None, f"{state}: {error}"[:300])
    if not isinstance(value, dict):
        return Line(offset, raw, None, f"no JSON object but {type(value).__name__}")
    return Line(offset, raw, value, None)


def split(data: bytes, offset: int = 0) -> list[Line]:
    """Read all lines; together they are the data, always. A last line without an end counts, also when it is whole."""
    lines = []
    for raw in data.split(b"\n"):
        end = b"\n" if offset + len(raw) < len(data) else b""
        if raw or end:
            lines.append(read_line(offset, raw + end))
        offset += len(raw) + 1
    return lines


def joined(tail: bytes, added: bytes) -> bytes:
    """Give the bytes to put behind a file that ends with `tail`, so that what is added begins a line of its own.

    A last line without an end was torn by a crash, or left so by an editor. It gets an end, and stays as it is: read as
    a message when it is whole, told as a problem when it is not.
    """
    return added if not tail or tail.endswith(b"\n") or not added else b"\n" + added
