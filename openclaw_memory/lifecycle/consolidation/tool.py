"""The tool by which a model hands in what it made of a conversation, and how its answer is checked. Pure."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from openclaw_memory.completion import Completion
from openclaw_memory.lifecycle.consolidation.errors import UnusableAnswerError
from openclaw_memory.markdown.notes import MAX_PARSED_CHARS
from openclaw_memory.markdown.text import clean

NAME = "save_memory"

SAVE_MEMORY: Mapping[str, Any] = {
    "type": "function",
    "function": {
        "name": NAME,
        "description": "Hand in the outcome of consolidation: one entry for the history, and the long-term memory "
        "as it is to be from now on.",
        "parameters": {
            "type": "object",
            "properties": {
                "history_entry": {
                    "type": "string",
                    "description": "One paragraph of two to five sentences: events, decisions, results. It begins with "
                    "the time as [YYYY-MM-DD HH:MM], and holds the names and numbers that somebody may look for.",
                },
                "memory_update": {
                    "type": "string",
                    "description": "The whole long-term memory in Markdown: every entry that still holds, word for "
                    "word, and what is new, one list item each, under its heading. The same text when nothing is new.",
                },
            },
            "required": ["history_entry", "memory_update"],
            "additionalProperties": False,
        },
    },
}
"""The seed's tool (seed 004 section 2.3) as OpenAI's form has it."""

MAX_ENTRY_CHARS = 4_000
"""A longer entry is no summary."""

LEAST_ENTRY_CHARS = 8

_PAGE = re.compile(r"<!doctype|<html[\s>]|<head[\s>]|<body[\s>]", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Answer:
    """What a model handed in. `memory_update` is None when it handed in none."""

    history_entry: str
    memory_update: str | None


def read_answer(completion: Completion) -> Answer:
    """Read what a model handed in by `save_memory`.

    Prose is no answer, nor is JSON in its text: a model that does not use the tool may be quoting anything.

    Raises: `UnusableAnswerError` that says what is wrong, in words that the model can be told.
    """
    used = [use for use in completion.tool_uses if use.name == NAME]
    if not used:
        raise UnusableAnswerError(f"it did not use the tool {NAME}")
    if len(used) > 1:
        raise UnusableAnswerError(f"it used the tool {NAME} {len(used)} times; once is asked for")
    given = _arguments(used[0].arguments)
    unknown = sorted(set(map(str, given)) - {"history_entry", "memory_update"})
    if unknown:
        raise UnusableAnswerError(f"there is no argument {unknown[0]!r}")
    entry = _text(given, "history_entry", MAX_ENTRY_CHARS)
    if entry is None or len(entry.strip()) < LEAST_ENTRY_CHARS:
        raise UnusableAnswerError("history_entry is blank")
    return Answer(" ".join(entry.split()), _text(given, "memory_update", MAX_PARSED_CHARS))


def _arguments(arguments: object) -> dict[str, Any]:
    value: Any = arguments
    try:
        # Some services write the JSON of the arguments as a JSON string.
        for _ in range(2):
            if isinstance(value, str):
                value = json.loads(value)
    except (ValueError, RecursionError) as error:
        raise UnusableAnswerError(f"the arguments of {NAME} are no JSON: {error}") from error
    if isinstance(value, list) and len(value) == 1:
        value = value[0]
    if not isinstance(value, dict):
        raise UnusableAnswerError(f"the arguments of {NAME} are no object")
    return value


def _text(given: Mapping[str, Any], name: str, most: int) -> str | None:
    value = given.get(name)
    if value is None:
        return None
    if not isinstance(value, str):
        raise UnusableAnswerError(f"{name} is no text but {type(value).__name__}")
    if len(value) > most:
        raise UnusableAnswerError(f"{name} has {len(value):,} characters, {most:,} is the most")
    if _PAGE.search(value):
        raise UnusableAnswerError(f"{name} is a page of HTML")
    return clean(value)[0]
