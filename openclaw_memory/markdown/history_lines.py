"""The lines of HISTORY.md: one a message or tool result, so that `grep` shows a hit with its time and speaker.

    [2026-05-04 14:30:05+08:00] user: 我改用 Go 了 <!-- id=01JV role=user session=s1 -->

A line break within a text is written as `⏎`, a carriage return as `␍`. Backslashes right before one of these four
characters are doubled, and a `⏎` or `␍` that was in the text gets one more, so any text comes back exactly.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import get_args
from urllib.parse import quote, unquote

from openclaw_memory.markdown.message_header import Role
from openclaw_memory.markdown.messages import Message
from openclaw_memory.markdown.text import split_lines, without_end

_HEADER = re.compile(r"\[(\d{4}-\d\d-\d\d[T ]\d\d:\d\d[^\]\n]{0,30})\][ \t]*")
_OURS = re.compile(r"(.*) <!-- ([^<>]*) -->[ \t]*", re.DOTALL)
_SPEAKER = re.compile(r"([^:\n]{1,100}): ")
_MARKS = {"\n": "⏎", "\r": "␍"}
_BREAKS = {mark: plain for plain, mark in _MARKS.items()}
_TO_ESCAPE = re.compile(r"(\\*)([\n\r⏎␍])")
_ESCAPED = re.compile(r"(\\*)([⏎␍])")


@dataclass(frozen=True, slots=True)
class HistoryEntry:
    """One entry, and the very text that it was read from; lines are counted from 1, both ends included.

    `time` is naive where the file names no offset, None where it is no time at all. `session` and `role` are None in
    lines that we did not write.
    """

    id: str
    time: datetime | None
    text: str
    raw: str
    start_line: int
    end_line: int
    session: str | None = None
    role: Role | None = None
    name: str | None = None
    visibility: str | None = None
    origin: str | None = None


def format_entry(message: Message, newline: str) -> str:
    """Write one line, with its end.

    Parameters: `message`, whose texts have gone through `text.clean` and whose time is aware; `newline`, the line end
    of the file.
    """
    speaker = _speaker(message.role, message.name)
    text, attributes = on_one_line(message.content), written_attributes(message)
    return f"[{message.time.isoformat(' ')}] {speaker}{text} <!-- {attributes} -->{newline}"


def parse_history(text: str) -> tuple[str, tuple[HistoryEntry, ...]]:
    """Read a file: what stands before its first entry, and its entries; together they are the text, always.

    Lines that begin no entry belong to the one before.
    """
    lines = split_lines(text)
    starts = [number for number, line in enumerate(lines) if line.startswith("[") and _HEADER.match(line)]
    ends = [*starts[1:], len(lines)]
    seen: dict[str, int] = {}
    entries = tuple(_entry(lines[start:end], start + 1, seen) for start, end in zip(starts, ends, strict=False))
    return "".join(lines[: starts[0]] if starts else lines), entries


def written_attributes(message: Message, **more: str) -> str:
    """Write what the comment of a line says of its message; `more` stands behind the id."""
    return attributes_of(
        {
            "id": message.id,
            **more,
            "role": message.role,
            "session": message.session,
            "name": message.name,
            "origin": message.origin,
            "visibility": message.visibility,
        }
    )


def attributes_of(given: Mapping[str, str | None]) -> str:
    """Write names and values as a comment holds them: nothing in them can end it, and empty ones are left out."""
    return " ".join(f"{name}={quote(value, safe=':/@+,')}" for name, value in given.items() if value)


def attributes_in(comment: str) -> dict[str, str]:
    """Read the names and values of a comment; what is neither is passed over."""
    pairs = (pair.partition("=") for pair in comment.split())
    return {name: unquote(value) for name, equals, value in pairs if equals}


def on_one_line(text: str) -> str:
    """Write a text so that it is one line."""

    def mark(match: re.Match[str]) -> str:
        slashes, char = match.groups()
        return "\\" * (2 * len(slashes)) + _MARKS.get(char, f"\\{char}")

    return _TO_ESCAPE.sub(mark, text)


def on_several_lines(text: str) -> str:
    """Undo `on_one_line`."""

    def plain(match: re.Match[str]) -> str:
        slashes, mark = match.groups()
        return "\\" * (len(slashes) // 2) + (mark if len(slashes) % 2 else _BREAKS[mark])

    return _ESCAPED.sub(plain, text)


def _entry(lines: list[str], start_line: int, seen: dict[str, int]) -> HistoryEntry:
    raw = "".join(lines)
    first, *rest = (without_end(line).removesuffix("\r") for line in lines)
    header = _HEADER.match(first)
    assert header is not None  # it is what the lines were split by
    below = "\n".join(rest).rstrip()
    end_line = start_line + len(lines) - 1
    ours = _OURS.fullmatch(first, header.end())
    attributes = attributes_in(ours[2]) if ours else {}
    if ours is None or "id" not in attributes:
        text = "\n".join([first[header.end() :], *([below] if below else [])])
        return HistoryEntry(_derived_id(raw, seen), _time(header[1]), text, raw, start_line, end_line)
    role = next((role for role in get_args(Role) if role == attributes.get("role")), None)
    name = attributes.get("name")
    said = ours[1]
    speaker = _speaker(role or "user", name)
    if said.startswith(speaker):
        said = said[len(speaker) :]
    elif changed := _SPEAKER.match(said):
        said = said[changed.end() :]
    text = on_several_lines(said) + (f"\n{below}" if below else "")
    return HistoryEntry(
        attributes["id"],
        _time(header[1]),
        text,
        raw,
        start_line,
        end_line,
        attributes.get("session"),
        role,
        name,
        attributes.get("visibility"),
        attributes.get("origin"),
    )


def _speaker(role: str, name: str | None) -> str:
    return f"{role} {' '.join(name.split())}: " if name else f"{role}: "


def _time(written: str) -> datetime | None:
    try:
        return datetime.fromisoformat(written.strip())
    except ValueError:
        return None


def _derived_id(raw: str, seen: dict[str, int]) -> str:
    """Make an id for an entry that has none; equal entries are told apart by their order."""
    digest = hashlib.sha256(raw.strip().encode("utf-8", "replace")).hexdigest()[:24]
    seen[digest] = ordinal = seen.get(digest, 0) + 1
    return f"h{digest}" if ordinal == 1 else f"h{digest}-{ordinal}"
