"""Cut what was said into sentences that can stand alone, and leave out what nobody said."""

# ruff: noqa: E501 - a pattern is read whole

from __future__ import annotations

import re
from collections.abc import Iterator

from openclaw_memory.retrieval.cutting import snippet

MAX_SENTENCE_CHARS = 240
"""A longer sentence is cut at its commas; where it has none, at a character's border."""

_FENCE = re.compile(r"^[ \t]*(`{3,}|~{3,})[^\n]*\n.*?(?:^[ \t]*\1[`~]*[ \t]*$|\Z)|```.*?```", re.MULTILINE | re.DOTALL)
_QUOTED = re.compile(r"^[ \t]*>.*$", re.MULTILINE)
_COMMENT = re.compile(r"<!--.*?-->", re.DOTALL)
_BEFORE_LINE = re.compile(r"^[ \t]*(?:#{1,6}[ \t]+|[-*+•][ \t]+(?:\[[ xX]\][ \t]+)?|\d{1,3}[.)、][ \t]*)")
_END = re.compile(
    r"(?<=[。！？；…])(?![。！？；…”』」’）)])|(?<=[.!?])[\"'”’)\]]*\s+(?=[^\sa-z])|(?<=[。！？][”』」’）)])"
)
_ABBREVIATION = re.compile(
    r"(?:\b(?:Mr|Mrs|Ms|Dr|St|vs|etc|e\.g|i\.e|No|Prof|Jr|Sr|approx|a\.m|p\.m)|\b[A-Z]|(?:^|[\s：:])\d{1,3})\.$"
)
_CLAUSE = re.compile(r"(?<=[，、：])|(?<=[,;:])\s+|\s+[-–—]+\s+")
_GREETING = re.compile(
    r"^(?:(?:hey|hi|hello|wow|yeah|yep|yes|oh|ah|aw+|haha+|lol|thanks|thank you|cool|nice|great|awesome|sure|ok(?:ay)?|well|so|and|but)"
    r"(?:[ ,]+(?:so much|there|again|[A-Z]\w+))?[!,.~]+\s*)+",
    re.IGNORECASE,
)
_GREETING_ZH = re.compile(
    r"^(?:(?:你好|您好|嗨|哈哈+|好的?|嗯+|哦+|啊|对了?|是的|谢谢你?|没问题|不客气|太好了|太棒了)[，,。！!~～ ]+)+"
)


def sentences_of(text: str) -> Iterator[str]:
    """Yield the sentences of a message, each in one line.

    Fenced text, quotations and comments are left out: code, what somebody else wrote, and memories as prompts hold them
    are no part of what was said (case 29). Marks of lists and headings go, and the greeting at the beginning.
    """
    plain = _COMMENT.sub(" ", _QUOTED.sub("", _FENCE.sub("\n", text.replace("\r\n", "\n").replace("\r", "\n"))))
    for raw in plain.split("\n"):
        line = " ".join(_BEFORE_LINE.sub("", raw).split())
        for sentence in _joined(_END.split(line)):
            told = _without_greeting(sentence.strip())
            if any(char.isalnum() for char in told):
                yield from _short_enough(told)


def _joined(pieces: list[str]) -> Iterator[str]:
    """Put together again what was cut behind an abbreviation or a number of a list."""
    held = ""
    for piece in pieces:
        held = f"{held} {piece}" if held else piece
        if _ABBREVIATION.search(held.rstrip()):
            continue
        yield held
        held = ""
    if held:
        yield held


def _without_greeting(sentence: str) -> str:
    rest = _GREETING_ZH.sub("", _GREETING.sub("", sentence))
    if rest == sentence:
        return sentence
    return rest[:1].upper() + rest[1:] if rest[:1].isascii() and rest[1:2].islower() else rest


def _short_enough(sentence: str) -> Iterator[str]:
    if len(sentence) <= MAX_SENTENCE_CHARS:
        yield sentence
        return
    held = ""
    for clause in _CLAUSE.split(sentence):
        if held and len(held) + len(clause) >= MAX_SENTENCE_CHARS:
            yield held
            held = ""
        if len(clause) > MAX_SENTENCE_CHARS:
            yield snippet(clause, MAX_SENTENCE_CHARS)
            continue
        held = f"{held} {clause}" if held and held[-1].isascii() else held + clause
    if held:
        yield held
