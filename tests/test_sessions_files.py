"""Sessions in files of their own (`mode: four_tier`), and the complete history (`mode: history`)."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from contracts import MemoryRead, MemorySearch, MemoryWrite
from tests.support import Remembering, remembering

GROUP = "agent:main:group:42"


def say(content: str, session: str = "s1", role: str = "user", **more: Any) -> MemoryWrite:
    return MemoryWrite(type="conversation", content={"role": role, "content": content}, session_id=session, **more)


def sessions(root: Path) -> Path:
    return root / "agents/main/sessions"


def lines(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


async def history(it: Remembering, session: str = "s1", **more: Any) -> list[str]:
    context = await it.ask(MemoryRead(query="", session_id=session, max_tokens=100_000, **more))
    return [message.content for message in context.history]


async def found(it: Remembering, query: str, **more: Any) -> list[str]:
    """Give the files of the hits that hold a word of the query, in which no text comes twice."""
    results = (await it.ask(MemorySearch(query=query, **more))).results
    assert len({result.snippet for result in results}) == len(results)
    return [result.path for result in results if any(word in result.snippet for word in query.split())]


# -- four_tier --------------------------------------------------------------------------------------------------


async def test_each_message_is_a_line_of_its_session(tmp_path: Path) -> None:
    """In the seed's shape (003 section 26.2.1), tools' results included, and once, whatever is found or read."""
    async with remembering(tmp_path, mode="four_tier") as it:
        await it.ask(say("look at the report"))
        tool = {"role": "tool", "content": "42 rows", "metadata": {"name": "read_file"}}
        await it.ask(MemoryWrite(type="conversation", content=tool, session_id="s1"))
        assert await history(it) == ["look at the report", "42 rows"]
        assert await found(it, "report") == ["conversations/2026-05-04.md"]
        await it.flushed()
        user, result = lines(sessions(tmp_path) / "s1.jsonl")
        assert (user["role"], user["content"], user["timestamp"]) == (
            "user",
            "look at the report",
            "2026-05-04T14:30:00+08:00",
        )
        assert (result["role"], result["name"], result["result"]) == ("tool", "read_file", "42 rows")
        assert {path.name for path in sessions(tmp_path).iterdir()} == {"s1.jsonl"}
    async with remembering(tmp_path, mode="four_tier") as it:
        assert await history(it) == ["look at the report", "42 rows"]
        assert await found(it, "report rows") == ["conversations/2026-05-04.md"] * 2
        context = await it.ask(MemoryRead(query="report", session_id="s1", max_tokens=1_000))
        assert context.recalled == ()


async def test_history_is_read_from_the_file(tmp_path: Path) -> None:
    """What a person takes out of it is out of the history; what they add is in; a torn last line costs itself."""
    async with remembering(tmp_path, mode="four_tier") as it:
        for text in ("one", "two"):
            await it.ask(say(text))
            it.clock.advance(1)
        await it.flushed()
        path = sessions(tmp_path) / "s1.jsonl"
        first, second = path.read_text().splitlines()
        added = '{"role":"assistant","content":"by hand","timestamp":"2026-05-04T06:40:00Z"}'
        path.write_text(f'{second}\n{added}\n{{"role":"user","con')
        it.clock.advance(2)
        assert await history(it) == ["two", "by hand"]
        assert await found(it, "hand") == ["agents/main/sessions/s1.jsonl"]
        it.clock.advance(600)
        await it.ask(say("three"))
        assert await history(it) == ["two", "by hand", "three"]
        await it.flushed()
        text = path.read_text()
        assert text.startswith(f'{second}\n{added}\n{{"role":"user","con\n')
        assert "three" in text.splitlines()[-1]
        assert first not in text


OPENCLAW = [
    {"type": "session", "version": 3, "id": "abc", "timestamp": "2026-05-04T06:00:00Z"},
    {
        "type": "message",
        "id": "1",
        "parentId": None,
        "timestamp": "2026-05-04T06:00:01Z",
        "message": {"role": "user", "content": [{"type": "text", "text": "old question"}]},
    },
    {
        "type": "compaction",
        "id": "2",
        "parentId": "1",
        "timestamp": "2026-05-04T06:10:00Z",
        "summary": "asked something",
        "firstKeptEntryId": "3",
    },
    {
        "type": "message",
        "id": "3",
        "parentId": "2",
        "timestamp": "2026-05-04T06:20:00Z",
        "message": {"role": "assistant", "content": "the kept answer"},
    },
]


async def test_files_of_the_real_openclaw_are_read_and_never_written(tmp_path: Path) -> None:
    """Its summary stands for what was before; all of it is found; a message of ours is in the history, not in it."""
    folder = sessions(tmp_path)
    folder.mkdir(parents=True)
    path = folder / "abc.jsonl"
    path.write_text("".join(json.dumps(line) + "\n" for line in OPENCLAW))
    before = path.read_bytes()
    async with remembering(tmp_path, mode="four_tier") as it:
        assert await history(it, "abc") == ["asked something", "the kept answer"]
        assert await found(it, "old question") == ["agents/main/sessions/abc.jsonl"]
        written = await it.ask(say("a new one", "abc"))
        assert written.success
        assert "only read here" in written.message
        assert await history(it, "abc") == ["asked something", "the kept answer", "a new one"]
        await it.flushed()
    assert path.read_bytes() == before


async def test_ids_are_checked_before_they_become_paths(tmp_path: Path) -> None:
    """An id that is no name on every system is refused by the field, and nothing is written; reading it is no fault."""
    async with remembering(tmp_path, mode="four_tier") as it:
        refused = await it.ask(say("x", "NUL"))
        assert (refused.success, refused.message.startswith("sessionId: ")) == (False, True)
        assert await history(it, "NUL") == []
        assert (await it.ask(say("x", GROUP))).success
        await it.flushed()
    assert [path.name for path in sessions(tmp_path).iterdir()] == ["agent%3Amain%3Agroup%3A42.jsonl"]


async def test_what_is_private_under_a_groups_id_stays_private(tmp_path: Path) -> None:
    """Each line says so, for a group's file is the group's otherwise."""
    folder = sessions(tmp_path)
    folder.mkdir(parents=True)
    (folder / "agent%3Amain%3Agroup%3A42.jsonl").write_text(
        '{"role":"user","content":"by the group itself","timestamp":"2026-05-04T06:00:00Z"}\n'
    )
    async with remembering(tmp_path, mode="four_tier") as it:
        await it.ask(say("private remark", GROUP, session_kind="primary"))
        await it.ask(say("public remark", GROUP))
        expected = ["by the group itself", "public remark"]
        assert sorted(await history(it, GROUP)) == expected
        await it.flushed()
        assert len(await found(it, "remark group", session_id=GROUP)) == 2
    (tmp_path / "memory/conversations/2026-05-04.md").unlink()
    async with remembering(tmp_path, mode="four_tier") as it:
        assert sorted(await history(it, GROUP)) == expected
        assert len(await found(it, "remark group", session_id=GROUP)) == 2
        assert len(await found(it, "remark group")) == 3


@pytest.mark.parametrize("bad", ["folder", "large"])
async def test_a_session_file_that_cannot_be_used_costs_no_message(tmp_path: Path, bad: str) -> None:
    """The message is kept in the day's file, the reply tells, and the history comes from there."""
    path = sessions(tmp_path) / "s1.jsonl"
    path.parent.mkdir(parents=True)
    if bad == "folder":
        path.mkdir()
    else:
        with path.open("wb") as file:
            file.truncate(52_428_801)
    async with remembering(tmp_path, mode="four_tier") as it:
        written = await it.ask(say("kept all the same"))
        assert (written.success, "agents/main/sessions/s1.jsonl can't be read" in written.message) == (True, True)
        assert await history(it) == ["kept all the same"]


