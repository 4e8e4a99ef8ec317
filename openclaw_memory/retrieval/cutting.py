"""Where a text may be cut: never inside a character that a person sees as one."""

from __future__ import annotations

import regex  # type: ignore[import-untyped]

_WINDOW = 64
"""Code points looked at before a cut. The longest emoji sequences in use have ten; combining marks rarely more."""
_GRAPHEME = regex.compile(r"\X")


def safe_cut(text: str, end: int) -> int:
    """Give the last grapheme border at or before `end` (code points)."""
    if end >= len(text):
        return len(text)
    if end <= 0:
        return 0
    start = max(0, end - _WINDOW)
    border = start
    for match in _GRAPHEME.finditer(text, start, min(len(text), end + _WINDOW)):
        if match.start() > end:
            break
        border = match.start()
    return border


def snippet(text: str, max_chars: int) -> str:
    """Shorten a text to at most `max_chars` code points, the mark `…` included, cut at a grapheme border."""
    if len(text) <= max_chars:
        return text
    return text[: safe_cut(text, max(0, max_chars - 1))].rstrip() + "…"[:max_chars]
