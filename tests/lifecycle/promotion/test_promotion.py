"""Promotion on the bus: what was recalled again and again goes into MEMORY.md, explained, and can be taken back."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path
from typing import Any

import pytest

from contracts import HeartbeatTick, MemoryRead, MemoryWrite, MessageContent, NoteContent
from openclaw_memory.errors import Refused
from tests.support import FaultyFiles, Remembering, no_space, remembering

DAY = 86_400.0
WINDOW = "发布窗口固定在每周四下午三点"
QUIET = {"heartbeat": {"enabled": False}, "history_messages": 2}


async def note(room: Remembering, text: str) -> None:
    written = await room.ask(MemoryWrite(type="note", content=NoteContent(text=f"- {text}"), session_id="s1"))
    assert written.success


async def ask(room: Remembering, query: str, **more: Any) -> Any:
    return await room.ask(MemoryRead(query=query, session_id=more.pop("session_id", "s2"), max_tokens=2000, **more))


async def recalled(room: Remembering, *queries: str) -> None:
    """Recall with each question, a day apart, once the note is no longer loaded anyway."""
    room.clock.advance(3 * DAY)
    for query in queries:
        context = await ask(room, query)
        assert context.recalled, query
        room.clock.advance(DAY)


async def proven(room: Remembering, text: str = WINDOW) -> None:
    await note(room, text)
    await recalled(room, "发布窗口是什么时候", "周四下午几点发布", "每周固定的发布时间")


def memory(room: Remembering) -> str:
    path = room.memory.config.workspace_folder / "MEMORY.md"
    return path.read_text() if path.exists() else ""


def verdict(told: dict[str, Any], text: str = WINDOW) -> dict[str, Any]:
    return next(one for one in told["candidates"] if one["text"] == text)


async def test_preview_then_apply(tmp_path: Path) -> None:
    """A preview changes no file of the workspace; applied, the entry is there with where it is from, once."""
    async with remembering(tmp_path, **QUIET) as room:
        await proven(room)
        shown = await room.memory.promote("preview")
        one = verdict(shown)
        assert one["promoted"], one
        assert one["from"].startswith("workspace/main/memory/2026-05-04.md#")
        assert all(gate["passed"] and gate["has"] and gate["needs"] for gate in one["gates"])
        assert (shown["applied"], shown["keys"], memory(room)) == (False, [], "")
        done = await room.memory.promote("apply")
        await room.flushed()
        assert f"- {WINDOW}\n" in memory(room)
        assert len(done["keys"]) == 1
        again = await room.memory.promote("apply")
        assert again["keys"] == []
        assert memory(room).count(WINDOW) == 1


@pytest.mark.parametrize(
    ("queries", "gate"),
    [
        (("发布窗口是什么时候",), "recalls"),
        (("发布窗口是什么时候",) * 4, "questions"),
    ],
)
async def test_each_gate_says_what_it_lacks(tmp_path: Path, queries: tuple[str, ...], gate: str) -> None:
    """Recalled too seldom, or by one question alone."""
    async with remembering(tmp_path, **QUIET) as room:
        await note(room, WINDOW)
        await recalled(room, *queries)
        one = verdict(await room.memory.promote("preview"))
        assert not one["promoted"]
        failed = [entry["name"] for entry in one["gates"] if not entry["passed"]]
        assert gate in failed
        assert gate in one["why"]


async def test_on_one_day_is_not_enough(tmp_path: Path) -> None:
    async with remembering(tmp_path, **QUIET) as room:
        await note(room, WINDOW)
        room.clock.advance(3 * DAY)
        for query in ("发布窗口是什么时候", "周四下午几点发布", "每周固定的发布时间"):
            await ask(room, query)
        one = verdict(await room.memory.promote("preview"))
        assert [gate["name"] for gate in one["gates"] if not gate["passed"]][:1] == ["days"]


async def test_long_ago_is_not_enough(tmp_path: Path) -> None:
    async with remembering(tmp_path, **QUIET) as room:
        await proven(room)
        room.clock.advance(40 * DAY)
        one = verdict(await room.memory.promote("preview"))
        assert "last recall" in [gate["name"] for gate in one["gates"] if not gate["passed"]]


@pytest.mark.parametrize(
    ("text", "gate"),
    [
        ("今天发布窗口临时改到周四下午三点", "lasting"),
        ("发布窗口固定在每周四下午三点吗?", "statement"),
        (WINDOW + ",补充说明:" + "先演练一遍,再通知大家。" * 40, "length"),
    ],
)
async def test_what_is_no_entry(tmp_path: Path, text: str, gate: str) -> None:
    """However often it is recalled: what is of a day, a question, a story."""
    async with remembering(tmp_path, **QUIET) as room:
        await proven(room, text)
        one = verdict(await room.memory.promote("preview"), text)
        assert gate in [entry["name"] for entry in one["gates"] if not entry["passed"]]
        assert (await room.memory.promote("apply"))["keys"] == []


async def test_what_is_known_is_not_said_twice(tmp_path: Path) -> None:
    """Nor what says nearly the same."""
    async with remembering(tmp_path, **QUIET) as room:
        folder = room.memory.config.workspace_folder
        folder.mkdir(parents=True, exist_ok=True)
        (folder / "MEMORY.md").write_text(f"- {WINDOW}的\n")
        await proven(room)
        one = verdict(await room.memory.promote("preview"))
        assert [gate["name"] for gate in one["gates"] if not gate["passed"]] == ["new"]


async def test_undo(tmp_path: Path) -> None:
    """The entries are as before; what a person wrote meanwhile stays; the same is not promoted again."""
    async with remembering(tmp_path, **QUIET) as room:
        folder = room.memory.config.workspace_folder
        folder.mkdir(parents=True, exist_ok=True)
        (folder / "MEMORY.md").write_text("# 长期记忆\n\n- 手写的一条\n")
        await proven(room)
        await room.memory.promote("apply")
        await room.flushed()
        path = folder / "MEMORY.md"
        path.write_text(path.read_text() + "- 后来手写的一条\n")
        told = await room.memory.promote("undo")
        assert (told["undone"], told["taken_out"]) == (True, [WINDOW])
        await room.flushed()
        assert WINDOW not in memory(room)
        assert "- 手写的一条\n" in memory(room)
        assert "- 后来手写的一条\n" in memory(room)
        assert (await room.memory.promote("apply"))["keys"] == []
        assert (await room.memory.promote("undo"))["undone"] is False


async def test_undo_tells_what_it_did(tmp_path: Path) -> None:
    """An entry that a person has reworded since is theirs: it stays, and is not told as taken out."""
    async with remembering(tmp_path, **QUIET) as room:
        await proven(room)
        await room.memory.promote("apply")
        await room.flushed()
        path = room.memory.config.workspace_folder / "MEMORY.md"
        path.write_text(path.read_text().replace("周四", "周五"))
        told = await room.memory.promote("undo")
        assert (told["undone"], told["taken_out"], told["put_back"]) == (True, [], [])
        await room.flushed()
        assert "周五" in memory(room)


async def test_two_that_undo_at_once(tmp_path: Path) -> None:
    """One of them does; the other is told so."""
    async with remembering(tmp_path, **QUIET) as room:
        await proven(room)
        await room.memory.promote("apply")
        done = await asyncio.gather(*(room.memory.promote("undo") for _ in range(2)), return_exceptions=True)
        assert sorted(isinstance(one, dict) and one["undone"] for one in done) == [False, True]
        other = next(one for one in done if not (isinstance(one, dict) and one["undone"]))
        assert isinstance(other, dict) or "taken back meanwhile" in str(other)
        assert WINDOW not in memory(room)


async def test_a_crash_after_an_apply_and_after_its_undo(tmp_path: Path) -> None:
    """What was answered holds: the entry is there and not promoted again; taken back, it stays away."""
    async with remembering(tmp_path / "one", **QUIET) as room:
        await proven(room)
        await room.memory.promote("apply")
        room.crashed_copy(tmp_path / "two")
        await room.memory.promote("undo")
        room.crashed_copy(tmp_path / "three")
        now = room.clock.now()
    async with remembering(tmp_path / "two", now=now, **QUIET) as room:
        await room.flushed()
        assert memory(room).count(WINDOW) == 1
        assert (await room.memory.promote("apply"))["keys"] == []
        assert (await room.memory.promote("undo"))["taken_out"] == [WINDOW]
    async with remembering(tmp_path / "three", now=now, **QUIET) as room:
        assert (await room.memory.promote("apply"))["keys"] == []
        assert (await room.memory.promote("undo"))["undone"] is False
        await room.flushed()
        assert WINDOW not in memory(room)


async def test_what_a_person_reworded_after_the_preview_is_not_promoted(tmp_path: Path) -> None:
    """The files are looked at before anything is judged."""
    async with remembering(tmp_path, **QUIET) as room:
        await proven(room)
        await room.flushed()
        assert verdict(await room.memory.promote("preview"))["promoted"]
        path = room.memory.config.workspace_folder / "memory/2026-05-04.md"
        path.write_text(path.read_text().replace("周四", "周五"))
        assert (await room.memory.promote("apply"))["keys"] == []
        await room.flushed()
        assert memory(room) == ""


async def test_of_two_that_say_the_same_one_goes_in(tmp_path: Path) -> None:
    """Also when both become ripe with the same run; the other is told why not."""
    async with remembering(tmp_path, **QUIET) as room:
        await note(room, WINDOW)
        await proven(room, WINDOW + "的")
        told = await room.memory.promote("apply")
        assert len(told["keys"]) == 1
        assert ["which goes in with this run" in one["why"] for one in told["candidates"] if not one["promoted"]] == [
            True
        ]


async def test_what_a_person_took_out_does_not_come_back(tmp_path: Path) -> None:
    async with remembering(tmp_path, **QUIET) as room:
        await proven(room)
        await room.memory.promote("apply")
        await room.flushed()
        path = room.memory.config.workspace_folder / "MEMORY.md"
        path.write_text(path.read_text().replace(f"- {WINDOW}\n", ""))
        await recalled(room, "发布窗口是什么时候", "周四下午几点发布")
        assert (await room.memory.promote("apply"))["keys"] == []
        await room.flushed()
        assert WINDOW not in memory(room)


async def test_the_text_before_is_kept(tmp_path: Path) -> None:
    async with remembering(tmp_path, **QUIET) as room:
        folder = room.memory.config.workspace_folder
        folder.mkdir(parents=True, exist_ok=True)
        (folder / "MEMORY.md").write_text("- 手写的一条\n")
        await proven(room)
        await room.memory.promote("apply")
        await room.flushed()
        (one,) = json.loads((room.folder / ".state/memory-revisions.json").read_text()).values()
        assert (one["before"], one["by"]) == ("- 手写的一条\n", "promotion")


async def test_a_full_memory_file(tmp_path: Path) -> None:
    """What is over the budget is not added, and nothing that a person wrote makes room."""
    own = "".join(f"- 手写的第{number}条,说的是别的事情\n" for number in range(40))
    async with remembering(tmp_path, memory_tokens=200, **QUIET) as room:
        folder = room.memory.config.workspace_folder
        folder.mkdir(parents=True, exist_ok=True)
        (folder / "MEMORY.md").write_text(own)
        await proven(room)
        told = await room.memory.promote("apply")
        assert told["keys"] == []
        assert "of 200 tokens" in verdict(told)["why"]
        await room.flushed()
        assert memory(room) == own


async def test_counts_survive_and_are_not_written_with_each_read(tmp_path: Path) -> None:
    """A read writes nothing; closing, a preview and the heartbeat do."""
    async with remembering(tmp_path, **QUIET) as room:
        await note(room, WINDOW)
        await room.flushed()
        room.clock.advance(3 * DAY)
        await ask(room, "发布窗口是什么时候")
        assert room.memory.status().unflushed == {}
    counts = json.loads((tmp_path / "memory/.state/recalls.json").read_text())
    assert WINDOW not in json.dumps(counts, ensure_ascii=False)
    async with remembering(tmp_path, **QUIET) as room:
        room.clock.advance(4 * DAY)
        await ask(room, "周四下午几点发布")
        await room.ask(HeartbeatTick(now=room.clock.now()))
        await room.flushed()
        counts = json.loads((tmp_path / "memory/.state/recalls.json").read_text())
        assert [(one["count"], len(one["questions"]), len(one["days"])) for one in counts.values()] == [(2, 2, 2)]


async def test_moved_lines_are_the_same_piece(tmp_path: Path) -> None:
    """A person who writes above it does not make it another one."""
    async with remembering(tmp_path, **QUIET) as room:
        await proven(room)
        await room.flushed()
        path = room.memory.config.workspace_folder / "memory/2026-05-04.md"
        path.write_text("先写几行别的。\n\n再写几行别的。\n\n" + path.read_text())
        assert verdict(await room.memory.promote("preview"))["promoted"]


async def test_only_the_owners_own(tmp_path: Path) -> None:
    """Not what a group said, nor what is shared, nor what a group asked (case 30)."""
    group = "agent:main:group:7"
    async with remembering(tmp_path, **QUIET) as room:
        said = MessageContent(role="user", content="群里说的:" + WINDOW)
        await room.ask(MemoryWrite(type="conversation", content=said, session_id=group))
        await note(room, WINDOW)
        room.clock.advance(3 * DAY)
        for query in ("发布窗口是什么时候", "周四下午几点发布", "每周固定的发布时间"):
            await ask(room, query, session_id=group)
            await ask(room, query, session_kind="sandbox")
            room.clock.advance(DAY)
        assert (await room.memory.promote("preview"))["candidates"] == []


async def test_what_the_user_said(tmp_path: Path) -> None:
    """A message that is recalled is a candidate like a note; the agent's own answer is none."""
    async with remembering(tmp_path, **QUIET) as room:
        for role, text in (("user", "我决定" + WINDOW), ("assistant", "好的," + WINDOW)):
            said = MessageContent(role=role, content=text)  # type: ignore[arg-type]
            await room.ask(MemoryWrite(type="conversation", content=said, session_id="s1"))
        await recalled(room, "发布窗口是什么时候", "周四下午几点发布", "每周固定的发布时间")
        told = await room.memory.promote("preview")
        assert [one["text"] for one in told["candidates"] if one["promoted"]] == ["我决定" + WINDOW]


