"""Up to which message a session was told in the day's log: what a person takes out of the log is not told again.

`.state/sessions-ended.json` holds, by session, a digest of the last message's id, and that message's time.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from openclaw_memory.layers.state import plan_state
from openclaw_memory.retrieval.blocks import Block
from openclaw_memory.storage.documents import Draft

ENDED = ".state/sessions-ended.json"

_KEY = "session:ended"


@dataclass(frozen=True, slots=True)
class Ending:
    """The last message that was told: a digest of its id, and its time."""

    message: str
    time: datetime

    @classmethod
    def at(cls, block: Block) -> Ending:
        """Give the ending whose last message is this one, which has a time."""
        assert block.time is not None
        return cls(_digest(block), block.time)

    def key(self, text: str) -> str:
        """Give the idempotency key of the note that tells it: told again before it is in the log, it is the same."""
        return f"{_KEY} {self.message} {self.time.isoformat()} {hashlib.sha256(text.encode()).hexdigest()}"


def ending_of(idempotency_key: str | None) -> Ending | None:
    """Read the ending that a note tells from its idempotency key; None for any other key."""
    kind, *parts = (idempotency_key or "").split(" ")
    if kind != _KEY or len(parts) != 3:
        return None
    return _ending(*parts[:2])


def plan_ending(draft: Draft, session: str, ending: Ending) -> None:
    """Remember up to which message a session is told, in the record that the note is written in."""
    plan_state(draft, ENDED, {session: {"message": ending.message, "time": ending.time.isoformat()}})


def told_of(values: Mapping[str, Any], session: str, messages: Sequence[Block]) -> int:
    """Count the messages that were there when the session was told last.

    Parameters: `values` of the record; `messages` of the session, oldest first. Where the last one that was told is
    gone, its time tells.
    """
    known = values.get(session)
    ending = _ending(known.get("message"), known.get("time")) if isinstance(known, dict) else None
    if ending is None:
        return 0
    for place in reversed(range(len(messages))):
        if _digest(messages[place]) == ending.message:
            return place + 1
    return sum(1 for message in messages if message.time is not None and message.time <= ending.time)


def _ending(message: object, time: object) -> Ending | None:
    try:
        when = datetime.fromisoformat(str(time))
    except ValueError:
        return None
    return Ending(str(message), when) if when.tzinfo is not None else None


def _digest(block: Block) -> str:
    """Stand for a message wherever its file moves it."""
    return hashlib.sha256(block.key.rpartition("#")[2].encode("utf-8", "surrogatepass")).hexdigest()[:16]
