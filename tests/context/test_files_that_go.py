"""Files that go away, or turn into something else, while a context is put together: the rest comes all the same."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from contracts import MemoryContext, MemoryRead, MemoryWrite
from openclaw_memory.layers.sessions import MAX_BYTES
from openclaw_memory.storage.files import LocalFiles
from openclaw_memory.storage.stamps import Stamp
from tests.support import remembering
from tests.test_workspace import put

FILES = {"MEMORY.md": "- kept: m\n", "memory/2026-05-04.md": "- kept: n\n", "memory/2026-05-03.md": "- before\n"}


def gone(path: Path) -> None:
    path.unlink()


def turned_into_a_folder(path: Path) -> None:
    path.unlink()
    path.mkdir()


def grown_beyond_measure(path: Path) -> None:
    with path.open("ab") as file:
        file.truncate(52_428_801)


def overwritten_with_bytes(path: Path) -> None:
    path.write_bytes(b"\x80\xff\0\0binary" * 64)


class Meddled(LocalFiles):
    """Something happens to a file the moment before it is read."""

    def __init__(self, name: str, happens: Callable[[Path], None]) -> None:
        super().__init__()
        self._name, self._happens = name, happens
        self.happened = False

    async def read(self, path: Path) -> tuple[bytes, Stamp]:
        if path.as_posix().endswith(self._name) and not self.happened:
            self.happened = True
            self._happens(path)
        return await super().read(path)


@pytest.mark.parametrize("happens", [gone, turned_into_a_folder, grown_beyond_measure, overwritten_with_bytes])
@pytest.mark.parametrize("name", ["workspace/main/MEMORY.md", "workspace/main/memory/2026-05-04.md"])
async def test_a_file_that_changes_while_it_is_loaded(
    tmp_path: Path, name: str, happens: Callable[[Path], None]
) -> None:
    """Its part is missing and told, if there is still a file of that name; every other part comes."""
    put(tmp_path, FILES)
    files = Meddled(name, happens)
    async with remembering(tmp_path, files=files) as it:
        context = await it.ask(MemoryRead(query="", session_id="s1", max_tokens=4_000))
        assert isinstance(context, MemoryContext)
        assert files.happened
        told = "\n".join([*context.memory, *context.notes])
        assert "before" in told
        assert ("kept: n" if name.endswith("MEMORY.md") else "kept: m") in told
        assert ("kept: m" if name.endswith("MEMORY.md") else "kept: n") not in told
        assert context.degraded == (happens is not gone)
        assert (name in (context.notice or "")) == (happens is not gone)


def line(number: int, text: str) -> str:
    return json.dumps({"role": "user", "content": text, "timestamp": f"2026-05-04T05:{number:02}:00Z"}) + "\n"


@pytest.mark.parametrize("read_by", ["owner", "guest"])
async def test_a_session_file_above_fifty_megabytes(tmp_path: Path, read_by: str) -> None:
    """The newest part is the history, what is said now follows it, and the notice tells."""
    path = tmp_path / "agents/main/sessions/s1.jsonl"
    path.parent.mkdir(parents=True)
    filler = line(0, "old " + "x" * 1_000_000)
    with path.open("w", encoding="utf-8") as file:
        file.writelines(filler for _ in range(MAX_BYTES // len(filler) + 1))
        file.writelines(line(number, f"newest {number}") for number in range(12))
    size = path.stat().st_size
    async with remembering(tmp_path, mode="four_tier") as owner, remembering(tmp_path, mode="four_tier") as guest:
        it = owner if read_by == "owner" else guest
        said = {"role": "user", "content": "and now this"}
        written = await owner.ask(MemoryWrite(type="conversation", content=said, session_id="s1"))
        assert written.success
        context = await it.ask(MemoryRead(query="", session_id="s1", max_tokens=4_000))
        contents = [message.content for message in context.history]
        assert contents[-9:] == [*(f"newest {number}" for number in range(4, 12)), "and now this"][-9:]
        assert "its newest part is read" in (context.notice or "")
        assert context.degraded
    assert path.stat().st_size == size
