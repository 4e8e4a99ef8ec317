"""What is read out of a session's file."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from contracts.fields import Role


@dataclass(frozen=True, slots=True)
class ToolCall:
    """A call of a tool that the agent made.

    `arguments` is JSON, as the model wrote it; `id` names the call for its result, empty where a file has none.
    """

    id: str
    name: str
    arguments: str = "{}"


@dataclass(frozen=True, slots=True)
class SessionMessage:
    """One message of a session.

    `id` is the file's own, or the place of its line (`b` and the offset in bytes). `time` is aware, None where the file
    does not tell. `name` is the tool's or speaker's. `calls` are what an assistant message called, `call_id` what a
    tool's message answers. `summary` marks one that stands for earlier messages. `origin`, `important` and `visibility`
    are words of ours.
    """

    id: str
    role: Role
    text: str
    time: datetime | None = None
    name: str | None = None
    calls: tuple[ToolCall, ...] = ()
    call_id: str | None = None
    summary: bool = False
    origin: str | None = None
    important: bool = False
    visibility: str | None = None


@dataclass(frozen=True, slots=True)
class Problem:
    """A line that could not be understood, or a gap: where it is, in bytes from the beginning, and what is wrong."""

    offset: int
    reason: str


@dataclass(frozen=True, slots=True)
class Transcript:
    """The current branch of a session, oldest first.

    `problems` are those of all lines that were looked at. `complete`: nothing of the branch came before, as far as is
    known; False where reading stopped when there were enough.
    """

    messages: tuple[SessionMessage, ...]
    problems: tuple[Problem, ...]
    complete: bool
