"""The arguments of the tools: names and limits as the real OpenClaw's tools have them where it has such a tool."""

from __future__ import annotations

import difflib
from collections.abc import Mapping
from typing import Annotated, Any, TypeVar

from pydantic import ConfigDict, Field, ValidationError

from contracts.base import Part
from contracts.fields import (
    Description,
    Due,
    FactKey,
    FactValue,
    Flag,
    ForgetText,
    LineCount,
    LineNumber,
    Priority,
    Query,
    Reason,
    RelativePath,
    SaidText,
    Score,
    Section,
    TaskId,
    TaskState,
    Title,
    Topic,
)
from openclaw_memory.getting import MAX_CHARS, MAX_LINES
from openclaw_memory.mcp.errors import CallRefusedError

MAX_RESULTS = 50
"""Most hits of one search: more would fill a model's context with what it did not ask for."""

A = TypeVar("A", bound="Arguments")


class Arguments(Part):
    """Base of the arguments. Unknown ones are refused, since a model that misspells one would not find out."""

    model_config = ConfigDict(extra="forbid")


class SearchArguments(Arguments):
    """`memory_search`."""

    query: Query = Field(description="What to find: words, a question; up to 100,000 characters.")
    max_results: Annotated[int, Field(ge=1, le=MAX_RESULTS)] = Field(
        default=10, description=f"Most hits, 1 to {MAX_RESULTS}."
    )
    min_score: Score = Field(default=0.0, ge=0.0, description="Leave out hits below this score; the best hit has 1.")


class GetArguments(Arguments):
    """`memory_get`."""

    path: RelativePath = Field(description="File, as memory_search names it, such as facts/user-profile.md.")
    from_: LineNumber | None = Field(default=None, alias="from", description="First line, from 1.")
    lines: LineCount | None = Field(
        default=None, description=f"How many lines; one answer holds up to {MAX_LINES} of {MAX_CHARS:,} characters."
    )


class RememberArguments(Arguments):
    """`remember`."""

    text: SaidText = Field(description="What to remember, in a sentence that stands by itself.")
    section: Section | None = Field(default=None, description="Section of MEMORY.md to put it in.")


class FactArguments(Arguments):
    """`update_fact`."""

    section: Section = Field(description="Section of the fact, such as: Preferences.")
    key: FactKey = Field(description="What the fact is about, such as: Editor.")
    value: FactValue = Field(description="What is true now; an earlier value is archived.")
    topic: Topic | None = Field(default=None, description="Fact file, without `.md`; found by itself when left out.")


class NoArguments(Arguments):
    """`task_list`."""


class TaskArguments(Arguments):
    """`task_update`."""

    task_id: TaskId | None = Field(default=None, description="The task, such as OPEN-003; left out: a new task.")
    new_state: TaskState | None = Field(default=None, description="pending, in_progress, completed or expired.")
    reason: Reason | None = Field(default=None, description="Why the state changes; goes with newState.")
    title: Title | None = Field(default=None, description="One line; required for a new task.")
    description: Description | None = Field(default=None, description="More words.")
    priority: Priority | None = Field(default=None, description="high, medium or low.")
    due: Due | None = Field(default=None, description="Day by which it should be done, such as 2026-05-04.")


class ForgetArguments(Arguments):
    """`forget`."""

    text: ForgetText = Field(description="Every place that holds this text is forgotten, for good.")
    dry_run: Flag = Field(default=False, description="Only tell what would be forgotten.")


def read_arguments(kind: type[A], given: Mapping[str, Any] | None) -> A:
    """Read the arguments of a call.

    Raises: `CallRefusedError`, which names every argument that is wrong, its limit and what to do.
    """
    try:
        return kind.model_validate(dict(given or {}), by_alias=True, by_name=False)
    except ValidationError as error:
        words = "; ".join(_fault(kind, fault["type"], fault["loc"], fault["msg"]) for fault in error.errors())
        raise CallRefusedError(f"The call was not understood, and nothing was done. {words}") from error


def schema_of(kind: type[Arguments]) -> dict[str, Any]:
    """Give the JSON Schema of the arguments, plain enough for every client.

    Patterns are left out, some of which services refuse (they look ahead), and so is `null`, which nobody needs to
    send. What is left out is checked all the same.
    """
    schema = kind.model_json_schema(by_alias=True)
    return {
        "type": "object",
        "properties": {name: _plain(field) for name, field in schema.get("properties", {}).items()},
        "required": schema.get("required", []),
        "additionalProperties": False,
    }


def names_of(kind: type[Arguments]) -> list[str]:
    """List the arguments as the wire spells them."""
    return list(kind.model_json_schema(by_alias=True).get("properties", {}))


def _fault(kind: type[Arguments], what: str, place: tuple[int | str, ...], words: str) -> str:
    name = ".".join(map(str, place)) or "the arguments"
    if what != "extra_forbidden":
        return f"{name}: {words}"
    known = names_of(kind)
    meant = difflib.get_close_matches(name, known, n=1, cutoff=0.5)
    if meant:
        return f"{name[:40]} is no argument; did you mean {meant[0]}?"
    return f"{name[:40]} is no argument; there {'are ' + ', '.join(known) if known else 'are none'}"


def _plain(field: Mapping[str, Any]) -> dict[str, Any]:
    """Take one field's schema to what clients need to know."""
    inner = [one for one in field.get("anyOf", ()) if one.get("type") != "null"]
    merged = {**(inner[0] if len(inner) == 1 else {}), **field}
    if len(inner) > 1:
        # A day or a time: text, both.
        merged["type"] = "string"
    kept = ("type", "description", "enum", "minimum", "maximum", "minLength", "maxLength")
    plain = {name: merged[name] for name in kept if name in merged}
    if merged.get("default") is not None:
        plain["default"] = merged["default"]
    return plain
