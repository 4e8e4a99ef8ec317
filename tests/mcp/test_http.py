"""The server at an address of this machine: several clients at once, huge bodies, an end that waits for nobody."""

from __future__ import annotations

import asyncio
import json
import re
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import anyio
import httpx2
import pytest
from mcp import Client

from contracts import MemoryRead
from openclaw_memory.mcp.caller import Caller
from openclaw_memory.mcp.errors import NotLoopbackError
from openclaw_memory.mcp.http import MAX_BODY_BYTES, listen, serve_http, url_of
from openclaw_memory.mcp.server import server_of
from tests.mcp.conftest import text_of
from tests.support import Remembering, remembering


class Site:
    """A running server."""

    def __init__(self, it: Remembering, url: str, stop: anyio.Event) -> None:
        self.it, self.url, self.stop = it, url, stop


@asynccontextmanager
async def site(root: Path) -> AsyncIterator[Site]:
    """Serve a memory at a port that the system chose, until the block ends."""
    async with remembering(root) as it:
        server = server_of(it.bus, it.memory.documents, it.memory.config, Caller())
        stop, listening = anyio.Event(), listen("127.0.0.1", 0)
        async with anyio.create_task_group() as group:
            group.start_soon(serve_http, server, listening, stop)
            yield Site(it, url_of(listening), stop)
            stop.set()


@pytest.mark.parametrize("mode", ["auto", "legacy"])
async def test_several_clients_at_once(tmp_path: Path, mode: str) -> None:
    """Each remembers and finds; all of it is there, and what one wrote another sees at once."""

    async def work(name: str) -> None:
        async with Client(where.url, mode=mode) as client:
            for number in range(5):
                words = f"client {name} saw bird number {number}"
                result = await client.call_tool("remember", {"text": words, "section": name})
                assert not result.is_error, result
                assert words in text_of(await client.call_tool("memory_search", {"query": words, "maxResults": 50}))

    async with site(tmp_path) as where:
        await asyncio.gather(*map(work, "abcde"))
        async with Client(where.url, mode=mode) as one, Client(where.url, mode=mode) as other:
            await one.call_tool("update_fact", {"section": "S", "key": "k", "value": "walrus"})
            assert "walrus" in text_of(await other.call_tool("memory_search", {"query": "walrus"}))
        context = await where.it.ask(MemoryRead(query="", session_id="s", max_tokens=100_000))
        told = "\n".join(context.memory)
        assert all(f"client {name} saw bird number {number}" in told for name in "abcde" for number in range(5))


async def post(url: str, body: bytes, **headers: str) -> httpx2.Response:
    """Send what no well-meaning client would."""
    kept = {"Content-Type": "application/json", "Accept": "application/json, text/event-stream", **headers}
    async with httpx2.AsyncClient() as web:
        return await web.post(url, content=body, headers=kept)


def call(number: int, **arguments: Any) -> bytes:
    params = {"name": "memory_search", "arguments": arguments}
    return json.dumps({"jsonrpc": "2.0", "id": number, "method": "tools/call", "params": params}).encode()


MALFORMED = [
    b"",
    b"{",
    b"null",
    b"[]",
    b'"x"',
    b"\xff\xfe\x00",
    b'{"jsonrpc": "1.0", "id": 1, "method": "tools/list"}',
    b'{"jsonrpc": "2.0", "id": 1}',
    b'{"jsonrpc": "2.0", "id": 1, "method": "no/such"}',
    b'{"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": 7}}',
    b'{"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": []}',
    b"[" * 100_000,
    call(1, query="q" * (MAX_BODY_BYTES + 1)),
]


async def test_malformed_requests(tmp_path: Path) -> None:
    """A client's fault is the client's, in words; and the server goes on for the others."""
    async with site(tmp_path) as where:
        for body in MALFORMED:
            answer = await post(where.url, body)
            assert 400 <= answer.status_code < 500 or "error" in answer.json(), body[:80]
        async with Client(where.url) as client:
            assert text_of(await client.call_tool("task_list", {})) == "No task is open."


