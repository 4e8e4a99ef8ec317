"""What a question asks most: where several sentences come together, the one that asks. Pure."""

from __future__ import annotations

import re

_SENTENCE = re.compile(r"(?<=[。！？!?\n])\s*|(?<=\.)\s+")
_ASKS = re.compile(r"[?？]|[吗呢]")
_PAST = re.compile(
    r"\b(?:when (?:did|was|were|had)|ago|used to|last (?:time|year|month|week|night|spring|summer|fall|autumn|winter)"
    r"|previous(?:ly)?|back then|in (?:19|20)\d\d|(?:19|20)\d\d-\d\d)\b"
    r"|去年|前年|上次|上周|上个?月|上个?星期|以前|之前|当时|那时|昨天|前天|从前|什么时候|(?:19|20)\d\d年",
    re.IGNORECASE,
)


def focus(text: str) -> str | None:
    """Give the last sentence that asks, else the last sentence; None when there is only one sentence."""
    sentences = [one.strip() for one in _SENTENCE.split(text) if one.strip()]
    if len(sentences) < 2:
        return None
    asking = [one for one in sentences if _ASKS.search(one)]
    return (asking or sentences)[-1]


def asks_about_past(text: str) -> bool:
    """Tell whether a question is about something past, for which newer memories are no better than older ones."""
    return _PAST.search(text) is not None
