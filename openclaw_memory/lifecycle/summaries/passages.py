"""What a summary is made from: messages of a day, or the items of shorter summaries."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import date, datetime

from contracts.fields import SessionKind
from openclaw_memory.context.visibility import kind_of
from openclaw_memory.markdown.message_header import Language
from openclaw_memory.markdown.messages import Message
from openclaw_memory.markdown.summaries import Period
from openclaw_memory.markdown.summary_items import Part, SummaryItem, SummaryItems

_SPEAKERS = ("user", "assistant")
_NOT_SAID = ("untrusted", "system")
"""Origins whose texts are no part of the conversation: what a web page says, what memory itself wrote."""

_OWN = ("[历史摘要]", "[history summary]", "[记忆系统")
"""Beginnings of messages that memory itself has put into a conversation (case 29)."""


@dataclass(frozen=True, slots=True)
class Passage:
    """A message, or an item of a shorter summary.

    `sources` are the addresses that it rests on (`2026-05-04#<id>`); `role` is the speaker's, None for an item; `talk`
    tells which passages belong together (a session of a day); `part` is where an item stood, None for a message.
    """

    text: str
    sources: tuple[str, ...]
    talk: str
    role: str | None = None
    time: datetime | None = None
    important: bool = False
    part: Part | None = None
    done: bool = False


@dataclass(frozen=True, slots=True)
class Material:
    """Everything that one summary is made from. `date` names the period (`2026-05-04`, `2026-w18`, `2026-05`)."""

    period: Period
    date: str
    language: Language
    passages: tuple[Passage, ...]


def is_summarised(message: Message, default: SessionKind) -> bool:
    """Tell whether a message goes into the owner's summaries.

    Only what was said between the owner and the agent: not what was said to a group or to a sub-agent, since a summary
    is made for one audience (seed 003 section 26.4); not tool results and other people's texts; not what memory itself
    supplied, or it would come to rest on itself.

    Parameters: `default`, the kind of a session whose id tells none.
    """
    return (
        message.role in _SPEAKERS
        and message.origin not in _NOT_SAID
        and message.visibility in (None, "private")
        and kind_of(message.session, default) == "primary"
        and bool(message.content.strip())
        and not message.content.lstrip().casefold().startswith(_OWN)
    )


def passages_of(messages: Iterable[Message], day: date) -> tuple[Passage, ...]:
    """Give the messages of a day as passages, in the order in which they were said; an id counts once."""
    unique = {message.id: message for message in messages}
    said = sorted(unique.values(), key=lambda message: message.time.timestamp())
    return tuple(
        Passage(
            message.content,
            (f"{day.isoformat()}#{message.id}",),
            message.session,
            message.role,
            message.time,
            message.important,
        )
        for message in said
    )


def passages_in(items: SummaryItems, talk: str) -> tuple[Passage, ...]:
    """Give the items of a shorter summary as passages; the points of a talk are passages of their own.

    Parameters: `talk`, the name of that summary.
    """
    found: list[Passage] = []
    for number, item in enumerate(items.talks):
        found += [_passage(one, f"{talk} talks {number}", "talks") for one in (item, *item.points)]
    found += [_passage(item, f"{talk} facts", "facts") for item in items.facts]
    found += [_passage(item, f"{talk} todos", "todos") for item in items.todos]
    return tuple(found)


def _passage(item: SummaryItem, talk: str, part: Part) -> Passage:
    return Passage(item.text, item.sources, talk, part=part, done=item.done)


def digest_of(passages: Sequence[Passage]) -> str:
    """Name what a summary is made from: another digest means that it would be another summary."""
    digest = hashlib.sha256()
    for passage in passages:
        for field in (*passage.sources, passage.role or "", passage.text, str(passage.done)):
            digest.update(field.encode("utf-8", "replace") + b"\0")
    return digest.hexdigest()[:32]
