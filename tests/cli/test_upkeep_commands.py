"""`compact`, `promote`, `history`, `diff` and `restore` as a person and a program see them."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import anyio
import anyio.to_thread
import pytest
from typer.testing import CliRunner, Result

from contracts import MemoryWrite, MessageContent, NoteContent, UpdateFact
from openclaw_memory.cli.app import app
from openclaw_memory.storage.files import LocalFiles
from tests.support import Remembering, remembering

NEEDS_GIT = pytest.mark.skipif(shutil.which("git") is None, reason="the program git is not installed")
ON: dict[str, Any] = {"versioning": {"enabled": True}, "heartbeat": {"enabled": False}}
FACTS = "facts/user-profile.md"


@pytest.fixture(autouse=True)
def _files_are_old(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nobody is just saving them."""
    monkeypatch.setattr(LocalFiles, "age", lambda self, stamp: 60.0)


def run(root: Path, *words: object) -> Result:
    arguments = [*map(str, words), "--root", str(root)]
    return CliRunner().invoke(app, arguments, prog_name="openclaw-memory")


async def run_alone(root: Path, *words: object) -> Result:
    """Run a command, which has an event loop of its own, in a thread."""
    return await anyio.to_thread.run_sync(run, root, *words)


async def run_beside(room: Remembering, *words: object) -> Result:
    """Run a command while the owner's clock goes on, by which it looks into its inbox."""
    async with anyio.create_task_group() as group:

        async def going_on() -> None:
            while True:
                room.clock.advance(0.05)
                await anyio.sleep(0.01)

        group.start_soon(going_on)
        shown = await anyio.to_thread.run_sync(run, room.memory.config.root, *words)
        group.cancel_scope.cancel()
    return shown


async def talked(room: Remembering, count: int = 30) -> None:
    for number in range(count):
        text = f"第{number}句。" + "我们把报表服务拆出来,先看看老接口怎么调用,再决定要不要保留缓存。" * 3
        said = MessageContent(role="assistant" if number % 2 else "user", content=text)
        await room.ask(MemoryWrite(type="conversation", content=said, session_id="s1"))


async def test_compact(tmp_path: Path) -> None:
    """By itself, and by the owner when that runs; nothing to do is told and ends with 1."""
    async with remembering(tmp_path, heartbeat={"enabled": False}) as room:
        await talked(room)
        shown = await run_beside(room, "compact", "s1", "--json")
        told = json.loads(shown.output)
        assert (shown.exit_code, told["dropped"], told["kept"]) == (0, 24, 6)
    few = await run_alone(tmp_path, "compact", "s1", "--window", 200_000)
    assert (few.exit_code, "begins above" in few.output) == (1, True)
    shown = await run_alone(tmp_path, "compact", "s1")
    assert shown.exit_code == 0
    assert shown.output.startswith("2 messages are summed up, 4 stay.\n  conversations/")
    assert (await run_alone(tmp_path, "compact", "s9")).exit_code == 1
    assert (await run_alone(tmp_path, "compact", "s1", "--window", 0)).exit_code == 2


async def test_promote_shows_before_it_does(tmp_path: Path) -> None:
    """Nothing to show ends with 1; both at once is not understood."""
    async with remembering(tmp_path, heartbeat={"enabled": False}) as room:
        note = MemoryWrite(type="note", content=NoteContent(text="- 发布窗口固定在每周四"), session_id="s1")
        await room.ask(note)
        shown = await run_beside(room, "promote", "--json")
        assert (shown.exit_code, json.loads(shown.output)["candidates"]) == (1, [])
    assert "often enough" in (await run_alone(tmp_path, "promote", "--explain")).output
    assert (await run_alone(tmp_path, "promote", "--undo")).output == "There is no promotion to take back.\n"
    assert (await run_alone(tmp_path, "promote", "--apply", "--undo")).exit_code == 2


