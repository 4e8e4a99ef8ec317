"""An import beside a running Gateway, which writes what it brings; and stopped there."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import pytest

from contracts import MemorySearch
from openclaw_memory import MemoryConfig
from openclaw_memory.moving.errors import StoppedError
from openclaw_memory.verify import verify_on_disk
from tests.moving.homes import FIXTURES, asked, brought, exported, home, planned
from tests.moving.test_importing import chats

GATEWAY = """
import asyncio, sys
from bus import Gateway
from openclaw_memory import Memory, MemoryConfig

async def main():
    config = MemoryConfig(root=sys.argv[1], timezone="UTC", language="en", heartbeat={"enabled": False})
    async with Gateway() as gateway:
        await gateway.register(Memory(config))
        print("ready", flush=True)
        await asyncio.to_thread(sys.stdin.read)

asyncio.run(main())
"""


@contextmanager
def gateway(config: MemoryConfig) -> Iterator[None]:
    """A Gateway in a process of its own."""
    process = subprocess.Popen(
        [sys.executable, "-c", GATEWAY, str(config.root)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        cwd=Path(__file__).parents[2],
    )
    assert process.stdin is not None
    assert process.stdout is not None
    try:
        assert process.stdout.readline() == b"ready\n"
        yield
    finally:
        process.stdin.close()
        assert process.wait(30) == 0
        process.stdout.close()


def test_beside_a_gateway(tmp_path: Path) -> None:
    """It takes everything; what it holds is known at once, before any file has it; the export has it too."""
    config, other = home(tmp_path / "home"), home(tmp_path / "other")
    brought(other, FIXTURES / "claude")
    with gateway(config):
        brought(config, FIXTURES / "openclaw")
        brought(config, FIXTURES / "chatgpt")
        assert not planned(config, FIXTURES / "chatgpt").changes_anything
        exported(other, tmp_path / "other.jsonl")
        brought(config, tmp_path / "other.jsonl")
        lines = [json.loads(line) for line in exported(config, tmp_path / "out.jsonl") if line]
        said = {one["text"] for one in lines if one["kind"] == "piece"}
        assert {"Which spar for a delta kite?", "the lens is from Fresnel", "Never use tabs"} <= said
    # What was changed less than a second ago is not written over; it waits in the journal.
    long_ago = time.time() - 60
    for path in config.root.rglob("*.md"):
        os.utime(path, (long_ago, long_ago))
    assert not planned(config, FIXTURES / "openclaw").changes_anything
    assert asked(config, MemorySearch(query="delta kite")).results
    assert asked(config, MemorySearch(query="sourdough starter")).results
    assert verify_on_disk(config.memory_folder).attention == 0


def test_stopped_beside_a_gateway(tmp_path: Path) -> None:
    """What the Gateway has stays, among what was said to it meanwhile; the next run brings the rest, once."""
    config = home(tmp_path)
    source = chats(tmp_path / "c.json", [f"m{number}" for number in range(500)])

    def pressed(done: int, total: int) -> None:
        if done > 200:
            raise KeyboardInterrupt

    with gateway(config):
        with pytest.raises(KeyboardInterrupt, match=r"250 items .* stay, .*; run the import again"):
            brought(config, source, progress=pressed)
        assert brought(config, source).written.counts == {"conversation": 250}
    lines = [json.loads(line) for line in exported(config, tmp_path / "out.jsonl") if line]
    said = [one["text"] for one in lines if one["kind"] == "piece"]
    assert said == [f"m{number}" for number in range(500)]


def test_gateway_that_ends_meanwhile(tmp_path: Path) -> None:
    """Nothing is lost, and nothing is there twice."""
    config = home(tmp_path)
    source = chats(tmp_path / "c.json", [f"m{number}" for number in range(700)])
    running = gateway(config)
    running.__enter__()
    ended: list[float] = []

    def end(done: int, total: int) -> None:
        if not ended:
            ended.append(time.monotonic())
            running.__exit__(None, None, None)

    # It goes on in the Gateway's place, or it is told plainly; then a second run finishes it.
    with suppress(StoppedError):
        brought(config, source, progress=end)
    if planned(config, source).changes_anything:
        brought(config, source)
    lines = [json.loads(line) for line in exported(config, tmp_path / "out.jsonl") if line]
    assert [one["text"] for one in lines if one["kind"] == "piece"] == [f"m{number}" for number in range(700)]