async def test_automatic(tmp_path: Path) -> None:
    """Daily, where it is configured, as seed 003 section 26.4.4 has it; else only when asked."""
    async with remembering(tmp_path / "off", **QUIET) as room:
        await proven(room)
        done = await room.ask(HeartbeatTick(now=room.clock.now()))
        assert "promotion" not in [job.name for job in done.jobs]
    async with remembering(tmp_path / "on", promotion={"automatic": True}, **QUIET) as room:
        await proven(room)
        done = await room.ask(HeartbeatTick(now=room.clock.now()))
        job = next(job for job in done.jobs if job.name == "promotion")
        assert (job.outcome, len(job.keys)) == ("done", 1)
    async with remembering(tmp_path / "tier", mode="four_tier", **QUIET) as room:
        assert room.memory.config.promotion.automatic


async def test_a_full_disk(tmp_path: Path) -> None:
    """Nothing is promoted, and nothing marked as promoted."""
    disk = FaultyFiles()
    async with remembering(tmp_path, files=disk, **QUIET) as room:
        await proven(room)
        await room.memory.promote("preview")
        disk.fault = no_space("append", "sync", "create")
        with pytest.raises(Exception, match="failed"):
            await room.memory.promote("apply")
        disk.fault = lambda operation, path: None
        assert len((await room.memory.promote("apply"))["keys"]) == 1


async def test_another_word(tmp_path: Path) -> None:
    async with remembering(tmp_path, **QUIET) as room:
        with pytest.raises(Refused, match="none of preview, apply, undo"):
            await room.memory.promote("everything")
