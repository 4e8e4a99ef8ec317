"""Shorten a text to a number of tokens, at a place where a reader would stop."""

from __future__ import annotations

import re

from openclaw_memory.context.tokens import TokenCounter
from openclaw_memory.retrieval.cutting import safe_cut, trimmed_cut

MARK = "…"
"""Stands where text was left out."""

_CHARS_PER_TOKEN = 8
"""More characters a token than any ordinary text has: longer texts are clipped before anything is counted."""
_CHUNK = 8_192
_STOPS = (re.compile(r"\n"), re.compile(r"[.!?][\s]|[。！？；]"), re.compile(r"\s"))
"""Places to cut, best first: line, sentence, word. A better place is taken when it costs at most a third."""


def bounded_count(text: str, limit: int, counter: TokenCounter) -> int:
    """Count tokens, but stop soon after `limit` is passed: a giant text costs no more than what could be used of it."""
    if len(text) <= _CHUNK:
        return counter.count(text)
    # A token at the border of two chunks is counted in both.
    total = 0
    most = limit + 2 * (len(text) // _CHUNK)
    for at in range(0, len(text), _CHUNK):
        total += counter.count(text[at : at + _CHUNK])
        if total > most:
            return total
    return counter.count(text) if total > limit else total


def shorten(text: str, limit: int, counter: TokenCounter, before: str = "", after: str = "") -> str | None:
    """Keep the beginning of a text so that `before + it + mark + after` has at most `limit` tokens.

    The cut is at the end of a line, sentence or word where one is near, never inside a grapheme. A text that fits is
    given as it is. None when not even one grapheme and the mark fit.
    """
    if bounded_count(before + text + after, limit, counter) <= limit:
        return text
    end = safe_cut(text, min(len(text) - 1, limit * _CHARS_PER_TOKEN))
    while end > 0:
        kept = _at_stop(text, end) + MARK
        used = counter.count(before + kept + after)
        if used <= limit:
            return kept if len(kept) > len(MARK) else None
        # In proportion, and a little less, so that few rounds are needed; always less than before.
        room = counter.count(before + MARK + after)
        share = (limit - room) / max(1, used - room)
        end = safe_cut(text, min(end - 1, int(end * max(0.0, share) * 0.97)))
    return None


def _at_stop(text: str, end: int) -> str:
    """Cut at `end`, or at a better place not far before it; never inside a grapheme."""
    for stop in _STOPS:
        last = None
        for last in stop.finditer(text, end - end // 3, end):  # noqa: B007 the last match is wanted
            pass
        if last is not None:
            end = last.end()
            break
    # What follows a full stop or a space may belong to it: a mark that joins, or that chooses a form.
    return text[: trimmed_cut(text, end)]
