"""What a user's messages ask to be remembered: writes that go with them, and suggestions for the reply (seed 002)."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from functools import cached_property
from typing import overload

from contracts import MemoryWrite, MessageContent, MessagesContent
from contracts.fields import SessionKind
from openclaw_memory.config import CaptureConfig
from openclaw_memory.cues import may_ask
from openclaw_memory.layers.day_files import ConversationDocument

SAID_NOW = timedelta(days=1)
"""What was said longer ago asks for nothing any more."""

EARLIER = 6
"""So many of the user's earlier messages of a day tell what was corrected before."""


class _Before(Sequence[str]):
    """What the user said before, found when somebody looks: few messages rest on it.

    Parameters: `earlier`, which finds what was said before the write; `said`, what was said in it.
    """

    def __init__(self, earlier: Callable[[], Sequence[str]], said: Iterable[str]) -> None:
        self._earlier = earlier
        self._said = tuple(said)

    @cached_property
    def _texts(self) -> Sequence[str]:
        return (*self._earlier(), *self._said)

    def __len__(self) -> int:
        return len(self._texts)

    @overload
    def __getitem__(self, index: int) -> str: ...

    @overload
    def __getitem__(self, index: slice) -> Sequence[str]: ...

    def __getitem__(self, index: int | slice) -> str | Sequence[str]:
        return self._texts[index]


@dataclass(frozen=True, slots=True)
class Captured:
    """Writes that a message asks for, each with the words that tell of it, and further suggestions."""

    writes: tuple[tuple[MemoryWrite, str], ...] = ()
    suggestions: tuple[str, ...] = ()


def is_judged(item: MemoryWrite, now: datetime) -> bool:
    """Tell whether a write holds words of the owner's that may ask for something to be remembered, at a quick look."""
    return item.origin in (None, "owner") and any(map(may_ask, _of_user(item, now)))


def capture(
    item: MemoryWrite,
    earlier: Callable[[], Sequence[str]],
    supplied: Sequence[str],
    kind: SessionKind,
    rules: CaptureConfig,
    now: datetime,
) -> Captured:
    """Judge the user's messages of a write, in order. Pure.

    Parameters: `earlier`, which finds the user's messages of the session before it, oldest first; `supplied`, what
    memory put into the session's last context; `kind` of the session; `rules`; `now`.
    """
    # Imported when the first user speaks: its patterns take a while to be compiled. From the modules themselves, since
    # a package is asked for each name every time.
    from openclaw_memory.capture.events import event_of, suggestion_of
    from openclaw_memory.capture.judge import judge, may_find

    writes: list[tuple[MemoryWrite, str]] = []
    suggestions: list[str] = []
    said: list[str] = []
    for text in _of_user(item, now):
        findings = judge(text, earlier=_Before(earlier, said), supplied=supplied).findings if may_find(text) else ()
        for finding in findings:
            event = event_of(finding, item.session_id, kind) if finding.verdict == "write" else None
            if event is not None and rules.explicit:
                writes.append((event, suggestion_of(finding) or ""))
                continue
            # Nothing is said to have been remembered that was not.
            asked = replace(finding, verdict="propose") if finding.verdict == "write" else finding
            if rules.suggestions and (words := suggestion_of(asked)) is not None:
                suggestions.append(words)
        said.append(text)
    return Captured(tuple(writes), tuple(dict.fromkeys(suggestions)))


def earlier_in(document: ConversationDocument, session: str) -> list[str]:
    """Give what the user said before in a session, as far as the file of a day tells, oldest first."""
    blocks = (block.message for block in reversed(document.file.blocks))
    said = (message.content for message in blocks if message.session == session and message.role == "user")
    return [text for text, _ in zip(said, range(EARLIER), strict=False)][::-1]


def _of_user(item: MemoryWrite, now: datetime) -> Iterable[str]:
    """Give what the user says now; what was said longer ago is being moved in from elsewhere, and asks for nothing."""
    match item.content:
        case MessageContent() as message:
            messages: Sequence[MessageContent] = (message,)
        case MessagesContent(messages=messages):
            pass
        case _:
            messages = ()
    return [
        message.content
        for message in messages
        if message.role == "user"
        and message.content.strip()
        and (message.timestamp is None or now - message.timestamp < SAID_NOW)
    ]
