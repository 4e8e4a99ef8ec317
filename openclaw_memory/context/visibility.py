"""What each kind of session may see and do: one table, and who is which."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Literal

from contracts.fields import SessionKind
from openclaw_memory.retrieval.blocks import Block

History = Literal["full", "task", "group", "current"]
Facts = Literal["all", "task", "none"]
Search = Literal["all", "task", "group"]
Writes = Literal["all", "own", "none"]
Audience = Literal["private", "group", "shared"]
"""Who a block is for: the owner's own sessions, the group session that it belongs to, or everyone."""


@dataclass(frozen=True, slots=True)
class Visibility:
    """What a session gets to see, and where it may write."""

    history: History
    facts: Facts
    tasks: Facts
    summaries: Facts
    notes: bool
    memory: bool
    search: Search
    writes: Writes


_POLICIES: dict[SessionKind, Visibility] = {
    "primary": Visibility("full", "all", "all", "all", notes=True, memory=True, search="all", writes="all"),
    "sub": Visibility("task", "task", "task", "task", notes=False, memory=False, search="task", writes="own"),
    "group": Visibility("group", "none", "none", "none", notes=False, memory=False, search="group", writes="own"),
    "sandbox": Visibility("current", "all", "all", "all", notes=True, memory=True, search="all", writes="none"),
}


def policy(kind: SessionKind) -> Visibility:
    """Give what a kind of session may see and do (the table of docs/sessions.md)."""
    return _POLICIES[kind]


def audience(kind: SessionKind) -> Audience:
    """Give the `visibility` that is stored with what a session of this kind writes."""
    return "group" if kind == "group" else "private"


def allow(block: Block, session_id: str | None, kind: SessionKind, task_id: str | None = None) -> bool:
    """Tell whether a session may be shown a block, by search, context or citation.

    A group sees what is shared, and messages and summaries of its own session that were written for the group: a block
    that is not marked so is private, whatever session it names. A sub-session sees what is shared, its own messages,
    and what its task rests on: the task, and messages, facts and summaries that name `task_id`.
    """
    search = policy(kind).search
    if search == "all":
        return True
    if block.visibility == "shared":
        return True
    own = session_id is not None and block.session == session_id
    if search == "group":
        return own and block.visibility == "group" and block.layer in ("conversation", "history", "summary")
    if block.layer in ("note", "memory"):
        return False
    return own or (task_id is not None and (names_task(block.key, task_id) or names_task(block.text, task_id)))


def names_task(text: str, task_id: str) -> bool:
    """Tell whether a text holds the id of a task, as a word of its own."""
    return re.search(rf"(?<![\w-]){re.escape(task_id)}(?![\w-])", text) is not None


_TASK_ID = re.compile(r"(?<![A-Za-z0-9_-])[A-Z][A-Z0-9]*-[0-9]{1,12}(?![\w-])")


def task_named(*texts: str) -> str | None:
    """Give the first task id in these texts (session id, query, message), or None."""
    for text in texts:
        match = _TASK_ID.search(text)
        if match:
            return match.group()
    return None


def kind_of(session_id: str, default: SessionKind) -> SessionKind:
    """Read the kind from a session id of the real OpenClaw's form; other ids have the default.

    `agent:main:main` is primary, `...:group:...` and `...:channel:...` are groups, `subagent:...` is a sub-session. An
    id that is both a group's and a sub-agent's is a group's: the one that sees least.
    """
    parts = session_id.casefold().split(":")
    if "group" in parts[:-1] or "channel" in parts[:-1]:
        return "group"
    if "subagent" in parts[:-1]:
        return "sub"
    if len(parts) == 3 and parts[0] == "agent" and parts[2] == "main":
        return "primary"
    return default
