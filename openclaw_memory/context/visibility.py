"""What each kind of session may see and do: one table, and who is which."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Literal, get_args

from contracts.fields import Layer, SessionKind
from openclaw_memory.config import SessionRules
from openclaw_memory.retrieval import scope
from openclaw_memory.retrieval.blocks import Block

History = Literal["full", "task", "group", "current"]
Facts = Literal["all", "task", "none"]
Search = Literal["all", "task", "group"]
Writes = Literal["all", "own", "none"]
Audience = Literal["private", "group", "shared"]
"""Who a block is for: the owner's own sessions, the group session that it belongs to, or everyone."""


@dataclass(frozen=True, slots=True)
class Visibility:
    """What a session gets to see, and where it may write.

    `memory` is MEMORY.md, `notes` the daily logs, `shared` the workspace's `shared/`.
    """

    history: History
    facts: Facts
    tasks: Facts
    summaries: Facts
    notes: bool
    memory: bool
    search: Search
    writes: Writes
    shared: bool = True


_OF_A_GROUP = frozenset({"conversation", "history", "summary"})
_OF_A_TASK = frozenset({"conversation", "fact", "task", "summary", "history"})
_ALL_BUT_MEMORY = frozenset(get_args(Layer)) - {"memory"}

_POLICIES: dict[SessionKind, Visibility] = {
    "primary": Visibility("full", "all", "all", "all", notes=True, memory=True, search="all", writes="all"),
    "sub": Visibility("task", "task", "task", "task", notes=False, memory=False, search="task", writes="own"),
    "group": Visibility("group", "none", "none", "none", notes=False, memory=False, search="group", writes="own"),
    "sandbox": Visibility("current", "all", "all", "all", notes=True, memory=True, search="all", writes="none"),
}


def policy(kind: SessionKind) -> Visibility:
    """Give what a kind of session may see and do where nothing else is configured (the table of docs/sessions.md)."""
    return _POLICIES[kind]


def policies(rules: SessionRules) -> Mapping[SessionKind, Visibility]:
    """Give the same table with the rules of the configuration applied (seed 003 section 26.4.3). Pure."""
    sub = replace(_POLICIES["sub"], memory=rules.sub_session.load_memory)
    match rules.sub_session.inherit_context:
        case "none":
            sub = replace(sub, facts="none", tasks="none", summaries="none")
        case "full":
            sub = replace(
                _POLICIES["primary"], memory=rules.sub_session.load_memory, history=sub.history, writes=sub.writes
            )
    return {
        "primary": replace(_POLICIES["primary"], memory=rules.primary_private.load_memory),
        "sub": sub,
        "group": replace(_POLICIES["group"], shared=rules.group_session.load_shared_context),
        "sandbox": replace(_POLICIES["sandbox"], memory=rules.primary_private.load_memory),
    }


def audience(kind: SessionKind) -> Audience:
    """Give the `visibility` that is stored with what a session of this kind writes."""
    return "group" if kind == "group" else "private"


def allow(
    block: Block,
    session_id: str | None,
    kind: SessionKind,
    task_id: str | None = None,
    seen: Visibility | None = None,
) -> bool:
    """Tell whether a session may be shown a block, by search, context or citation.

    A group sees what is shared, and messages and summaries of its own session that were written for the group: a block
    that is not marked so is private, whatever session it names. A sub-session sees what is shared, its own messages,
    and what its task rests on: the task, and messages, facts and summaries that name `task_id`.

    Parameters: `seen`, what the configuration lets this kind see; by default the table's.
    """
    seen = seen or _POLICIES[kind]
    if block.visibility == "shared":
        return seen.shared
    if block.layer == "memory" and seen.search != "group":
        return seen.memory
    if seen.search == "all":
        return True
    own = session_id is not None and block.session == session_id
    if seen.search == "group":
        return own and block.visibility == "group" and block.layer in _OF_A_GROUP
    if block.layer not in _OF_A_TASK:
        return False
    task_id = task_id if seen.facts == "task" else None
    return own or (task_id is not None and (names_task(block.key, task_id) or names_task(block.text, task_id)))


def sees_everything(seen: Visibility) -> bool:
    """Tell whether `allow` lets a session with these rights see every block, so that none need be looked at."""
    return seen.search == "all" and seen.memory and seen.shared


def audiences(
    session_id: str | None, kind: SessionKind, task_id: str | None = None, seen: Visibility | None = None
) -> tuple[scope.Audience, ...]:
    """Give the same rule as values that an index can look by: whatever `allow` lets through is admitted by one of them.

    Empty where the session may be shown everything. Parameters: as those of `allow`.
    """
    seen = seen or _POLICIES[kind]
    if seen.search == "all":
        return () if seen.memory else (scope.Audience(layers=_ALL_BUT_MEMORY), _SHARED)
    admitted = [_SHARED] if seen.shared else []
    own = frozenset({session_id} if session_id is not None else ())
    if seen.search == "group":
        admitted += [scope.Audience(frozenset({"group"}), own, _OF_A_GROUP)] if own else []
        # Nobody at all is not the same as everybody, which an empty tuple says.
        return tuple(admitted) or (scope.Audience(visibilities=frozenset({"nobody"})),)
    if seen.memory:
        admitted.append(scope.Audience(layers=frozenset({"memory"})))
    if task_id is not None and seen.facts == "task":
        # What names the task can only be told by its text.
        admitted.append(scope.Audience(layers=_OF_A_TASK))
    elif own:
        admitted.append(scope.Audience(sessions=own, layers=_OF_A_TASK))
    return tuple(admitted)


_SHARED = scope.Audience(visibilities=frozenset({"shared"}))


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
