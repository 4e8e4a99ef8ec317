"""What the rules of both languages share: a request, and where in a sentence it may begin."""

from __future__ import annotations

import re
from dataclasses import dataclass

from openclaw_memory.capture.reading import HOLDERS

MARK = rf"[^\w{HOLDERS}]"
"""Anything between words; a held quotation is content."""
START = r"(?P<before>^|^.*?(?:[，,。.：:；;、…—–]\s*|\s-\s+))"
"""A request begins the sentence or a clause of it."""


@dataclass(frozen=True, slots=True)
class Request:
    """A request found in a sentence.

    `content` is what to remember, empty when it only points to what was said before; `before` is what the sentence says
    in front of the request. `is_task` marks a reminder, `is_unclear` what may be good advice to anybody (“remember, you
    can do it”).
    """

    content: str
    before: str
    is_task: bool = False
    is_unclear: bool = False


def trim(text: str) -> str:
    """Take off the punctuation and the particles around a text."""
    text = re.sub(r"^[\s，,。.：:；;、…—–\-]+|[\s，,。.：:；;、…—–\-!！?？~]+$", "", text)
    return re.sub(r"(?<=[\u3400-\u9fff])(?:吧|哦|啊|呀|哈)$", "", text)
