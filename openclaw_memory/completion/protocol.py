"""What is asked of a language model, and what comes back: unchecked, since a model may answer anything."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol


@dataclass(frozen=True, slots=True)
class ToolUse:
    """A tool that the model wants to use; `arguments` is JSON as the model wrote it, which may be none."""

    name: str
    arguments: str


@dataclass(frozen=True, slots=True)
class Completion:
    """What a model answered. Counts are the server's own, None where it does not tell."""

    text: str
    tool_uses: tuple[ToolUse, ...] = ()
    input_tokens: int | None = None
    output_tokens: int | None = None


class ChatModel(Protocol):
    """A language model that can be asked."""

    async def complete(
        self,
        messages: Sequence[Mapping[str, Any]],
        *,
        tools: Sequence[Mapping[str, Any]] = (),
        max_tokens: int | None = None,
    ) -> Completion:
        """Ask once.

        Parameters: `messages`, each with `role` and `content`; `tools`, function schemas in OpenAI's form;
        `max_tokens` of the answer, None for the configuration's.

        Raises: `CompletionError` when there is no answer; any other error of a class of one's own counts as that too.
        """
        ...
