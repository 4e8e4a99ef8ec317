"""Where a text may be cut: never inside a character that a person sees as one."""

from __future__ import annotations

import regex  # type: ignore[import-untyped]

_WINDOW = 64
"""Code points looked at around a cut. The longest emoji sequences in use have ten; combining marks rarely more."""
_GRAPHEME = regex.compile(r"\X")
_SURE = regex.compile(r"[\n -~\u3000-\u3029\u4e00-\u9fff](?=[\n -~\u3000-\u3029\u4e00-\u9fff])")
"""A character between which and the next there is a border, whatever stands around them."""


def safe_cut(text: str, end: int) -> int:
    """Give the last grapheme border at or before `end` (code points)."""
    if end >= len(text):
        return len(text)
    if end <= 0:
        return 0
    start = _border_before(text, max(0, end - _WINDOW))
    border = start
    for match in _GRAPHEME.finditer(text, start, min(len(text), end + _WINDOW)):
        if match.start() > end:
            break
        border = match.start()
    return border


def trimmed_cut(text: str, end: int) -> int:
    """Give the last grapheme border at or before `end` that has no white space before it."""
    while True:
        # White space may belong to what follows (a mark that joins) or to what is before it (a mark that opens).
        border = len(text[: safe_cut(text, end)].rstrip())
        if border == end or border == 0:
            return border
        end = border


def _border_before(text: str, near: int) -> int:
    """Give a place at or before `near` that is a border for certain: a row of flags is read from its beginning."""
    while near > 0:
        begin = max(0, near - _WINDOW)
        sure: list[int] = [match.end() for match in _SURE.finditer(text, begin, near + 1)]
        if sure:
            return min(sure[-1], near)
        near = begin
    return 0


def snippet(text: str, max_chars: int) -> str:
    """Shorten a text to at most `max_chars` code points, the mark `…` included, cut at a grapheme border."""
    if len(text) <= max_chars:
        return text
    return text[: trimmed_cut(text, max(0, max_chars - 1))] + "…"[:max_chars]
