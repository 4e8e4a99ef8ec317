"""A language model that says what a test tells it to."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

from openclaw_memory.completion import Completion, ToolUse
from openclaw_memory.completion.errors import CompletionError

PROVIDER = "tests.lifecycle.models:Scripted"


class Scripted:
    """Answers with `answers`, one after the other, the last one again and again; an exception is raised.

    Parameters: `answers`, a list that a test may add to; `asked`, which gets the messages of every request.
    """

    def __init__(self, answers: list[Any], asked: list[Any] | None = None) -> None:
        self._answers = answers
        self._asked = [] if asked is None else asked

    async def complete(
        self,
        messages: Sequence[Mapping[str, Any]],
        *,
        tools: Sequence[Mapping[str, Any]] = (),
        max_tokens: int | None = None,
    ) -> Completion:
        self._asked.append([dict(message) for message in messages])
        answer = self._answers.pop(0) if len(self._answers) > 1 else self._answers[0]
        if callable(answer):
            answer = answer(messages)
        if isinstance(answer, BaseException):
            raise answer
        return answer  # type: ignore[no-any-return]


def saved(history_entry: Any, memory_update: Any = None, **more: Any) -> Completion:
    """What a model that uses the tool `save_memory` answers."""
    arguments = {"history_entry": history_entry, "memory_update": memory_update, **more}
    return used(json.dumps(arguments, ensure_ascii=False))


def used(arguments: Any, name: str = "save_memory") -> Completion:
    """A tool used with these arguments, as the model wrote them."""
    return Completion("", (ToolUse(name, arguments),), 100, 20)


def said(text: Any) -> Completion:
    """What a model that only talks answers."""
    return Completion(text, (), 100, 20)


def no_answer() -> CompletionError:
    """No connection."""
    return CompletionError("test", "no connection")


def settings(answers: list[Any], asked: list[Any] | None = None) -> dict[str, Any]:
    """The configuration that has a memory use it."""
    return {"completion": {"provider": PROVIDER, "options": {"answers": answers, "asked": asked}}}
