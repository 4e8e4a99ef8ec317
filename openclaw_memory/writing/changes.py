"""The events that change memory: what they hold, whether a session may send them, what no file can hold. Pure."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from typing import Any

from contracts import (
    BatchContent,
    CuratedContent,
    FactContent,
    MemoryWrite,
    MessageContent,
    MessagesContent,
    NoteContent,
    SummaryContent,
    TaskContent,
    TaskStateChange,
    UpdateFact,
)
from contracts.fields import SessionKind
from openclaw_memory.context.visibility import Writes
from openclaw_memory.errors import Refused
from openclaw_memory.events import Change
from openclaw_memory.markdown.text import clean


def items_of(change: Change) -> list[Change]:
    """Give the items of a batch; what is none is its own."""
    if isinstance(change, MemoryWrite) and isinstance(change.content, BatchContent):
        return [item.data for item in change.content.items]
    return [change]


def with_items(change: Change, items: Sequence[Change]) -> Change:
    """Put other items into an event: what stands for its content afterwards must not hold what they no longer do."""
    if not isinstance(change, MemoryWrite) or not isinstance(change.content, BatchContent):
        return items[0]
    inner = zip(change.content.items, items, strict=True)
    new = tuple(given.model_copy(update={"data": item}) for given, item in inner)
    return change.model_copy(update={"content": change.content.model_copy(update={"items": new})})


def check_allowed(item: Change, kind: SessionKind, writes: Writes) -> None:
    """Refuse what this kind of session may not change (docs/sessions.md)."""
    if writes == "none":
        raise Refused("sessionKind", f"a {kind} session only reads; write from a primary session")
    own = isinstance(item, MemoryWrite) and isinstance(item.content, MessageContent | MessagesContent)
    if writes == "own" and not own:
        raise Refused(
            "sessionKind", f"a {kind} session only adds to its own conversation; write from a primary session"
        )


def idempotency(change: Change) -> tuple[str, str] | None:
    """Give the name under which a write is remembered, which is its session's own, and what stands for its content.

    Of the key a digest is kept: whoever made it may have put a secret into it.
    """
    if not isinstance(change, MemoryWrite) or change.idempotency_key is None:
        return None
    content = repr(_undated(change.model_dump(exclude={"idempotency_key"})))
    digest = hashlib.sha256(content.encode("utf-8", "surrogatepass")).hexdigest()
    key = hashlib.sha256(change.idempotency_key.encode("utf-8", "surrogatepass")).hexdigest()
    return f"{change.session_id} {key}", digest


def _undated(value: Any) -> Any:
    """Leave out when messages were said: who hands them in again, or on for somebody else, may date them anew."""
    if isinstance(value, dict):
        return {name: _undated(inner) for name, inner in value.items() if name != "timestamp"}
    if isinstance(value, list | tuple):
        return [_undated(inner) for inner in value]
    return value


def storable(item: Change) -> tuple[Change, int]:
    """Replace what no file can hold in free texts (messages have been seen to); gives how much was replaced."""
    match item:
        case MemoryWrite(content=MessageContent() | MessagesContent()):
            return item, 0
        case UpdateFact(value=text):
            cleaned, replaced = clean(text)
            return item.model_copy(update={"value": cleaned}), replaced
        case TaskStateChange(reason=str() as text):
            cleaned, replaced = clean(text)
            return item.model_copy(update={"reason": cleaned}), replaced
        case MemoryWrite(content=FactContent(value=text) as content):
            cleaned, replaced = clean(text)
            return item.model_copy(update={"content": content.model_copy(update={"value": cleaned})}), replaced
        case MemoryWrite(
            content=NoteContent(text=text) | CuratedContent(text=text) | SummaryContent(text=text) as content
        ):
            cleaned, replaced = clean(text)
            return item.model_copy(update={"content": content.model_copy(update={"text": cleaned})}), replaced
        case MemoryWrite(content=TaskContent(description=str() as text) as content):
            cleaned, replaced = clean(text)
            return item.model_copy(update={"content": content.model_copy(update={"description": cleaned})}), replaced
    return item, 0
