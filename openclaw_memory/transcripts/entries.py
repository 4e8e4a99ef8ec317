"""What a line stands for: a message, a summary, a step of the tree. Ours, and the real OpenClaw's.

Ours is the seed's (003 section 26.2.1): `role`, `content`, `timestamp`, for a tool `name` and `result`. OpenClaw's has
a `type`, and forms a tree by `id` and `parentId`; a line without `parentId` follows the one before it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from enum import Enum
from typing import Any, get_args

from contracts.fields import Role
from openclaw_memory.transcripts.envelope import strip_envelope
from openclaw_memory.transcripts.lines import Line
from openclaw_memory.transcripts.parts import as_text, read_calls, read_content, word
from openclaw_memory.transcripts.values import SessionMessage


class Parent(Enum):
    """What a line follows that names no parent."""

    PREVIOUS = "previous"


_ROLES: Mapping[str, Role] = {
    **{role: role for role in get_args(Role)},
    "toolResult": "tool",
    "bashExecution": "tool",
    "function": "tool",
    "developer": "system",
    "custom": "system",
    "hookMessage": "system",
    "branchSummary": "system",
    "compactionSummary": "system",
}
"""What the roles of others are with us. What a program put in is nobody's word, so it is the system's."""
_SUMMARIES = ("branch_summary", "compaction")
_IDLE = ("model_change", "thinking_level_change", "custom", "label", "session_info")


@dataclass(frozen=True, slots=True)
class Entry:
    """One line, understood.

    `id` names it in the tree; `parent` is the id of the line that it follows, None at the beginning of a branch.
    `messages` is what it says, oldest first. `compacts`: its message stands for all before the entry `first_kept`.
    """

    id: str
    parent: str | Parent | None
    messages: tuple[SessionMessage, ...] = ()
    compacts: bool = False
    first_kept: str | None = None


def read_entry(line: Line) -> Entry | str | None:
    """Read a line that holds an object: an entry; why it is none, in words; or None for the header of a session."""
    value = line.value
    if value is None:
        return line.problem
    try:
        return _read(value, f"b{line.offset}")
    except RecursionError:
        return "nested too deeply"


def is_others(line: Line) -> bool:
    """Tell whether a line was written by the real OpenClaw, whose files we only read."""
    return line.value is not None and "type" in line.value


def _read(value: Mapping[str, Any], place: str) -> Entry | str | None:
    kind = value.get("type")
    identity = word(value.get("id")) or place
    parent: str | Parent | None = Parent.PREVIOUS
    if "parentId" in value:
        parent = word(value["parentId"])
    if kind is None:
        if not isinstance(value.get("role"), str):
            return "neither `role` nor `type`"
        return Entry(identity, parent, _messages(value, identity, None))
    if kind == "session":
        return None
    if kind == "message":
        message = value.get("message")
        if not isinstance(message, Mapping):
            return "`message` is no object"
        return Entry(identity, parent, _messages(message, identity, _time(value.get("timestamp"))))
    if kind == "leaf":
        # It says nothing, and names the newest entry of the branch.
        return Entry(identity, word(value.get("targetId")))
    if kind in _SUMMARIES:
        text = as_text(value.get("summary") or "")
        told = SessionMessage(identity, "system", text, _time(value.get("timestamp")), summary=True)
        first_kept = word(value.get("firstKeptEntryId"))
        return Entry(identity, parent, (told,) if text else (), kind == "compaction", first_kept)
    if kind == "custom_message":
        content = read_content(value.get("content"))
        name = word(value.get("customType"))
        said = SessionMessage(identity, "system", content.text, _time(value.get("timestamp")), name)
        return Entry(identity, parent, (said,))
    if kind in _IDLE:
        return Entry(identity, parent)
    # A kind of a later version: it may be a step of the tree all the same.
    return Entry(identity, parent) if "parentId" in value else f"`type` is {str(kind)[:50]!r}, which is not known"


def _messages(value: Mapping[str, Any], identity: str, written: datetime | None) -> tuple[SessionMessage, ...]:
    """Read a message in any of the forms; the results of tools that stand in it become messages of their own."""
    role = _ROLES.get(str(value.get("role")), "system")
    time = _time(value.get("timestamp")) or written
    name = _first(value, "name", "toolName", "customType")
    if value.get("role") == "bashExecution":
        if value.get("excludeFromContext") is True:
            return ()
        said = "\n".join(as_text(value[key]) for key in ("command", "output") if value.get(key))
        return (SessionMessage(identity, role, said, time, "bash"),)
    if value.get("role") in ("branchSummary", "compactionSummary"):
        return (SessionMessage(identity, role, as_text(value.get("summary") or ""), time, summary=True),)
    given = value["result"] if role == "tool" and "result" in value else value.get("content")
    content = read_content(given)
    text = strip_envelope(content.text) if role == "user" else content.text
    calls = content.calls + read_calls(value)
    answers = _first(value, "toolCallId", "tool_call_id")
    results = tuple(
        SessionMessage(f"{identity}.{number}", "tool", result.text, time, call_id=result.call_id)
        for number, result in enumerate(content.results, start=1)
    )
    if results and not text and not calls:
        return results
    message = SessionMessage(
        identity,
        role,
        text,
        time,
        name,
        calls,
        answers,
        origin=_first(value, "origin"),
        important=value.get("important") is True,
        visibility=_first(value, "visibility"),
    )
    return (*results, message)


def _first(value: Mapping[str, Any], *names: str) -> str | None:
    """Give the first of these fields that is a word."""
    return next((found for name in names if (found := word(value.get(name))) is not None), None)


def _time(value: Any) -> datetime | None:
    """Read a time: ISO 8601 (UTC where it names no offset), or milliseconds since 1970; None for anything else."""
    try:
        if isinstance(value, str):
            read = datetime.fromisoformat(value)
            return read if read.utcoffset() is not None else read.replace(tzinfo=UTC)
        if isinstance(value, int | float) and not isinstance(value, bool):
            return datetime.fromtimestamp(value / 1000, UTC)
    except (ValueError, OverflowError, OSError):
        return None
    return None
