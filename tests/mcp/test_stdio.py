"""The command as clients run it: a process that speaks the protocol on its standard streams, and nothing else."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import anyio
import pytest
from hypothesis import given
from hypothesis import strategies as st
from mcp import Client, StdioServerParameters

from bus import Gateway
from contracts import MemorySearch, MemoryWrite
from openclaw_memory import Memory, MemoryConfig
from openclaw_memory.mcp.stdio import lines_of, whole_characters
from openclaw_memory.storage.rootlock import RootLock
from tests.mcp.conftest import text_of

PROJECT = Path(__file__).parent.parent.parent
ENVIRONMENT = {
    "PATH": os.environ["PATH"],
    "LANG": "C.UTF-8",
    "PYTHONPATH": str(PROJECT),
    "OPENCLAW_MEMORY_TIMEZONE": "Asia/Shanghai",
}


def command(root: Path, *more: str) -> list[str]:
    (root / "memory").mkdir(exist_ok=True)
    return [sys.executable, "-m", "openclaw_memory.cli", "mcp", "--root", str(root), *more]


def parameters(root: Path, *more: str) -> StdioServerParameters:
    program, *arguments = command(root, *more)
    return StdioServerParameters(command=program, args=arguments, env=ENVIRONMENT)


@contextmanager
def process(root: Path, *more: str) -> Iterator[subprocess.Popen[bytes]]:
    """Run the command with pipes, and see to it that it is gone afterwards."""
    with subprocess.Popen(
        command(root, *more),
        env=ENVIRONMENT,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    ) as running:
        try:
            yield running
        finally:
            running.kill()


def send(running: subprocess.Popen[bytes], *messages: Any) -> None:
    """Write messages, one a line; bytes as they are."""
    assert running.stdin is not None
    for message in messages:
        line = message if isinstance(message, bytes) else json.dumps(message).encode()
        running.stdin.write(line + b"\n")
    running.stdin.flush()


def answer(running: subprocess.Popen[bytes]) -> Any:
    """Read the next line of the protocol."""
    assert running.stdout is not None
    return json.loads(running.stdout.readline())


def call(number: int, tool: str, **arguments: Any) -> dict[str, Any]:
    params = {"name": tool, "arguments": arguments}
    return {"jsonrpc": "2.0", "id": number, "method": "tools/call", "params": params}


HELLO: Sequence[Any] = (
    {
        "jsonrpc": "2.0",
        "id": 0,
        "method": "initialize",
        "params": {
            "protocolVersion": "2025-06-18",
            "capabilities": {},
            "clientInfo": {"name": "test", "version": "1"},
        },
    },
    {"jsonrpc": "2.0", "method": "notifications/initialized"},
)


async def test_two_clients_and_a_gateway(tmp_path: Path) -> None:
    """Each client has a process of its own; both work beside a Gateway, which writes for them, and see it all."""
    (tmp_path / "memory").mkdir()
    async with Gateway() as gateway:
        await gateway.register(Memory(MemoryConfig(root=tmp_path, watch=False)))
        said = {"role": "user", "content": "the zeppelin lands at noon"}
        await gateway.bus.request(MemoryWrite(type="conversation", content=said, session_id="s1"), timeout=30)
        async with Client(parameters(tmp_path)) as one, Client(parameters(tmp_path), mode="legacy") as other:
            assert "lands at noon" in text_of(await one.call_tool("memory_search", {"query": "zeppelin"}))
            stored = await one.call_tool("remember", {"text": "The walrus sleeps"})
            assert text_of(stored).startswith("Stored: workspace/main/MEMORY.md#")
            assert "walrus sleeps" in text_of(await other.call_tool("memory_search", {"query": "walrus"}))
            found = await gateway.bus.request(MemorySearch(query="walrus"), timeout=30)
            assert [hit.path for hit in found.results] == ["workspace/main/MEMORY.md"]


@pytest.mark.parametrize("way", ["end", "SIGTERM", "SIGINT"])
def test_ends_cleanly(tmp_path: Path, way: str) -> None:
    """When the client closes its end or a signal comes: exit code 0, all in its file, no lock held."""
    with process(tmp_path) as running:
        send(running, *HELLO, call(1, "remember", text="The zeppelin lands"))
        assert answer(running)["result"]["serverInfo"]["name"] == "openclaw-memory"
        assert answer(running)["result"]["isError"] is False
        if way == "end":
            assert running.stdin is not None
            running.stdin.close()
        else:
            running.send_signal(getattr(signal, way))
        assert running.wait(timeout=30) == 0
        assert running.stdout is not None
        assert running.stderr is not None
        assert (running.stdout.read(), running.stderr.read()) == (b"", b"")
    assert "The zeppelin lands" in (tmp_path / "workspace" / "main" / "MEMORY.md").read_text()
    lock = RootLock(tmp_path / "memory")
    lock.acquire()
    lock.release()


def test_client_that_is_gone(tmp_path: Path) -> None:
    """Nobody reads the answer: the server ends, what it was asked to store is stored."""
    with process(tmp_path) as running:
        send(running, *HELLO)
        answer(running)
        assert running.stdout is not None
        running.stdout.close()
        send(running, call(1, "remember", text="The zeppelin lands"))
        assert running.stdin is not None
        running.stdin.close()
        assert running.wait(timeout=30) == 0
        assert running.stderr is not None
        assert b"Traceback" not in running.stderr.read()
    assert "The zeppelin lands" in (tmp_path / "workspace" / "main" / "MEMORY.md").read_text()


def test_malformed_lines(tmp_path: Path) -> None:
    """What is no message is passed over; what is one and can't be done is answered; the server goes on."""
    with process(tmp_path) as running:
        send(running, *HELLO)
        assert answer(running)["id"] == 0
        for line in (b"", b"{", b"null", b"[]", b'"x"', b"\xff\xfe\x00", b"[" * 100_000, b'{"jsonrpc": "2.0"}'):
            send(running, line)
        send(running, {"jsonrpc": "2.0", "id": 1, "method": "no/such"})
        send(running, {"jsonrpc": "2.0", "id": 2, "method": "tools/call", "params": {"name": 7}})
        send(running, call(3, "memory_search", query="q" * 5_000_000))
        send(running, call(4, "task_list"))
        cut = call(5, "remember", text="The zeppelin HALF lands \0 at noon")
        send(running, json.dumps(cut).replace("HALF", "\\ud83d").encode())
        answers = {told["id"]: told for told in (answer(running) for _ in range(5))}
        assert "error" in answers[1]
        assert "error" in answers[2]
        assert "query: " in answers[3]["result"]["content"][0]["text"]
        assert len(json.dumps(answers[3])) < 2_000
        assert answers[4]["result"]["content"][0]["text"] == "No task is open."
        assert "became U+FFFD" in answers[5]["result"]["content"][0]["text"]
        send(running, call(6, "memory_search", query="zeppelin"))
        assert "The zeppelin \ufffd lands \ufffd at noon" in answer(running)["result"]["content"][0]["text"]