async def test_changing_the_mode_loses_nothing(tmp_path: Path) -> None:
    """The history goes on in the file; what was said before is recalled, and is history again without files."""
    async with remembering(tmp_path) as it:
        await it.ask(say("before"))
    async with remembering(tmp_path, mode="four_tier") as it:
        it.clock.advance(60)
        await it.ask(say("after"))
        assert await history(it) == ["after"]
        assert len(await found(it, "before")) == 1
    async with remembering(tmp_path) as it:
        assert await history(it) == ["before", "after"]


async def test_killed_before_the_flush(tmp_path: Path) -> None:
    """The journal brings back both files, and each message once in each."""
    async with remembering(tmp_path / "a", mode="four_tier") as it:
        await it.ask(say("one"))
        await it.flushed()
        await it.ask(say("two"))
        crashed = it.crashed_copy(tmp_path / "b")
    async with remembering(crashed, mode="four_tier") as it:
        assert await history(it) == ["one", "two"]
        await it.flushed()
    assert [line["content"] for line in lines(sessions(crashed) / "s1.jsonl")] == ["one", "two"]


# -- history ----------------------------------------------------------------------------------------------------


async def test_history_file_holds_every_message(tmp_path: Path) -> None:
    """Seed 004: HISTORY.md is the complete record, tools' results included; what is found is found once."""
    async with remembering(tmp_path, mode="history") as it:
        await it.ask(say("deploy it"))
        tool = {"role": "tool", "content": "done in 3 s", "metadata": {"name": "deploy"}}
        await it.ask(MemoryWrite(type="conversation", content=tool, session_id="s1"))
        assert await history(it) == ["deploy it", "done in 3 s"]
        assert await found(it, "deploy") == ["conversations/2026-05-04.md"]
        assert await found(it, "deploy", layers=("history",)) == ["conversations/2026-05-04.md"]
        await it.flushed()
        path = tmp_path / "workspace/main/memory/HISTORY.md"
        first, second = path.read_text(encoding="utf-8").splitlines()[-2:]
        assert ("deploy it" in first, "done in 3 s" in second) == (True, True)
        with path.open("a", encoding="utf-8") as file:
            file.write("a line by hand about owls\n")
        assert await found(it, "owls") == ["workspace/main/memory/HISTORY.md"]
        await it.ask(say("once more"))
        await it.flushed()
        assert "owls" in path.read_text(encoding="utf-8")
        assert (await it.ask(MemoryRead(query="", session_id="s1", max_tokens=900))).notes == ()


async def test_other_modes_leave_such_files_alone(tmp_path: Path) -> None:
    """Four layers keep conversations by day alone."""
    async with remembering(tmp_path) as it:
        await it.ask(say("hello"))
        await it.flushed()
    assert not (tmp_path / "agents").exists()
    assert not (tmp_path / "workspace/main/memory").exists()
