"""Events around a session's beginning, end and compaction."""

from __future__ import annotations

from pydantic import Field

from bus.payload import Payload, Request
from contracts.fields import Flag, MessageCount, SessionId, SessionKind, TokenBudget, Tokens
from contracts.reading import MemoryContext
from contracts.writing import MemoryWritten


class SessionStarted(Request[MemoryContext]):
    """A session begins; the reply is what this kind of session loads."""

    event_type = "session:started"
    reply_type = MemoryContext

    session_id: SessionId
    session_kind: SessionKind | None = Field(default=None, description="What the session may see.")


class SessionEnded(Request[MemoryWritten]):
    """A session is over; its key points go into the day's log."""

    event_type = "session:ended"
    reply_type = MemoryWritten

    session_id: SessionId
    session_kind: SessionKind | None = Field(default=None, description="What the session may see.")


class MemoryCompacted(Payload):
    """What compaction kept and dropped."""

    event_type = "memory:compacted"

    session_id: SessionId
    kept: MessageCount = Field(description="Messages still in the history.")
    dropped: MessageCount = Field(description="Messages that the summary now stands for.")
    summary_key: str | None = Field(default=None, description="Address of the summary.")
    flushed_keys: tuple[str, ...] = Field(description="Addresses of what was written down before anything was dropped.")
    notice: str | None = Field(default=None, description="Why nothing was dropped, in words.")


class MemoryCompact(Request[MemoryCompacted]):
    """A session's history is to be made shorter."""

    event_type = "memory:compact"
    reply_type = MemoryCompacted

    session_id: SessionId
    context_window: TokenBudget | None = Field(default=None, description="The model's window, in tokens.")
    used_tokens: Tokens | None = Field(default=None, description="Tokens in use now.")
    disabled: Flag = Field(default=False, description="Do nothing (the user said so).")