async def test_promote_explain_apply_undo(tmp_path: Path) -> None:
    """Every gate is shown; what is applied can be taken back; all of it beside the owner."""
    from contracts import MemoryRead

    text = "发布窗口固定在每周四下午三点"
    async with remembering(tmp_path, heartbeat={"enabled": False}, history_messages=2) as room:
        note = MemoryWrite(type="note", content=NoteContent(text=f"- {text}"), session_id="s1")
        await room.ask(note)
        room.clock.advance(3 * 86_400)
        for query in ("发布窗口是什么时候", "周四下午几点发布", "每周固定的发布时间"):
            await room.ask(MemoryRead(query=query, session_id="s2", max_tokens=2000))
            room.clock.advance(86_400)
        explained = await run_beside(room, "promote", "--explain")
        assert explained.exit_code == 0, explained.output
        assert f"+ {text}  " in explained.output
        assert "✓ recalls: 3 (at least 3)" in explained.output
        assert "Nothing was changed" in explained.output
        applied = await run_beside(room, "promote", "--apply")
        assert "1 entries are in MEMORY.md now." in applied.output
        await room.flushed()
        path = room.memory.config.workspace_folder / "MEMORY.md"
        assert text in path.read_text()
        undone = await run_beside(room, "promote", "--undo")
        assert f"- {text}\n" in undone.output
        await room.flushed()
        assert text not in path.read_text()


@NEEDS_GIT
async def test_versions(tmp_path: Path) -> None:
    """Listed, compared, put back, beside the owner or without one."""
    async with remembering(tmp_path, **ON) as room:
        await room.ask(UpdateFact(section="S", key="k", value="Go", session_id="s1"))
    async with remembering(tmp_path, **ON) as room:
        room.clock.advance(86_400)
        await room.ask(UpdateFact(section="S", key="k", value="Rust", session_id="s1"))
    listed = run(tmp_path, "history", FACTS, "--json")
    versions = json.loads(listed.output)["versions"]
    assert [one["time"][:10] for one in versions] == ["2026-05-05", "2026-05-04"]
    assert run(tmp_path, "history", FACTS).output.count("\n") == 2
    assert run(tmp_path, "diff", FACTS).exit_code == 1
    compared = run(tmp_path, "diff", FACTS, "--at", "2026-05-04")
    assert (compared.exit_code, "-- k: Go" in compared.output, "+- k: Rust" in compared.output) == (0, True, True)
    async with remembering(tmp_path, **ON) as room:
        done = await run_beside(room, "restore", FACTS, "--at", "2026-05-04")
        assert (done.exit_code, done.output) == (0, f"{FACTS} is as it was.\n")
        assert "k: Go" in (room.folder / FACTS).read_text()
    again = run(tmp_path, "restore", tmp_path / "memory" / FACTS, "--at", "2026-05-04")
    assert (again.exit_code, again.output) == (0, "It says that already.\n") or "as it was" in again.output
    assert "k: Go" in (tmp_path / "memory" / FACTS).read_text()


@NEEDS_GIT
@pytest.mark.parametrize(
    ("words", "code", "said"),
    [
        (("history", "facts/none.md"), 1, "no version of it"),
        (("history", "/etc/passwd"), 2, "lies neither"),
        (("history", "../../x.md"), 2, "lies neither"),
        (("restore", FACTS, "--at", "1999-01-01"), 1, "no version of it is as old as"),
        (("restore", FACTS, "--at", "soon"), 1, "neither a commit nor a time"),
        (("restore", FACTS), 2, "--at"),
        (("diff", FACTS, "--at", "abcdef99"), 1, "there is no commit"),
    ],
)
async def test_what_there_is_not(tmp_path: Path, words: tuple[str, ...], code: int, said: str) -> None:
    async with remembering(tmp_path, **ON) as room:
        await room.ask(UpdateFact(section="S", key="k", value="Go", session_id="s1"))
    shown = run(tmp_path, *words)
    assert (shown.exit_code, said in shown.output + shown.stderr) == (code, True), shown.output


async def test_no_versions_says_how_to_have_some(tmp_path: Path) -> None:
    async with remembering(tmp_path) as room:
        await room.ask(UpdateFact(section="S", key="k", value="Go", session_id="s1"))
    shown = run(tmp_path, "history", FACTS)
    assert (shown.exit_code, "versioning.enabled" in shown.stderr) == (1, True)
