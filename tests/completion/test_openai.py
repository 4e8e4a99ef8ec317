"""Asking a model over HTTP, on a server of the test's own."""

from __future__ import annotations

import json
import socket
from collections.abc import Callable, Mapping
from typing import Any

import pytest

from openclaw_memory.completion import Completion, CompletionError, ToolUse, cost_of, model_from
from openclaw_memory.completion.openai import OpenAIModel
from openclaw_memory.config import CompletionConfig, MemoryConfig
from openclaw_memory.errors import ConfigError
from tests.retrieval.embedding.servers import serving

openai = pytest.importorskip("openai", reason="the extra openai is not installed")

Answer = tuple[int, str, str]


def reply(message: Mapping[str, Any], **more: Any) -> Answer:
    body = {
        "id": "1",
        "object": "chat.completion",
        "created": 1,
        "model": "m",
        "choices": [{"index": 0, "finish_reason": "stop", "message": {"role": "assistant", **message}}],
        "usage": {"prompt_tokens": 12, "completion_tokens": 3, "total_tokens": 15},
        **more,
    }
    return 200, "application/json", json.dumps(body)


async def ask(answer: Callable[[Any], Answer], *, tools: Any = (), **settings: Any) -> tuple[Completion, Any]:
    with serving(answer) as server:
        config = CompletionConfig(
            provider="openai", model="m", base_url=server.url, **{"retries": 0, "timeout_seconds": 5, **settings}
        )
        model = model_from(config, {"OPENAI_API_KEY": "secret"})
        assert isinstance(model, OpenAIModel)
        try:
            done = await model.complete([{"role": "user", "content": "hi"}], tools=tools)
        finally:
            await model.aclose()
        assert server.keys == ["Bearer secret"] * len(server.requests)
        return done, server.requests


async def test_text_and_counts() -> None:
    """What the server says, and how many tokens it counted; the cap goes along."""
    done, requests = await ask(lambda request: reply({"content": "hello"}), max_tokens=77)
    assert done == Completion("hello", (), 12, 3)
    assert requests[0]["messages"] == [{"role": "user", "content": "hi"}]
    assert (requests[0]["model"], requests[0]["max_tokens"]) == ("m", 77)
    assert "tools" not in requests[0]


async def test_tools() -> None:
    """Arguments come as the model wrote them."""
    use = {"id": "c", "type": "function", "function": {"name": "save_memory", "arguments": "{not json"}}
    tool = {"type": "function", "function": {"name": "save_memory", "parameters": {"type": "object"}}}
    done, requests = await ask(lambda request: reply({"content": None, "tool_calls": [use]}), tools=[tool])
    assert done == Completion("", (ToolUse("save_memory", "{not json"),), 12, 3)
    assert requests[0]["tools"] == [tool]


@pytest.mark.parametrize(
    ("answer", "words"),
    [
        ((500, "application/json", '{"error": {"message": "boom"}}'), "HTTP 500"),
        ((401, "application/json", '{"error": {"message": "bad key"}}'), "HTTP 401"),
        ((429, "text/plain", "slow down"), "HTTP 429"),
        ((200, "text/html", "<html>welcome</html>"), ""),
        ((200, "application/json", "{}"), ""),
        ((200, "application/json", "[]"), ""),
        ((200, "application/json", '{"choices": []}'), ""),
        ((200, "application/json", '{"choices": [{"message": null}]}'), ""),
        ((200, "application/json", "not json"), ""),
        (reply({"content": {"a": 1}}), ""),
        (reply({"content": None, "tool_calls": [{"id": "c", "type": "function", "function": {"name": 5}}]}), ""),
    ],
)
async def test_whatever_else_is_an_error_that_names_the_model(answer: Answer, words: str) -> None:
    """No answer of a server gets further than this."""
    with pytest.raises(CompletionError, match="openai/m: ") as caught:
        await ask(lambda request: answer)
    assert words in str(caught.value)
    assert "secret" not in str(caught.value)


async def test_retries() -> None:
    """What passes soon is asked again."""
    answers = [(503, "text/plain", "busy"), reply({"content": "hello"})]
    done, requests = await ask(lambda request: answers.pop(0), retries=1)
    assert done.text == "hello"
    assert len(requests) == 2


async def test_nobody_there() -> None:
    """The reason is told."""
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        port = taken.getsockname()[1]
    config = CompletionConfig(provider="openai", model="m", base_url=f"http://127.0.0.1:{port}/v1", retries=0)
    model = model_from(config, {})
    assert isinstance(model, OpenAIModel)
    with pytest.raises(CompletionError, match="openai/m"):
        await model.complete([])
    await model.aclose()


async def test_counts_that_a_server_does_not_give() -> None:
    """Are not made up."""
    done, _ = await ask(lambda request: reply({"content": "x"}, usage=None))
    assert (done.input_tokens, done.output_tokens) == (None, None)


class Own:
    """A model of one's own."""

    def __init__(self, text: str) -> None:
        self.text = text

    async def complete(self, messages: Any, *, tools: Any = (), max_tokens: int | None = None) -> Completion:
        return Completion(self.text)


async def test_a_class_of_ones_own() -> None:
    """By its place, with its options."""
    model = model_from(CompletionConfig(provider=f"{__name__}:Own", options={"text": "mine"}), {})
    assert model is not None
    assert (await model.complete([])).text == "mine"


@pytest.mark.parametrize(
    ("provider", "options", "words"),
    [
        ("no.such.module:X", {}, "can't be imported"),
        (f"{__name__}:Nothing", {}, "check the class's name"),
        (f"{__name__}:Own", {"colour": 1}, "check completion.options"),
        ("builtins:dict", {}, "has no complete"),
    ],
)
def test_a_class_that_is_none(provider: str, options: dict[str, Any], words: str) -> None:
    """The setting is named, and what to do."""
    with pytest.raises(ConfigError, match=r"completion\.provider") as caught:
        model_from(CompletionConfig(provider=provider, options=options), {})
    assert words in str(caught.value)


def test_off_by_default() -> None:
    """No provider, no model."""
    assert model_from(MemoryConfig().completion, {}) is None


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        ({"provider": "openai"}, "model is not set"),
        ({"provider": "claude"}, "use openai"),
        ({"provider": ":"}, "use openai"),
    ],
)
def test_settings_that_make_no_sense(settings: dict[str, Any], words: str) -> None:
    """Are refused when the configuration is read."""
    with pytest.raises(ValueError, match=words):
        CompletionConfig(**settings)


@pytest.mark.parametrize(
    ("answers", "prices", "words"),
    [
        ([], (1.0, 1.0), None),
        (
            [Completion("", (), 1_000_000, 500_000)],
            (0.5, 2.0),
            "1 request to the model, 1,000,000 tokens in and 500,000 out, cost 1.5000",
        ),
        ([Completion("", (), 10, 5)] * 2, (None, 2.0), "2 requests to the model, 20 tokens in and 10 out"),
        ([Completion("", (), 10, None)], (1.0, 1.0), "1 request to the model, which does not count its tokens"),
    ],
)  # fmt: skip
def test_cost(answers: list[Completion], prices: tuple[float | None, float | None], words: str | None) -> None:
    """In whatever currency the prices are."""
    assert cost_of(answers, *prices) == words
