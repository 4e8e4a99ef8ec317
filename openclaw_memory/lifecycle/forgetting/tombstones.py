"""What was forgotten, told apart without keeping it: keyed hashes in `.state/forgotten.json`.

A text that comes in by itself (an import, a tool, a message that was said before the forgetting) and was forgotten is
refused. What the owner says or writes anew is a wish to have it again, and is kept.
"""

from __future__ import annotations

import hmac
import secrets
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import cached_property
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
from openclaw_memory.errors import Refused
from openclaw_memory.events import Change
from openclaw_memory.layers.state import plan_state
from openclaw_memory.lifecycle.forgetting.choosing import Chosen, fact_text
from openclaw_memory.lifecycle.forgetting.texts import Needle, folded, significant
from openclaw_memory.markdown.text import clean
from openclaw_memory.storage.documents import Draft

FORGOTTEN = ".state/forgotten.json"

LEAST_SIGNIFICANT = 12
"""Letters and digits of a text that is known again by itself; a shorter one, such as `好的`, only with its time."""

_KEY, _OPEN = "key", "open"
_BYTES = 12
_LEAD = 2
"""Characters at the beginning of a text that was named itself; such a text has two at least."""


@dataclass(frozen=True, slots=True)
class Open:
    """A forgetting that is not finished: when it was, and the documents and messages that it was about. No content."""

    at: datetime
    paths: tuple[str, ...]
    ids: frozenset[str]


class Tombstones:
    """Names of what was forgotten.

    Parameters: `values` of the state document: the key, a mark of each thing with the time when it was forgotten, and
    for texts that were named themselves also their length and a mark of their first characters, by which they are found
    within others.
    """

    def __init__(self, values: Mapping[str, Any]) -> None:
        self._values = values
        self._key = bytes.fromhex(values[_KEY]) if isinstance(values.get(_KEY), str) else b""

    def __bool__(self) -> bool:
        return bool(self._key)

    @property
    def open(self) -> Open | None:
        """The forgetting that a crash, or a disk that refuses, has interrupted."""
        found = self._values.get(_OPEN)
        if not isinstance(found, dict):
            return None
        return Open(datetime.fromisoformat(found["at"]), tuple(found["paths"]), frozenset(found["ids"]))

    def since_then(self, at: datetime) -> Tombstones:
        """Give only what was forgotten at a time or later: of what was before, some may have been said again."""
        kept = {
            name: value
            for name, value in self._values.items()
            if name == _KEY or (isinstance(value, str) and datetime.fromisoformat(value) >= at)
        }
        return Tombstones(kept)

    def known(self, text: str) -> bool:
        """Tell whether a text was forgotten."""
        return bool(self) and self.since(text) is not None

    def since(self, text: str, said: datetime | None = None) -> str | None:
        """Tell when a text was forgotten (ISO 8601); None when it never was. `said`: when it was said."""
        if not self:
            return None
        plain = folded(text)
        found = self._values.get(self._mark(plain))
        if found is None and said is not None:
            found = self._values.get(self._mark(_with_time(plain, said)))
        return found if isinstance(found, str) else self._within(plain)

    def _within(self, plain: str) -> str | None:
        """Look for texts that were named themselves, which may stand anywhere in this one."""
        if not self._lengths:
            return None
        begins: dict[str, bool] = {}
        for at in range(len(plain) - _LEAD + 1):
            lead = plain[at : at + _LEAD]
            if lead not in begins:
                # Most places are done with by this: a hash costs a microsecond.
                begins[lead] = f"lead:{self._mark(lead)}" in self._values
            for chars in self._lengths if begins[lead] else ():
                found = self._values.get(f"{chars}:{self._mark(plain[at : at + chars])}")
                if isinstance(found, str):
                    return found
        return None

    @cached_property
    def _lengths(self) -> list[int]:
        lengths = {name.partition(":")[0] for name in self._values if ":" in name}
        return sorted(int(length) for length in lengths if length.isdecimal())

    def _mark(self, plain: str) -> str:
        return _mark(self._key, plain)


