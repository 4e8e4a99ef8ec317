"""What a summary must not lose: names of things, to the letter, and questions that are still open. Pure."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Protocol

from openclaw_memory.capture.reading import sentences_of
from openclaw_memory.retrieval.cutting import snippet


class Said(Protocol):
    """A message, as far as a summary asks."""

    @property
    def role(self) -> str | None: ...

    @property
    def text(self) -> str: ...


MAX_IDENTIFIER_CHARS = 200
"""A longer run without white space is data, not the name of anything."""

MAX_QUESTION_CHARS = 300

_WORD = r"(?<![A-Za-z0-9_])"
_END = r"(?![A-Za-z0-9_])"
_IDENTIFIERS = re.compile(
    "|".join(
        (
            r"https?://[^\s<>\"'`，。；（）]+",
            r"[\w.+-]+@[\w-]+(?:\.[\w-]+)+",
            rf"{_WORD}[0-9a-fA-F]{{8}}(?:-[0-9a-fA-F]{{4}}){{3}}-[0-9a-fA-F]{{12}}{_END}",
            r"(?:(?<![\w/])~?/|(?<![\w/.])\.{1,2}/)[\w.@+-]+(?:/[\w.@+-]+)*",
            rf"{_WORD}[A-Za-z0-9_.-]+(?:/[A-Za-z0-9_.-]+)+\.[A-Za-z0-9]{{1,6}}{_END}",
            rf"{_WORD}[A-Za-z0-9_-][A-Za-z0-9_.-]*\.(?:[a-z]{{2,5}}\d?)(?![A-Za-z0-9_.-])",
            rf"{_WORD}\d{{1,3}}(?:\.\d{{1,3}}){{3}}(?::\d{{1,5}})?{_END}",
            rf"{_WORD}v?\d+\.\d+(?:\.\d+)*(?:-[0-9A-Za-z.]+)?{_END}",
            rf"{_WORD}[A-Z][A-Z0-9]{{1,15}}-\d{{1,12}}{_END}",
            r"(?<!\w)#\d{1,9}\b",
            rf"{_WORD}(?=[0-9a-f]*\d)(?=[0-9a-f]*[a-f])[0-9a-f]{{7,64}}{_END}",
            rf"{_WORD}(?=\w*[A-Za-z])[A-Za-z0-9]+(?:_[A-Za-z0-9]+)+{_END}",
            rf"{_WORD}[a-z]+-\d[\w.-]*{_END}",
            rf"{_WORD}\d{{5,}}{_END}",
        )
    ),
    re.ASCII,
)
_CODE = re.compile(r"(?<!`)`([^`\n]{1,80})`(?!`)")
_NOT_YET = re.compile(
    r"待定|未决|悬而未决|还没(?:有)?(?:决定|定|想好|确定)|尚未(?:决定|确定)|以后再(?:说|定)|回头再(?:说|定)"
    r"|\b(?:tbd|to be decided|open question|undecided|not decided yet|haven'?t decided|still need to decide"
    r"|decide (?:that )?later)\b",
    re.IGNORECASE,
)


def identifiers(text: str) -> list[str]:
    """Find what names something and must be kept to the letter, each once, in order.

    Addresses, paths, files, versions, tickets, hashes, long numbers, names with underscores, and what stands between
    backticks.
    """
    found: dict[str, int] = {}
    for match in _CODE.finditer(text):
        found.setdefault(match[1].strip(), match.start())
    for match in _IDENTIFIERS.finditer(text):
        name = match.group().rstrip(".,;:!?)")
        if len(name) <= MAX_IDENTIFIER_CHARS:
            found.setdefault(name, match.start())
    return [name for name in sorted(found, key=lambda name: found[name]) if name]


def identifiers_of(messages: Sequence[Said]) -> list[str]:
    """Find the identifiers that people and the agent named, newest last.

    What only a tool printed is not named by anybody: it may be thousands of lines, and is found by search.
    """
    named: dict[str, None] = {}
    for message in messages:
        if message.role not in ("user", "assistant"):
            continue
        for name in identifiers(message.text):
            named.pop(name, None)
            named[name] = None
    return list(named)


def open_questions(messages: Sequence[Said]) -> list[str]:
    """Find the questions that nobody has answered, and what was left undecided, in order.

    A question is answered when somebody else speaks before its asker does again. One that is asked in the last message
    is open: what follows is its answer, and would make no sense without it. What is said to be undecided is open until
    the same person says more of it, which nothing here can tell, so it stays.
    """
    told = [message for message in messages if message.role in ("user", "assistant")]
    found: dict[str, None] = {}
    for place, message in enumerate(told):
        after = told[place + 1] if place + 1 < len(told) else None
        unanswered = after is None or after.role == message.role
        for sentence in sentences_of(message.text):
            text = " ".join(sentence.text.split())
            asks = text.endswith(("?", "？"))
            if (asks and unanswered) or (not asks and _NOT_YET.search(text)):
                found[snippet(text, MAX_QUESTION_CHARS)] = None
    return list(found)