def test_address_is_printed(tmp_path: Path) -> None:
    """With `--http` the first line is the address; Ctrl-C ends it with 0."""

    async def ask(url: str) -> str:
        async with Client(url) as client:
            return text_of(await client.call_tool("task_list", {}))

    with process(tmp_path, "--http", "--port", "0") as running:
        assert running.stdout is not None
        url = running.stdout.readline().decode().strip()
        assert anyio.run(ask, url) == "No task is open."
        running.send_signal(signal.SIGINT)
        assert running.wait(timeout=30) == 0
        assert running.stderr is not None
        assert running.stderr.read() == b""


@given(st.text(st.sampled_from(["a", "\\", '"', "\ud83d", "\ude00", "😀", "\n", "/", "u"]), max_size=12))
def test_half_characters(text: str) -> None:
    """Whatever a JavaScript program sends arrives, with U+FFFD for each half; all else is as it was."""
    line = json.dumps({"text": text})
    whole = text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    arrived = json.loads(whole_characters(line))["text"]
    assert len(arrived.encode("utf-16-le")) == len(text.encode("utf-16-le", "surrogatepass"))
    assert arrived.replace("\ufffd", "") == whole.replace("\ufffd", "")
    assert whole_characters(whole_characters(line)) == whole_characters(line)


async def test_lines_of_a_pipe() -> None:
    """Whole lines, however they come in pieces; the last one may be open."""
    inside, outside = os.pipe()
    seen: list[str] = []

    async def read() -> None:
        seen.extend([line async for line in lines_of(inside)])

    async with anyio.create_task_group() as group:
        group.start_soon(read)
        for piece in (b"a", b"b\nc", b"\n\n", "字".encode()[:1], "字".encode()[1:], b"x" * 60_000, b"\nend"):
            os.write(outside, piece)
            await anyio.wait_all_tasks_blocked()
        os.close(outside)
    os.close(inside)
    assert seen == ["ab", "c", "", "字" + "x" * 60_000, "end"]


async def test_lines_of_a_file(tmp_path: Path) -> None:
    """The input may be a file."""
    (tmp_path / "in").write_text("a\nb\n")
    descriptor = os.open(tmp_path / "in", os.O_RDONLY)
    assert [line async for line in lines_of(descriptor)] == ["a", "b"]
    os.close(descriptor)


async def test_waiting_for_a_line_can_be_cancelled() -> None:
    """Which a thread that reads could not."""
    inside, outside = os.pipe()
    with anyio.move_on_after(0) as scope:
        async for _ in lines_of(inside):
            raise AssertionError
    assert scope.cancelled_caught
    os.close(inside)
    os.close(outside)
