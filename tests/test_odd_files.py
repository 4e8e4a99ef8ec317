"""Whatever a person puts into the folder, it costs at most its own file, and never what is in it."""

from __future__ import annotations

import asyncio
import os
from pathlib import Path
from typing import Any

import pytest

from bus import Gateway
from contracts import MemoryRead, MemorySearch, MemoryWrite, UpdateFact
from openclaw_memory import ManualClock, Memory, MemoryConfig
from tests.support import START, FaultyFiles, Remembering, remembering


def say(content: str, session: str = "s1", **more: Any) -> MemoryWrite:
    return MemoryWrite(type="conversation", content={"role": "user", "content": content}, session_id=session, **more)


def read(query: str = "", session: str = "s1", **more: Any) -> MemoryRead:
    return MemoryRead(query=query, session_id=session, max_tokens=4000, **more)


async def put(it: Remembering, path: str, data: str | bytes) -> None:
    target = it.folder / path
    target.parent.mkdir(parents=True, exist_ok=True)
    target.write_bytes(data if isinstance(data, bytes) else data.encode())


ODD = {
    "empty check box": ("tasks/active.md", "# A\n\n### [OPEN-007] t\n- 步骤:\n  - [ ]\n  - [ ] \n"),
    "endless step": ("tasks/active.md", f"# A\n\n### [OPEN-007] t\n- 步骤:\n  - [ ] {'x' * 3000}\n"),
    "tab in a step": ("tasks/active.md", "# A\n\n### [OPEN-007] t\n- 步骤:\n  - [ ] a\tb\n"),
    "task of 1850": ("tasks/active.md", "# A\n\n### [OPEN-007] t\n- 创建: 1850-01-01 10:00\n- 截止: 0001-01-01\n"),
    "message of 1850": ("conversations/1850-01-01.md", "### 1850-01-01T10:00:00+08:00\n**用户**:\n\nhello old\n"),
    "message of 3000": ("conversations/3000-01-01.md", "### 3000-01-01T10:00:00+08:00\n**用户**:\n\nhello new\n"),
    "month 9999-12": ("summaries/monthly/9999-12.md", "# S\n\nhello\n"),
    "week 9999-w52": ("summaries/weekly/9999-w52.md", "# S\n\nhello\n"),
    "nested state": (".state/fact-times.json", "[" * 100_000),
    "state that is a list": (".state/tasks.json", "[1]"),
    "counter that is no number": (".state/tasks.json", '{"last": "abc"}'),
    "zeroes": ("facts/zeroes.md", b"\x00" * 5000),
    "binary": ("facts/binary.md", bytes(range(256)) * 20),
    "one line of 5 MB": ("facts/long.md", "# L\n\n- key: " + "word " * 1_000_000),
    "odd front matter": ("facts/odd.md", "---\n- a\n- b\n---\n---\nx\n"),
    "journal of another kind": (".journal/abc.log", "not a journal\n"),
}


@pytest.mark.parametrize("name", ODD)
async def test_odd_file_costs_itself_only(tmp_path: Path, name: str) -> None:
    """There at the start, and come while it runs: everything else is read, found and written; start never fails."""
    path, data = ODD[name]
    async with remembering(tmp_path) as it:
        await it.ask(UpdateFact(section="S", key="colour", value="green"))
        await it.ask(say("hello there"))
        await it.flushed()
        await put(it, path, data)
        for _ in range(2):
            context = await it.ask(read("hello"))
            assert "S/colour: green" in context.facts
            assert [message.content for message in context.history] == ["hello there"]
            assert (await it.ask(MemorySearch(query="green"))).results
            assert (await it.ask(say("hello there", "other"))).success
            assert (await it.ask(UpdateFact(section="S", key="size", value=name))).success
    async with remembering(tmp_path) as it:
        context = await it.ask(read("hello"))
        assert "S/colour: green" in context.facts
        assert (await it.ask(say("and on it goes"))).success


async def test_file_name_that_is_no_text(tmp_path: Path) -> None:
    """It can't be an address, so it is passed over, and stops nobody."""
    async with remembering(tmp_path) as it:
        (it.folder / os.fsdecode(b"facts/\xff\xfe.md")).write_text("# X\n\n- a: b\n")
        await it.ask(UpdateFact(section="S", key="k", value="v"))
        assert (await it.ask(read())).facts == ("S/k: v",)
    async with remembering(tmp_path) as it:
        assert (await it.ask(read())).facts == ("S/k: v",)


@pytest.mark.parametrize("path", ["facts/archive/old.md", "tasks/archived/2026-01-tasks.md", "facts/other.md"])
async def test_unreadable_neighbour_stops_no_write(tmp_path: Path, path: str) -> None:
    """A file that a write does not need may be as broken as it likes."""
    async with remembering(tmp_path) as it:
        await put(it, path, b"\xff\x00\xff\x00")
        for value in ("one", "two"):
            assert (await it.ask(UpdateFact(section="S", key="k", value=value))).success
        assert (await it.ask(MemoryWrite(type="task", content={"title": "t"}, session_id="s"))).success
        assert (await it.ask(read())).degraded


