"""Pointed at a real OpenClaw's workspace, memory works without an import, and writes nothing there that is not its."""

from __future__ import annotations

import os
import shutil
from pathlib import Path
from typing import Any

import pytest

from contracts import HeartbeatTick, MemoryRead, MemorySearch, MemoryWrite
from openclaw_memory.storage.files import LocalFiles
from tests.moving.homes import FIXTURES
from tests.support import START, remembering


def listing(folder: Path) -> dict[str, bytes]:
    return {
        path.relative_to(folder).as_posix(): path.read_bytes() for path in sorted(folder.rglob("*")) if path.is_file()
    }


@pytest.fixture
def real(tmp_path: Path) -> Path:
    """OpenClaw's own folder, as it lies on a disk, some days old."""
    root = tmp_path / "openclaw"
    shutil.copytree(FIXTURES / "openclaw", root)
    for path in root.rglob("*"):
        os.utime(path, (1_777_000_000, 1_777_000_000))
    return root


def write(kind: str, **content: Any) -> MemoryWrite:
    return MemoryWrite(type=kind, content=content, session_id="agent:main:main")


@pytest.mark.parametrize("mode", ["four_layer", "four_tier"])
async def test_nothing_there_that_is_not_understood(real: Path, mode: str) -> None:
    """After reads, a note, an entry, a message and heartbeats: one new daily file, one new line in MEMORY.md."""
    before = listing(real)
    async with remembering(real, mode=mode, files=LocalFiles(), timezone="UTC") as it:
        found = (await it.ask(MemorySearch(query="lens of the lighthouse"))).results
        assert {hit.path.partition("#")[0] for hit in found} & {
            "workspace/main/memory/2026-04-18.md",
            "workspace/main/MEMORY.md",
        }
        assert (await it.ask(MemorySearch(query="Uppsala"))).results[0].path.endswith("2026-04-19-trip.md")
        context = await it.ask(MemoryRead(query="", session_id="agent:main:main", max_tokens=2000))
        assert any("PostgreSQL" in line for line in context.memory)
        for change in (
            write("note", text="the lamp was cleaned", title="Lamp"),
            write("memory", text="the lamp is cleaned on Mondays"),
            write("conversation", role="user", content="hello from here"),
        ):
            assert (await it.ask(change)).success
        it.clock.advance(3 * 86_400)
        await it.ask(HeartbeatTick(now=it.clock.now()))
        await it.flushed()
    after = listing(real)
    new = {path for path in after if path not in before and not path.startswith("memory/")}
    day = f"workspace/memory/{START:%Y-%m-%d}.md"
    # In `four_tier` the session has a file of its own beside OpenClaw's, as OpenClaw would write it.
    own_session = {path for path in new if path.startswith("agents/main/sessions/")}
    assert own_session == ({"agents/main/sessions/agent%3Amain%3Amain.jsonl"} if mode == "four_tier" else set())
    assert new - own_session == {day}
    assert not after[day].startswith(b"---")
    assert b"lamp was cleaned" in after[day]
    changed = {path for path in before if after.get(path) != before[path]}
    assert changed == {"workspace/MEMORY.md"}
    old, now = (held["workspace/MEMORY.md"].decode().split("\n") for held in (before, after))
    added = [line for line in now if line not in old]
    assert "- the lamp is cleaned on Mondays" in added
    assert [line for line in now if line in old or not line] == [line for line in now if line not in added]
    assert all(line in now for line in old)
    assert not [path for path in after if path.startswith("workspace/") and path.endswith((".backup", ".tmp", ".json"))]


async def test_reading_alone_touches_nothing(real: Path) -> None:
    """Neither bytes nor times of OpenClaw's files."""
    before = {path: path.stat().st_mtime_ns for path in real.rglob("*") if path.is_file()}
    async with remembering(real, mode="four_tier", files=LocalFiles()) as it:
        await it.ask(MemorySearch(query="ropes"))
        await it.ask(MemoryRead(query="lens", session_id="agent:main:main", max_tokens=2000))
        await it.ask(HeartbeatTick(now=it.clock.now()))
    assert {path: path.stat().st_mtime_ns for path in before} == before
    assert {path for path in real.rglob("*") if path.is_file()} - before.keys() == {
        path for path in (real / "memory").rglob("*") if path.is_file()
    }
