"""Whether a sentence asks for something to be remembered."""

from __future__ import annotations

from dataclasses import replace

from openclaw_memory.capture.clauses import Request
from openclaw_memory.capture.reading import MAX_STATEMENT_CHARS, has_chinese
from openclaw_memory.capture.requests_en import find_english
from openclaw_memory.capture.requests_zh import find_chinese


def find_request(text: str) -> Request | None:
    """Find a request to remember in a sentence; None when there is none.

    Questions whether something is remembered, and verbs that only sound like it (“note the difference”, “save this
    file”, “记忆系统”), are no requests.
    """
    head, tail = text[:MAX_STATEMENT_CHARS], text[MAX_STATEMENT_CHARS:]
    request = (find_chinese(head) if has_chinese(text) else None) or find_english(head)
    if request is not None and request.content and tail:
        # What is to be remembered may be long; what asks for it stands in front.
        return replace(request, content=text[head.rindex(request.content) :])
    return request
