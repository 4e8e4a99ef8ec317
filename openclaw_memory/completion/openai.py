"""Any endpoint that speaks OpenAI's chat completions (extra `openai`), a local server as well as a paid one."""

from __future__ import annotations

import importlib
from collections.abc import Mapping, Sequence
from typing import Any

from openclaw_memory.completion.errors import CompletionError, MissingPackageError
from openclaw_memory.completion.protocol import Completion, ToolUse

NO_KEY = "no-key"
"""Sent where no key is set: servers of one's own want none, and the client refuses an empty one."""


class OpenAIModel:
    """A model over HTTP, by the `openai` package: its time-outs, its retries for what passes soon.

    Parameters: `model`; `base_url`, None for OpenAI itself; `api_key`; `timeout` in seconds for one request; `retries`
    of one request; `max_tokens` of an answer; `transport`, an `http_client` of the package, None for its own.

    Raises: `MissingPackageError` from the constructor.
    """

    def __init__(
        self,
        *,
        model: str,
        base_url: str | None,
        api_key: str | None,
        timeout: float,
        retries: int,
        max_tokens: int,
        transport: Any = None,
    ) -> None:
        try:
            self._package: Any = importlib.import_module("openai")
        except ImportError as error:
            raise MissingPackageError("openai", "openai") from error
        self._client: Any = self._package.AsyncOpenAI(
            api_key=api_key or NO_KEY, base_url=base_url, timeout=timeout, max_retries=retries, http_client=transport
        )
        self._model = model
        self._timeout = timeout
        self._max_tokens = max_tokens
        # OpenAI's newer models refuse the old name; other servers know no other.
        self._limit = "max_completion_tokens" if base_url is None else "max_tokens"

    @property
    def name(self) -> str:
        """Name provider and model."""
        return f"openai/{self._model}"

    async def complete(
        self,
        messages: Sequence[Mapping[str, Any]],
        *,
        tools: Sequence[Mapping[str, Any]] = (),
        max_tokens: int | None = None,
    ) -> Completion:
        """Ask once; as `ChatModel.complete`."""
        package = self._package
        wanted: dict[str, Any] = {self._limit: max_tokens or self._max_tokens}
        if tools:
            wanted["tools"] = list(tools)
        try:
            answer = await self._client.chat.completions.create(model=self._model, messages=list(messages), **wanted)
            return _read(answer)
        except package.APITimeoutError as error:
            raise CompletionError(self.name, f"no answer within {self._timeout:g} s") from error
        except package.APIStatusError as error:
            raise CompletionError(self.name, f"HTTP {error.status_code}: {_first_line(error.message)}") from error
        except package.OpenAIError as error:
            cause = f" ({error.__cause__})" if error.__cause__ else ""
            raise CompletionError(self.name, f"{_first_line(str(error))}{cause}") from error
        except (AttributeError, TypeError, ValueError, KeyError, IndexError) as error:
            # A web page, or JSON of another shape.
            raise CompletionError(self.name, f"the answer holds no message ({error})") from error

    async def aclose(self) -> None:
        """Close the connections."""
        await self._client.close()


def _read(answer: Any) -> Completion:
    message = answer.choices[0].message
    asked = [function for use in message.tool_calls or () if (function := getattr(use, "function", None)) is not None]
    if not all(isinstance(one.name, str) and isinstance(one.arguments, str) for one in asked):
        raise TypeError("a tool call without name or arguments")
    uses = [ToolUse(one.name, one.arguments) for one in asked]
    text = message.content if message.content is not None else ""
    if not isinstance(text, str):
        raise TypeError(f"content is {type(text).__name__}")
    usage = answer.usage
    return Completion(text, tuple(uses), _count(usage, "prompt_tokens"), _count(usage, "completion_tokens"))


def _count(usage: Any, name: str) -> int | None:
    count = getattr(usage, name, None)
    return count if isinstance(count, int) and not isinstance(count, bool) and count >= 0 else None


def _first_line(text: str) -> str:
    return text.strip().partition("\n")[0][:200]
