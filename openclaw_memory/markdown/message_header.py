"""The grammar of a message's first two lines.

    ### 2026-05-04T14:30:00+08:00 <!-- id=01JV session=s1 role=user -->
    **用户**:

The comment holds what a person need not see; its values are percent-encoded, so that nothing in them can end it. The
form without a comment is the seed's own (seed 000 section 2.1), and what a person writes by hand.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Literal
from urllib.parse import quote, unquote

Role = Literal["user", "assistant", "system", "tool"]
Language = Literal["zh", "en"]

LABELS: Mapping[Language, Mapping[Role, str]] = {
    "zh": {"user": "用户", "assistant": "Agent", "system": "系统", "tool": "工具"},
    "en": {"user": "User", "assistant": "Agent", "system": "System", "tool": "Tool"},
}

_ROLE_OF: Mapping[str, Role] = {
    "用户": "user",
    "user": "user",
    "agent": "assistant",
    "assistant": "assistant",
    "助手": "assistant",
    "系统": "system",
    "system": "system",
    "工具": "tool",
    "tool": "tool",
}
_HEADER = re.compile(
    r"### (\d{4}-\d\d-\d\d[T ]\d\d:\d\d(?::\d\d(?:\.\d{1,6})?)?(?:Z|[+-]\d\d:\d\d(?::\d\d(?:\.\d{1,6})?)?))"
    r"[ \t]*+(?:\r?\n?\Z|<!--(.*?)-->)"
)
_LABEL = re.compile(r"[ \t]*\*\*(" + "|".join(_ROLE_OF) + r")(?:\*\*[ \t]*[:：]|[:：][ \t]*\*\*)[ \t]*", re.IGNORECASE)
_UNSAFE = re.compile(r"[^\w.:/@+-]|-(?=-)")
_READS_AS_HEADER = re.compile(r"^(\\*### \d{4}-\d\d-\d\d[T ]\d\d:\d\d)", re.MULTILINE)
_ESCAPED_HEADER = re.compile(r"^\\(\\*### \d{4}-\d\d-\d\d[T ]\d\d:\d\d)", re.MULTILINE)
_READS_AS_HEADER_CR = re.compile(r"((?:(?<=\r)|^)\\*### \d{4}-\d\d-\d\d[T ]\d\d:\d\d)", re.MULTILINE)
_ESCAPED_HEADER_CR = re.compile(r"(?:(?<=\r)|^)\\(\\*### \d{4}-\d\d-\d\d[T ]\d\d:\d\d)", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Header:
    """What the first line of a message says."""

    time: datetime
    written_time: str
    attributes: Mapping[str, str]


def format_header(time: datetime, comment: str) -> str:
    """Write the first line of a message, without its line end.

    Args:
        time: Aware; written with its own offset.
        comment: Names and values, `name=value` with spaces between them, the values as `escape_value` writes them.
    """
    return f"### {time.isoformat()} <!-- {comment} -->"


def escape_value(value: str) -> str:
    """Write a value of the comment, so that nothing in it ends the value or the comment."""
    # What is safe in all of its characters need not be searched; ids are.
    return value if value.isalnum() else _UNSAFE.sub(_encode, value)


def read_header(line: str) -> Header | None:
    """Read the first line of a message; None where the line is not one.

    Args:
        line: One line, with or without its end.
    """
    match = _HEADER.match(line)
    if match is None:
        return None
    written, comment = match.groups()
    try:
        time = datetime.fromisoformat(written)
    except ValueError:
        return None
    attributes = dict(pair.split("=", 1) for pair in (comment or "").split() if "=" in pair)
    if comment and "%" in comment:
        attributes = {name: unquote(value) for name, value in attributes.items()}
    return Header(time, written, attributes)


def read_label(text: str, at: int) -> tuple[Role, int] | None:
    """Read a label, such as `**用户**:`, in any of the languages.

    Args:
        text: The body.
        at: Where the line begins.

    Returns:
        The role, and where what follows the label begins; None where there is no label.
    """
    match = _LABEL.match(text, at)
    return (_ROLE_OF[match.group(1).lower()], match.end()) if match else None


def escape(content: str) -> str:
    r"""Put one more backslash before each line that would read as a header, whatever backslashes it has already.

    A lone `\r` begins a line here as well: there are editors that make it one.
    """
    if "### " not in content:
        return content
    pattern = _READS_AS_HEADER_CR if "\r" in content else _READS_AS_HEADER
    return pattern.sub(r"\\\1", content)


def unescape(content: str) -> str:
    """Undo `escape`."""
    if "\\### " not in content:
        return content
    pattern = _ESCAPED_HEADER_CR if "\r" in content else _ESCAPED_HEADER
    return pattern.sub(r"\1", content)


def _encode(match: re.Match[str]) -> str:
    return "%2D" if match.group() == "-" else quote(match.group(), safe="")