@pytest.mark.parametrize("half", [b"\\ud83d", b"\\uDE00", b"\xf0\x9f", b"\xed\xa0\xbd"])
@pytest.mark.parametrize("blanks", [0, 100_000])
async def test_half_an_emoji_is_mended(tmp_path: Path, half: bytes, blanks: int) -> None:
    """As over the standard streams: the rest is kept, whole characters and what only looks like a half."""
    text = "HALF 😀 C:\\users\\ud83d is text"
    params = {"name": "remember", "arguments": {"text": text}}
    body = json.dumps({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params}).encode()
    async with site(tmp_path) as where:
        answer = await post(where.url, b" " * blanks + body.replace(b"HALF", half))
        assert answer.status_code == 200, answer.text
        assert not answer.json()["result"]["isError"], answer.text
    assert re.sub(r"\ufffd+", "HALF", (tmp_path / "workspace/main/MEMORY.md").read_text()).endswith(f"- {text}\n")


async def test_a_body_in_pieces(tmp_path: Path) -> None:
    """Put together, with a half that was cut between two of them; one without an end is refused at the limit."""

    async def pieces(body: bytes, size: int) -> AsyncIterator[bytes]:
        for start in range(0, len(body), size):
            yield body[start : start + size]

    async def endless() -> AsyncIterator[bytes]:
        yield b'{"a": "'
        for _ in range(MAX_BODY_BYTES // 1_000_000 + 2):
            yield b"x" * 1_000_000

    headers = {"Content-Type": "application/json", "Accept": "application/json, text/event-stream"}
    async with site(tmp_path) as where, httpx2.AsyncClient() as web:
        body = call(1, query="HALF").replace(b"HALF", b"\\ud800")
        answer = await web.post(where.url, content=pieces(body, 3), headers=headers)
        assert (answer.status_code, "error" in answer.json()) == (200, False)
        assert (await web.post(where.url, content=endless(), headers=headers)).status_code == 413


async def test_pages_of_other_sites_are_refused(tmp_path: Path) -> None:
    """A page in the user's browser must not reach the memory, by its own origin or by a name that it points here."""
    async with site(tmp_path) as where:
        body = call(1, query="x")
        assert (await post(where.url, body, Origin="https://evil.example")).status_code == 403
        assert (await post(where.url, body, Host="evil.example")).status_code == 421


async def test_there_is_no_stream_of_news(tmp_path: Path) -> None:
    """It would keep the server from ending; clients take the refusal as the protocol has it."""
    async with site(tmp_path) as where, httpx2.AsyncClient() as web:
        answer = await web.get(where.url, headers={"Accept": "text/event-stream"})
        assert (answer.status_code, answer.headers["Allow"]) == (405, "POST, DELETE")
        assert (await web.get(where.url.replace("/mcp", "/other"))).status_code == 404


@pytest.mark.parametrize("mode", ["auto", "legacy"])
async def test_ends_while_clients_are_connected(tmp_path: Path, mode: str) -> None:
    """Nobody who is only connected keeps it from ending, and its address is free again."""
    ended: list[str] = []

    async def connected(where: Site, ready: anyio.Event) -> None:
        async with Client(where.url, mode=mode) as client:
            ended.append(text_of(await client.call_tool("task_list", {})))
            ready.set()
            await anyio.sleep_forever()

    async with anyio.create_task_group() as group:
        async with site(tmp_path) as where:
            ready = anyio.Event()
            group.start_soon(connected, where, ready)
            await ready.wait()
        group.cancel_scope.cancel()
    assert ended == ["No task is open."]


@pytest.mark.parametrize("host", ["0.0.0.0", "::", "192.168.1.5", "example.org", "", "127.0.0.1.evil.example"])
def test_addresses_that_others_could_reach(host: str) -> None:
    """Refused, with the reason and the way round."""
    with pytest.raises(NotLoopbackError, match="without a password"):
        listen(host, 0)


@pytest.mark.parametrize(("host", "shown"), [("127.0.0.1", "127.0.0.1"), ("localhost", "127.0.0.1"), ("::1", "[::1]")])
def test_addresses_of_this_machine(host: str, shown: str) -> None:
    """Told as clients take them."""
    try:
        listening = listen(host, 0)
    except OSError:
        pytest.skip(f"this machine has no {host}")
    with listening:
        assert url_of(listening) == f"http://{shown}:{listening.getsockname()[1]}/mcp"
