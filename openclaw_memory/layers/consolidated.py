"""How far each session is consolidated: `.state/consolidated.json` (seed 004 section 2.2, `last_consolidated`)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import date, datetime
from typing import Any

from openclaw_memory.layers.state import plan_state
from openclaw_memory.retrieval.blocks import Block
from openclaw_memory.storage.documents import Draft

CONSOLIDATED = ".state/consolidated.json"

_LOOKED_THROUGH = " looked through"
"""Key of the day up to which new sessions were looked for; no session's id begins with a space."""


@dataclass(frozen=True, slots=True)
class Pointer:
    """The last message of a session that was consolidated: its id and its time."""

    last: str
    time: datetime


def pointer_of(values: Mapping[str, Any], session: str) -> Pointer | None:
    """Read how far a session is consolidated; None when nothing of it is, or the record says nothing."""
    try:
        time = datetime.fromisoformat(values[session]["time"])
        return Pointer(str(values[session]["last"]), time) if time.utcoffset() is not None else None
    except (KeyError, TypeError, ValueError):
        return None


def plan_pointer(draft: Draft, session: str, pointer: Pointer) -> None:
    """Move the pointer of a session, in the record that what was made of its messages is written in."""
    plan_state(draft, CONSOLIDATED, {session: {"last": pointer.last, "time": pointer.time.isoformat()}})


def looked_through(values: Mapping[str, Any]) -> date | None:
    """Read the day up to which all files were looked through for sessions."""
    try:
        return date.fromisoformat(values[_LOOKED_THROUGH])
    except (KeyError, TypeError, ValueError):
        return None


def plan_looked_through(draft: Draft, day: date) -> None:
    """Note the day up to which all files were looked through."""
    plan_state(draft, CONSOLIDATED, {_LOOKED_THROUGH: day.isoformat()})


def after(newest: Iterable[Block], pointer: Pointer | None, most: int) -> list[Block]:
    """Give the messages behind a pointer, oldest first; of more than `most` the newest.

    Parameters: `newest`, the messages of a session, newest first.
    """
    found: list[Block] = []
    for block in newest:
        if pointer is not None and (
            block.key.rpartition("#")[2] == pointer.last or (block.time is not None and block.time < pointer.time)
        ):
            break
        found.append(block)
        if len(found) >= most:
            break
    return found[::-1]
