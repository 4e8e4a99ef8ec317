"""Consolidation with a model: what is stored, and that nothing is marked that was not (cases 26, 27 and 29)."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import yaml

from contracts import HeartbeatTick, MemorySearch, MemoryWrite, MessageContent
from contracts.fields import Role
from openclaw_memory.completion import Completion
from tests.lifecycle.hostile import hostile_answers
from tests.lifecycle.models import no_answer, said, saved, settings, used
from tests.support import FaultyFiles, Remembering, no_space, remembering

ENTRY = "[2026-05-04 14:30] 用户把后端语言换成 Go,工单 DEC-0054 已关闭。"
MEMORY = "# 长期记忆\n\n## 偏好\n\n- 用户用 Go 写后端\n"


async def say(room: Remembering, text: str, role: Role = "user", session: str = "s1", **more: Any) -> str:
    content = MessageContent(role=role, content=text)
    written = await room.ask(MemoryWrite(type="conversation", content=content, session_id=session, **more))
    assert written.success
    return str(written.key)


async def talk(room: Remembering, count: int = 20, start: int = 0, session: str = "s1") -> None:
    for number in range(start, start + count):
        await say(room, f"第{number}句,说说报表的事", "assistant" if number % 2 else "user", session)


async def tick(room: Remembering, minutes: float = 0) -> Any:
    if minutes:
        room.clock.advance(minutes * 60)
    done = await room.ask(HeartbeatTick(now=room.clock.now()))
    return next((job for job in done.jobs if job.name == "consolidation"), None)


def small(answers: list[Any], asked: list[Any] | None = None) -> dict[str, Any]:
    off = {"enabled": False}
    return {"window_size": 20, "heartbeat": off, "summaries": off, **settings(answers, asked)}


async def files(room: Remembering) -> tuple[str, str, dict[str, Any]]:
    """HISTORY.md, MEMORY.md and the pointers."""
    await room.flushed()
    folder = room.memory.config.workspace_folder
    texts = [path.read_text() if path.exists() else "" for path in (folder / "memory/HISTORY.md", folder / "MEMORY.md")]
    state = room.folder / ".state/consolidated.json"
    pointers = json.loads(state.read_text()) if state.exists() else {}
    return texts[0], texts[1], {name: value for name, value in pointers.items() if not name.startswith(" ")}


async def test_a_window_of_messages(tmp_path: Path) -> None:
    """Entry, MEMORY.md and pointer; the newest half of the window waits for more."""
    asked: list[Any] = []
    async with remembering(tmp_path, ids=True, **small([saved(ENTRY, MEMORY)], asked)) as room:
        await talk(room, 19)
        assert (await tick(room)).outcome == "nothing"
        assert asked == []
        await talk(room, 1, 19)
        job = await tick(room)
        assert job.outcome == "done"
        assert "1 request to the model, 100 tokens in and 20 out" in job.message
        history, memory, pointers = await files(room)
        assert ENTRY in history
        assert "- 用户用 Go 写后端" in memory
        assert pointers["s1"]["last"] == "m10"
        shown = asked[0][1]["content"]
        assert "第9句" in shown
        assert "第10句" not in shown
        assert (await tick(room)).outcome == "nothing"
        assert len(asked) == 1
        found = await room.ask(MemorySearch(query="DEC-0054"))
        assert found.results[0].layer == "history"


async def test_after_a_restart_nothing_is_asked_twice(tmp_path: Path) -> None:
    """The pointer is where it was put, and the next batch begins behind it."""
    asked: list[Any] = []
    async with remembering(tmp_path, **small([saved(ENTRY, MEMORY)], asked)) as room:
        await talk(room, 30)
        await tick(room)
    async with remembering(tmp_path, **small([saved(ENTRY, MEMORY)], asked)) as room:
        assert (await tick(room, 1)).outcome == "nothing"
        await talk(room, 10, 30)
        await tick(room)
        history, _, _ = await files(room)
        assert history.count(ENTRY) == 2
    lines = [line for request in asked for line in request[1]["content"].split("\n") if line.startswith("[2026")]
    assert len(lines) == len(set(lines)) == 30


def hostile() -> list[Any]:
    path = Path(__file__).with_name("hostile.yaml")
    return list(yaml.safe_load(path.read_text()))


def hostile_answer(case: dict[str, Any]) -> Any:
    match case:
        case {"text": text}:
            return said(text)
        case {"raises": str(text)}:
            return {"completion": no_answer(), "value": ValueError(text)}.get(text, RuntimeError(text))
        case {"arguments": arguments}:
            return used(arguments, case.get("tool", "save_memory"))
        case {"gives": value}:
            return value
        case {"saved": values}:
            return saved(*values[:2], **(values[2] if len(values) > 2 else {}))
        case {"long": [name, count]}:
            return saved(*(["x。" * count, MEMORY] if name == "history_entry" else [ENTRY, "- x\n" * count]))
        case {"twice": True}:
            one = saved(ENTRY, MEMORY).tool_uses[0]
            return Completion("", (one, one))
    raise AssertionError(case)


async def test_hostile_answers_case_26(tmp_path: Path) -> None:
    """Nothing is marked that was not stored, no word is lost, and a good answer later does it, once."""
    cases = [(str(case["title"]), hostile_answer(case)) for case in hostile()]
    cases += [(case.name, case.value) for case in hostile_answers()]
    assert len(cases) >= 80
    answers: list[Any] = [cases[0][1]]
    async with remembering(tmp_path, **small(answers)) as room:
        start = "# 长期记忆\n\n- 一\n- 二\n- 三\n- 四\n"
        folder = room.memory.config.workspace_folder
        folder.mkdir(parents=True, exist_ok=True)
        (folder / "MEMORY.md").write_text(start)
        await talk(room)
        for title, answer in cases:
            answers[:] = [answer]
            job = await tick(room, 7 * 60)
            assert (job.outcome, bool(job.message)) == ("failed", True), (title, job)
            assert await files(room) == ("", start, {}), title
        assert len((await room.ask(MemorySearch(query="报表", max_results=50))).results) == 20
        answers[:] = [saved(ENTRY, start + "- 五五\n")]
        job = await tick(room, 7 * 60)
        assert job.outcome == "done", job
        history, memory, pointers = await files(room)
        assert history.count("DEC-0054") == 1
        assert memory == start + "- 五五\n"
        assert list(pointers) == ["s1"]


async def test_a_failing_model_is_left_alone_for_a_while(tmp_path: Path) -> None:
    """Longer each time, up to some hours: a model that is down costs nothing."""
    asked: list[Any] = []
    async with remembering(tmp_path, **small([no_answer()], asked)) as room:
        await talk(room)
        for _ in range(60):
            await tick(room, 1)
        assert len(asked) == 3


async def test_a_second_try_within_a_run(tmp_path: Path) -> None:
    """The model is told what was wrong; what it then hands in is taken."""
    asked: list[Any] = []
    async with remembering(tmp_path, **small([said("好的"), saved(ENTRY, MEMORY)], asked)) as room:
        await talk(room)
        assert (await tick(room)).outcome == "done"
        assert "save_memory" in asked[1][-1]["content"]


async def test_a_quarter_case_27(tmp_path: Path) -> None:
    """Of eight entries two may go; three are too many, and then nothing changes, nor is anything marked."""
    eight = [f"- 第{name}条:{text}" for name, text in enumerate(("茶", "船", "山", "云", "海", "雪", "火", "灯"))]

    async def with_entries(root: Path, answers: list[Any], asked: list[Any] | None = None) -> Any:
        first = saved(ENTRY, "\n".join(["## 偏好", "", *eight]))
        async with remembering(root, **small([first, *answers], asked)) as room:
            await talk(room)
            assert (await tick(room)).outcome == "done"
            await talk(room, 20, 20)
            job = await tick(room)
            return job, await files(room)

    job, (_, memory, _) = await with_entries(tmp_path / "two", [saved(ENTRY, "\n".join(eight[2:]))])
    assert job.outcome == "done"
    assert "茶" not in memory
    assert "山" in memory
    revisions = json.loads((tmp_path / "two/memory/.state/memory-revisions.json").read_text())
    assert all(line in revisions["000002"]["before"] for line in eight)
    job, (history, memory, _) = await with_entries(tmp_path / "three", [saved(ENTRY, "\n".join(eight[3:]))])
    assert job.outcome == "failed"
    assert "would drop 3 of 8" in job.message
    assert all(line in memory for line in eight)
    assert history.count("DEC-0054") == 1


async def test_what_a_person_wrote_stays(tmp_path: Path) -> None:
    """Whatever the model leaves out or rewords."""
    own = "# 长期记忆\n\n手写的一段话,不在列表里。\n\n- 我自己写的一条:不吃香菜\n- 甲\n- 乙\n- 丙\n"
    update = "- 我自己写的一条:什么都吃\n- 甲\n- 乙\n- 丙\n- 用户用 Go 写后端\n"
    async with remembering(tmp_path, **small([saved(ENTRY, update)])) as room:
        folder = room.memory.config.workspace_folder
        folder.mkdir(parents=True, exist_ok=True)
        (folder / "MEMORY.md").write_text(own)
        await talk(room)
        assert (await tick(room)).outcome == "done"
        _, memory, _ = await files(room)
        assert own.strip() in memory
        assert "用户用 Go 写后端" in memory


async def test_reworded_entries_of_ours(tmp_path: Path) -> None:
    """One with most of the same words takes the place of the old one: it is no loss."""
    second = saved(ENTRY, "- user writes the backend in Rust now\n")
    answers = [saved(ENTRY, "- user writes the backend in Go now\n"), second]
    async with remembering(tmp_path, **small(answers)) as room:
        await talk(room)
        await tick(room)
        await talk(room, 20, 20)
        assert (await tick(room)).outcome == "done"
        _, memory, _ = await files(room)
        assert "Rust" in memory
        assert "Go now" not in memory


async def test_own_output_is_no_source_case_29(tmp_path: Path) -> None:
    """Summaries, what a memory tool brought, recalled sections within a message, and what came from outside."""
    from openclaw_memory.context.prompt_words import WORDS

    recalled = f"## {WORDS['zh'].recalled}\n{WORDS['zh'].data}\n```\n- 2026-05-01 notes: 旧闻甲\n```\n\n真正的问题"
    asked: list[Any] = []
    async with remembering(tmp_path, **small([saved(ENTRY, MEMORY)], asked)) as room:
        await say(room, recalled)
        await say(room, "[历史摘要] 旧闻乙", "system", origin="system")
        result = MessageContent(role="tool", content="旧闻丙", metadata={"name": "memory_search"})  # type: ignore[arg-type]
        await room.ask(MemoryWrite(type="conversation", content=result, session_id="s1"))
        await say(room, "旧闻丁", origin="untrusted")
        await talk(room, 20)
        await tick(room)
        shown = asked[0][1]["content"]
        assert "真正的问题" in shown
        assert "旧闻" not in shown


async def test_only_the_owners_own_sessions(tmp_path: Path) -> None:
    """What a group said never gets into MEMORY.md (case 30)."""
    asked: list[Any] = []
    async with remembering(tmp_path, **small([saved(ENTRY, MEMORY)], asked)) as room:
        await talk(room, 30, session="agent:main:group:7")
        await talk(room, 30, session="subagent:4")
        assert (await tick(room)).outcome == "nothing"
        assert asked == []


async def test_a_full_disk(tmp_path: Path) -> None:
    """All of entry, memory and pointer, or none."""
    disk = FaultyFiles()
    async with remembering(tmp_path, files=disk, **small([saved(ENTRY, MEMORY)])) as room:
        await talk(room)
        await tick(room)
        await talk(room, 20, 20)
        disk.fault = no_space("append", "sync", "create")
        done = await room.ask(HeartbeatTick(now=room.clock.now()))
        assert any(job.outcome == "failed" for job in done.jobs)
        disk.fault = lambda operation, path: None
        assert (await tick(room, 60)).outcome == "done"
        history, _, _ = await files(room)
        assert history.count("DEC-0054") == 2


async def test_without_a_model_in_history_mode(tmp_path: Path) -> None:
    """The main sentences are the entry; MEMORY.md is left alone, and every word is in HISTORY.md anyway."""
    async with remembering(tmp_path, mode="history", window_size=20, heartbeat={"enabled": False}) as room:
        await say(room, "我决定订单都存进 PostgreSQL。")
        await talk(room, 25)
        job = await tick(room)
        assert job.outcome == "done"
        history, memory, pointers = await files(room)
        assert "PostgreSQL" in next(line for line in history.split("\n") if "role=system" in line)
        assert memory == ""
        assert list(pointers) == ["s1"]


async def test_without_either_there_is_no_job(tmp_path: Path) -> None:
    async with remembering(tmp_path, window_size=20, heartbeat={"enabled": False}) as room:
        await talk(room, 30)
        assert await tick(room) is None


async def test_edited_while_the_model_thinks(tmp_path: Path) -> None:
    """What a person saved meanwhile stays, and what they took out does not come back by it."""
    folder = tmp_path / "workspace/main"
    folder.mkdir(parents=True)
    path = folder / "MEMORY.md"
    path.write_text("- 甲\n- 乙\n- 丙\n- 丁\n")

    def edits(messages: Any) -> Completion:
        path.write_text("- 甲\n- 丙\n- 丁\n- 刚刚手写的\n")
        return saved(ENTRY, "- 甲\n- 乙\n- 丙\n- 丁\n- 用户用 Go 写后端\n")

    async with remembering(tmp_path, **small([edits])) as room:
        await talk(room)
        assert (await tick(room)).outcome == "done"
        await room.flushed()
        lines = path.read_text().split("\n")
        assert "- 刚刚手写的" in lines
        assert "- 乙" not in lines
        assert "- 用户用 Go 写后端" in lines


async def test_a_crash_after_it(tmp_path: Path) -> None:
    """Entry, memory and pointer come back from the journal together, and the batch is not asked about again."""
    asked: list[Any] = []
    async with remembering(tmp_path / "live", **small([saved(ENTRY, MEMORY)], asked)) as room:
        await talk(room)
        await tick(room)
        room.crashed_copy(tmp_path / "crashed")
    async with remembering(tmp_path / "crashed", **small([saved(ENTRY, MEMORY)], asked)) as room:
        history, memory, pointers = await files(room)
        assert history.count("DEC-0054") == 1
        assert "用户用 Go 写后端" in memory
        assert list(pointers) == ["s1"]
        assert (await tick(room)).outcome == "nothing"
        assert len(asked) == 1