def plan_tombstones(
    draft: Draft, chosen: Mapping[str, Chosen], needle: Needle | None, now: datetime, ids: Iterable[str]
) -> None:
    """Note what is being forgotten, and that it is not finished."""
    values = draft.document(FORGOTTEN).values
    given = values.get(_KEY)
    key = given if isinstance(given, str) else secrets.token_hex(32)
    secret, at = bytes.fromhex(key), now.isoformat(timespec="milliseconds")
    marks = {_mark(secret, plain): at for plain in _plain(chosen.values())}
    if needle is not None:
        marks[f"{len(needle.text)}:{_mark(secret, needle.text)}"] = at
        marks[f"lead:{_mark(secret, needle.text[:_LEAD])}"] = at
    left = values.get(_OPEN)
    before = left if isinstance(left, dict) else {"at": at, "paths": [], "ids": []}
    opened = {"at": before["at"], "paths": sorted({*before["paths"], *chosen}), "ids": sorted({*before["ids"], *ids})}
    plan_state(draft, FORGOTTEN, {_KEY: key, _OPEN: opened, **marks})


def plan_finished(draft: Draft) -> None:
    """Note that nothing is left to be done."""
    plan_state(draft, FORGOTTEN, {}, (_OPEN,))


def _plain(chosen: Iterable[Chosen]) -> Iterator[str]:
    """Give the forms of what goes that are known again."""
    for one in chosen:
        yield from (folded(text) for text in one.texts if significant(text) >= LEAST_SIGNIFICANT)
        yield from (_with_time(folded(text), said) for text, said in one.dated)


def _with_time(plain: str, said: datetime) -> str:
    return f"{plain}\n{said.astimezone(UTC).isoformat(timespec='seconds')}"


def _mark(key: bytes, plain: str) -> str:
    return hmac.digest(key, plain.encode("utf-8", "surrogatepass"), "sha256")[:_BYTES].hex()


# -- what comes in ---------------------------------------------------------------------------------------------------


def comes_by_itself(write: Change) -> bool:
    """Tell whether nobody has just said this: it came from a program, or was said at another time."""
    if isinstance(write, TaskStateChange):
        return False
    if write.origin not in (None, "owner"):
        return True
    content = write.content if isinstance(write, MemoryWrite) else None
    return any(message.timestamp is not None for message in _messages(content))


def refuse_forgotten(items: Iterable[Change], forgotten: Tombstones, *, batch: bool) -> None:
    """Refuse what was forgotten and comes back by itself.

    Raises: `Refused`, with the field, when it was forgotten, and what to do.
    """
    if not forgotten:
        return
    for number, item in enumerate(items):
        if not comes_by_itself(item):
            continue
        by_program = getattr(item, "origin", None) not in (None, "owner")
        for field, text, said in _texts(item):
            since = forgotten.since(clean(text)[0], said)
            if since is None or not (by_program or (said is not None and said < datetime.fromisoformat(since))):
                continue
            where = f"content.items[{number}].{field}" if batch else field
            raise Refused(
                where,
                f"it was forgotten on {since}; leave it out, or have the owner say it again"
                + ("; nothing of the batch was written" if batch else ""),
            )


def _messages(content: object) -> tuple[MessageContent, ...]:
    if isinstance(content, MessagesContent):
        return tuple(content.messages)
    return (content,) if isinstance(content, MessageContent) else ()


def _texts(item: Change) -> Iterator[tuple[str, str, datetime | None]]:
    """Give what a write says: field, text, and when it was said."""
    if isinstance(item, UpdateFact):
        yield "value", fact_text(item.section, item.key, item.value), None
        return
    if not isinstance(item, MemoryWrite):
        return
    match item.content:
        case MessagesContent(messages=messages):
            for number, message in enumerate(messages):
                yield f"content.messages[{number}].content", message.content, message.timestamp
        case MessageContent() as message:
            yield "content.content", message.content, message.timestamp
        case FactContent() as fact:
            yield "content.value", fact_text(fact.section, fact.key, fact.value), None
        case TaskContent() as task:
            for field in ("title", "description"):
                if text := getattr(task, field):
                    yield f"content.{field}", text, None
        case NoteContent(text=text) | CuratedContent(text=text) | SummaryContent(text=text):
            yield "content.text", text, None
            for line in text.split("\n") if "\n" in text else ():
                yield "content.text", line.strip().lstrip("-*+ "), None
        case BatchContent():
            # Its items are looked at one by one.
            return