async def test_file_in_another_encoding_never_becomes_unreadable(tmp_path: Path) -> None:
    """GB18030 is kept while what is written reads back as it; else the file becomes UTF-8, and nothing is lost."""
    day = "conversations/2026-05-04.md"
    old = "### 2026-05-04T10:00:00+08:00\n**用户**:\n\n我喜欢苹果\n"
    async with remembering(tmp_path) as it:
        await put(it, day, old.encode("gb18030"))
        assert (await it.ask(MemorySearch(query="苹果"))).results
        await it.ask(say("我也喜欢梨"))
        await it.flushed()
        assert "我也喜欢梨".encode("gb18030") in (it.folder / day).read_bytes()
        await it.ask(say("한국어 사용자 👍🏽👍🏽" * 5))
        await it.flushed()
        assert "한국어" in (it.folder / day).read_text(encoding="utf-8")
    async with remembering(tmp_path) as it:
        for word in ("苹果", "梨", "한국어"):
            assert (await it.ask(MemorySearch(query=word))).results, word
        assert it.memory.status().healthy


async def test_group_sees_only_what_was_said_to_the_group(tmp_path: Path) -> None:
    """Knowing a private session's id opens nothing, nor does a private write to a group's id (promise 8)."""
    group = "agent:main:group:7"
    async with remembering(tmp_path) as it:
        await it.ask(say("private apple", "g1"))
        await it.ask(say("private pear", group, session_kind="primary"))
        await it.ask(say("public plum", group))
        for session in ("g1", group):
            context = await it.ask(read("apple pear plum", session, session_kind="group"))
            assert "private" not in str(context)
        assert [message.content for message in context.history] == ["public plum"]
        mine = await it.ask(read("apple pear plum", group, session_kind="primary"))
        assert len(mine.history) == 2


async def test_idempotency_key_belongs_to_its_session_and_content(tmp_path: Path) -> None:
    """Another session's write with the same key is written; another content with the same key is refused."""
    async with remembering(tmp_path) as it:
        first = await it.ask(say("alice", "a", idempotency_key="turn-1"))
        second = await it.ask(say("bob", "b", idempotency_key="turn-1"))
        assert first.key != second.key
        other = await it.ask(say("alice again", "a", idempotency_key="turn-1"))
        assert (other.success, other.degraded) == (False, False)
        assert other.message.startswith("idempotencyKey: it was used for another write")
        assert (await it.ask(say("alice", "a", idempotency_key="turn-1"))).keys == first.keys


async def test_values_that_change_within_a_second_are_all_archived(tmp_path: Path) -> None:
    """Each with its dates, none in another's place (fault 15)."""
    async with remembering(tmp_path) as it:
        for value in ("A1", "B2", "C3", "D4", "A1", "E5"):
            await it.ask(UpdateFact(section="S", key="k", value=value))
        await it.flushed()
        archive = (it.folder / "facts/archive/user-profile.md").read_text()
        assert all(f": {value}\n" in archive for value in ("A1", "B2", "C3", "D4"))
        assert "未采用" not in archive
        assert it.memory.status().healthy


async def test_as_of_does_not_tell_what_came_later(tmp_path: Path) -> None:
    """Neither as a fact, nor by recalling its line or its archive; whatever characters its section has."""
    async with remembering(tmp_path) as it:
        await it.ask(UpdateFact(section="A/B", key="colour", value="green"))
        it.clock.advance(86_400)
        await it.ask(UpdateFact(section="A/B", key="colour", value="violet"))
        await it.ask(UpdateFact(section="A/B", key="size", value="tall", topic="other"))
        then = await it.ask(read("colour violet green size tall", as_of="2026-05-04T20:00:00+08:00"))
        assert then.facts == ("A/B/colour: green",)
        assert then.recalled == ()
        assert "violet" not in str(then)
        assert "tall" not in str(then)


async def test_value_edited_by_hand_has_no_known_beginning(tmp_path: Path) -> None:
    """The time of the value before it is not its own."""
    async with remembering(tmp_path) as it:
        await it.ask(UpdateFact(section="S", key="k", value="ours"))
        await it.flushed()
        path = it.folder / "facts/user-profile.md"
        path.write_text(path.read_text().replace("ours", "theirs"))
        await it.ask(UpdateFact(section="S", key="k", value="new"))
        await it.flushed()
        assert (
            "- k (? → 2026-05-04T14:30:00+08:00): theirs\n" in (it.folder / "facts/archive/user-profile.md").read_text()
        )


async def test_requests_in_flight_are_answered_when_the_gateway_closes(tmp_path: Path) -> None:
    """What is written is acknowledged, also when the Gateway's block ends meanwhile."""
    memory = Memory(
        MemoryConfig(root=tmp_path, timezone="UTC", watch=False), clock=ManualClock(START), files=FaultyFiles()
    )
    async with Gateway() as gateway:
        await gateway.register(memory)
        asked = [
            asyncio.ensure_future(gateway.bus.request(say(f"m{number}", f"s{number % 7}"))) for number in range(60)
        ]
        await asyncio.sleep(0)
    replies = await asyncio.gather(*asked)
    assert all(reply.success for reply in replies)
