"""Events that ask memory, and their replies."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from bus.payload import Payload, Request
from contracts.base import Part
from contracts.content import TaskStep
from contracts.fields import (
    MAX_TAGS,
    Due,
    Flag,
    HitCount,
    Layer,
    LineCount,
    LineNumber,
    Priority,
    Query,
    RelativePath,
    Role,
    Score,
    SessionId,
    SessionKind,
    Several,
    Tag,
    TaskState,
    Text,
    Timestamp,
    TokenBudget,
    Tokens,
)


class Task(Part):
    """A task as the Brain sees it."""

    id: str = Field(description="Such as `OPEN-001`.")
    title: str = Field(description="One line.")
    state: TaskState = Field(description="Where it stands.")
    priority: Priority = Field(description="How much it matters.")
    created: Timestamp | None = Field(description="When it was made; null when the file does not say.")
    due: Due | None = Field(default=None, description="Day or time by which it should be done.")
    completed: Timestamp | None = Field(default=None, description="When it was completed.")
    description: str | None = Field(default=None, description="More words.")
    steps: tuple[TaskStep, ...] = Field(default=(), description="Its steps, in order.")


class HistoryMessage(Part):
    """A message of this session."""

    role: Role = Field(description="Who spoke.")
    content: str = Field(description="The text.")
    timestamp: Timestamp = Field(description="When it was said.")
    key: str = Field(description="Its address.")
    name: str | None = Field(default=None, description="Name of the tool or of the speaker.")


class Citation(Part):
    """Where a recalled piece comes from."""

    path: str = Field(description="File, relative to the root.")
    start_line: LineNumber = Field(description="First line, from 1.")
    end_line: LineNumber = Field(description="Last line.")
    layer: Layer = Field(description="Layer of the piece.")
    key: str = Field(description="Address of the piece.")
    time: Timestamp | None = Field(default=None, description="When it was said or written.")
    score: Score = Field(description="How well it answers; comparable within this reply only.")


class PartTokens(Part):
    """Tokens of one part of the context."""

    name: str = Field(description="Part of the context, such as `facts`.")
    planned: Tokens = Field(description="Tokens set aside for it.")
    used: Tokens = Field(description="Tokens of it counted alone; the parts need not add up to the whole.")


class TokenReport(Part):
    """How the budget was spent."""

    max: TokenBudget = Field(description="The budget that the read named, in tokens.")
    used: Tokens = Field(description="Tokens of the whole, counted as one string.")
    encoding: str = Field(description="The encoding counted with; `estimate` when there was none.")
    parts: tuple[PartTokens, ...] = Field(default=(), description="The same for each part.")


class MemoryContext(Payload):
    """The memories that fit the budget. All of them together, as one string, stay within `maxTokens`."""

    event_type = "memory:context"

    facts: tuple[str, ...] = Field(description="Fact lines: profile and preferences always, others when they match.")
    tasks: tuple[Task, ...] = Field(description="Active tasks.")
    summaries: tuple[str, ...] = Field(description="Summaries, oldest first.")
    degraded: Flag = Field(description="Whether something could not be read; `notice` says what.")
    recalled: tuple[str, ...] = Field(default=(), description="Pieces that answer the query, best first.")
    history: tuple[HistoryMessage, ...] = Field(default=(), description="Messages of this session, oldest first.")
    notes: tuple[str, ...] = Field(default=(), description="Entries of the daily logs.")
    memory: tuple[str, ...] = Field(default=(), description="Entries of MEMORY.md.")
    citations: tuple[Citation, ...] = Field(default=(), description="Addresses of `recalled`, in the same order.")
    tokens: TokenReport | None = Field(default=None, description="How the budget was spent.")
    truncated: Flag = Field(default=False, description="Whether something was left out for the budget.")
    notice: str | None = Field(default=None, description="What was left out or went wrong, in words.")


class MemoryRead(Request[MemoryContext]):
    """The Brain wants the context for its next step."""

    event_type = "memory:read"
    reply_type = MemoryContext

    query: Query = Field(description="What to recall; may be empty. Up to 100,000 characters.")
    session_id: SessionId
    max_tokens: TokenBudget = Field(description="Budget in tokens, 1 to 10,000,000.")
    session_kind: SessionKind | None = Field(default=None, description="What the session may see.")
    as_of: Timestamp | None = Field(
        default=None, description="Answer as if it were this time; later memories stay out."
    )
    current_message: Text | None = Field(
        default=None,
        description="The user's message, when `query` is not the message itself; up to 1,000,000 characters.",
    )
    tags: Annotated[tuple[Tag, ...], Several("tags", MAX_TAGS)] = Field(
        default=(), description="Only recall from files with one of these tags; up to 50."
    )


class SearchResult(Part):
    """One hit."""

    path: str = Field(description="File, relative to the root.")
    start_line: LineNumber = Field(description="First line, from 1.")
    end_line: LineNumber = Field(description="Last line.")
    score: Score = Field(description="Comparable within this reply only.")
    snippet: str = Field(description="The piece, shortened when long.")
    layer: Layer = Field(description="Layer of the piece.")
    time: Timestamp | None = Field(description="When it was said or written.")
    steps: tuple[str, ...] = Field(default=(), description="With `explain`: how the score came about.")


class MemoryResults(Payload):
    """What a search found, best first."""

    event_type = "memory:results"

    results: tuple[SearchResult, ...] = Field(description="The hits, best first.")
    degraded: Flag = Field(description="Whether something could not be searched; `notice` says what.")
    notice: str | None = Field(default=None, description="What went wrong, in words.")


class MemorySearch(Request[MemoryResults]):
    """Find pieces by words."""

    event_type = "memory:search"
    reply_type = MemoryResults

    query: Query = Field(description="What to find. Up to 100,000 characters.")
    session_id: SessionId | None = Field(default=None, description="Session on whose behalf it is asked.")
    session_kind: SessionKind | None = Field(default=None, description="What the session may see.")
    max_results: HitCount = Field(default=10, description="Most hits, 1 to 1,000.")
    min_score: Score = Field(default=0.0, ge=0.0, description="Leave out hits below this score; 0 leaves out none.")
    layers: tuple[Layer, ...] = Field(default=(), description="Only these layers; empty: all.")
    explain: Flag = Field(default=False, description="Tell how each score came about.")


class MemoryDocument(Payload):
    """A piece of a file."""

    event_type = "memory:document"

    path: str = Field(description="The file, relative to the root.")
    text: str = Field(description="Its lines.")
    truncated: Flag = Field(description="Whether lines were left out.")
    notice: str | None = Field(default=None, description="Why there is no text, in words.")


class MemoryGet(Request[MemoryDocument]):
    """Read a file by the address that a search gave."""

    event_type = "memory:get"
    reply_type = MemoryDocument

    path: RelativePath = Field(description="File, relative to the root, as a search gives it.")
    from_: LineNumber | None = Field(default=None, alias="from", description="First line, from 1.")
    lines: LineCount | None = Field(default=None, description="How many lines, 1 to 100,000; default: all.")
    session_kind: SessionKind | None = Field(default=None, description="What the session may see.")
