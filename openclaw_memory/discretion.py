"""Secrets leave a write before anything else looks at it: what is not stored can't be found, summed up or leaked."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

import anyio.to_thread
from pydantic import BaseModel

from contracts import (
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
from openclaw_memory.errors import Refused
from openclaw_memory.events import Change
from openclaw_memory.masking.cues import may_hold
from openclaw_memory.masking.kinds import Kind, Language
from openclaw_memory.masking.mask import Masked, mask, mask_name, mask_named

AT_ONCE = 4_000
"""Characters that are looked through on the event loop: some hundred microseconds at most."""

M = TypeVar("M", bound=BaseModel)


@dataclass(frozen=True, slots=True)
class Discreet:
    """Writes without their secrets, and what these were."""

    items: Sequence[Change]
    kinds: tuple[Kind, ...] = ()


async def without_secrets(items: Sequence[Change], language: Language) -> Discreet:
    """Mask the secrets in all texts and names of some writes. The very same writes come back where there are none.

    Parameters: `language`, that of the words that stand in their places.

    Raises: `Refused` when a topic holds a secret: it is the name of a file.
    """
    if len(items) == 1 and is_harmless(items[0]):
        return Discreet(items)
    if sum(map(_size, items)) <= AT_ONCE:
        return masked(items, language)
    return await anyio.to_thread.run_sync(masked, items, language)


def masked(items: Sequence[Change], language: Language) -> Discreet:
    """Do the same at once."""
    masker = _Masker(language)
    done = [masker.change(item) for item in items]
    return Discreet(done, tuple(masker.kinds)) if masker.kinds else Discreet(items)


def is_harmless(item: Change) -> bool:
    """Tell whether a write is one message, as nearly all are, and short, with nothing in it that may be a secret."""
    if not isinstance(item, MemoryWrite):
        return False
    said = item.content
    return (
        isinstance(said, MessageContent)
        and said.metadata is None
        and len(said.content) <= AT_ONCE
        and not may_hold(said.content)
    )


class _Masker:
    """Goes through writes, and remembers what it found."""

    def __init__(self, language: Language) -> None:
        self._language = language
        self.kinds: list[Kind] = []

    def change(self, item: Change) -> Change:
        match item:
            case MemoryWrite(content=content):
                new = self._content(content)
                return item if new is content else item.model_copy(update={"content": new})
            case UpdateFact():
                return self._fact(item)
            case TaskStateChange():
                return self._fields(item, "reason")

    def _content(self, content: Any) -> Any:
        match content:
            case MessageContent():
                return self._message(content)
            case MessagesContent(messages=messages):
                new = tuple(map(self._message, messages))
                changed = any(one is not other for one, other in zip(new, messages, strict=True))
                return content.model_copy(update={"messages": new}) if changed else content
            case FactContent():
                return self._fact(content)
            case TaskContent(steps=steps, title=title):
                task = self._fields(content, "title")
                task = self._named(task, "description", (title,))
                kept = None if steps is None else tuple(self._named(step, "text", (title,)) for step in steps)
                return task if kept == steps else task.model_copy(update={"steps": kept})
            case NoteContent(title=title):
                return self._named(self._fields(content, "title"), "text", (title,))
            case CuratedContent(section=section):
                return self._named(self._names(content, "section"), "text", (section,))
            case SummaryContent():
                return self._fields(content, "text")
        return content

    def _message(self, message: MessageContent) -> MessageContent:
        message = self._fields(message, "content")
        if message.metadata is None:
            return message
        metadata = self._fields(message.metadata, "name")
        return message if metadata is message.metadata else message.model_copy(update={"metadata": metadata})

    def _fact(self, fact: M) -> M:
        given: Any = fact
        if given.topic is not None and mask(given.topic, self._language).kinds:
            raise Refused("topic", "it holds a secret, and is the name of a file; give it a name without")
        within = (given.section, *([given.topic] if given.topic is not None else []))
        fact = self._names(fact, "section", "key")
        new = self._noted(mask_named(given.key, given.value, self._language, within=within))
        return fact if new == given.value else fact.model_copy(update={"value": new})

    def _names(self, model: M, *names: str) -> M:
        """Mask what is a heading or a key."""
        changed = {}
        for name in names:
            given = getattr(model, name)
            if given and (new := self._noted(mask_name(given, self._language))) != given:
                changed[name] = new
        return model.model_copy(update=changed) if changed else model

    def _named(self, model: M, name: str, titles: Sequence[str | None]) -> M:
        """Mask a text below a title: `WiFi 密码`, and nothing but the password below it."""
        text = getattr(model, name)
        if not text:
            return model
        within = [title for title in titles if title]
        new = self._noted(mask_named("", text, self._language, within=within))
        return model if new == text else model.model_copy(update={name: new})

    def _fields(self, model: M, *names: str) -> M:
        changed = {}
        for name in names:
            text = getattr(model, name)
            if text and may_hold(text) and (new := self._noted(mask(text, self._language))) != text:
                changed[name] = new
        return model.model_copy(update=changed) if changed else model

    def _noted(self, found: Masked) -> str:
        self.kinds += found.kinds
        return found.text


def _size(item: Change) -> int:
    """Reckon how long a write is; those that are always short count nothing."""
    match item:
        case MemoryWrite(content=MessageContent(content=text) | NoteContent(text=text) | SummaryContent(text=text)):
            return len(text)
        case MemoryWrite(content=MessagesContent(messages=messages)):
            return sum(len(message.content) for message in messages)
        case UpdateFact(value=value) | MemoryWrite(content=FactContent(value=value)):
            return len(value)
        case MemoryWrite(content=TaskContent(description=str() as text)):
            return len(text)
    return 0
