"""Mode `history`: every turn and tool result is a line of its day's note as well, and is found and told once."""

from __future__ import annotations

import shutil
from datetime import datetime
from pathlib import Path
from typing import Any

import pytest

from contracts import Forget, MemoryCompact, MemoryRead, MemorySearch, MemoryWrite, NoteContent, Selector, SessionEnded
from tests.support import Remembering, remembering

NOTE = "workspace/main/memory/2026-05-04.md"
DAY = "conversations/2026-05-04.md"


def say(content: str, session: str = "s1", role: str = "user", **more: Any) -> MemoryWrite:
    said = {"role": role, "content": content, **{k: more.pop(k) for k in ("timestamp", "metadata") if k in more}}
    return MemoryWrite(type="conversation", content=said, session_id=session, **more)


def note(text: str) -> MemoryWrite:
    return MemoryWrite(type="note", content=NoteContent(text=text, title="t"), session_id="s1")


async def lines(it: Remembering, path: str = NOTE) -> list[str]:
    """Give the lines of a note without the marks of those that tell what was said."""
    await it.flushed()
    text = (it.memory.config.root / path).read_text(encoding="utf-8")
    return [line.partition(" <!-- id=")[0] for line in text.splitlines() if line]


async def read(it: Remembering, session: str = "s1", query: str = "", **more: Any) -> Any:
    return await it.ask(MemoryRead(query=query, session_id=session, max_tokens=20_000, **more))


async def found(it: Remembering, query: str, **more: Any) -> list[str]:
    results = (await it.ask(MemorySearch(query=query, **more))).results
    return [result.path for result in results if query in result.snippet]


def remembering_history(root: Path, **more: Any) -> Any:
    return remembering(root, mode="history", **more)


async def test_each_turn_is_a_line_of_its_day(tmp_path: Path) -> None:
    """Tools' results included, beside what is noted; HISTORY.md has them too, and so has the day's conversation."""
    async with remembering_history(tmp_path) as it:
        await it.ask(say("部署一下\n然后告诉我"))
        await it.ask(say("done in 3 s", role="tool", metadata={"name": "deploy"}))
        await it.ask(note("- 决定周五发布"))
        await it.ask(say("好了", role="assistant"))
        assert await lines(it) == [
            "## 2026-05-04",
            "- 14:30 用户: 部署一下⏎然后告诉我",
            "- 14:30 工具 deploy: done in 3 s",
            "### 14:30 — t",
            "- 决定周五发布",
            "- 14:30 Agent: 好了",
        ]
        text = (tmp_path / "workspace/main/memory/HISTORY.md").read_text(encoding="utf-8")
        assert all(words in text for words in ("部署一下", "done in 3 s", "好了"))
        assert await found(it, "部署一下") == [DAY]
        assert await found(it, "done") == [DAY]
        assert await found(it, "周五") == [NOTE]
    async with remembering_history(tmp_path) as it:
        assert await found(it, "部署一下") == [DAY]
        assert await found(it, "周五") == [NOTE]
        assert len(await lines(it)) == 6


async def test_days_of_two_zones_and_languages(tmp_path: Path) -> None:
    """A line is in the note of the day that its message was said on for the user, in the words of the configuration."""
    late = datetime.fromisoformat("2026-05-04T23:30:00+08:00")
    async with remembering_history(tmp_path / "zh") as it:
        await it.ask(say("晚安", timestamp=late))
        assert (await lines(it))[-1] == "- 23:30 用户: 晚安"
    async with remembering_history(tmp_path / "en", timezone="Asia/Tokyo", language="en") as it:
        await it.ask(say("good night", timestamp=late))
        assert await lines(it, "workspace/main/memory/2026-05-05.md") == ["## 2026-05-05", "- 00:30 User: good night"]
        assert not (tmp_path / "en" / NOTE).exists()


async def test_only_private_sessions_write_into_it(tmp_path: Path) -> None:
    """Notes are the owner's own: what was said in a group or by a sub-agent is in HISTORY.md alone."""
    async with remembering_history(tmp_path) as it:
        await it.ask(say("for the group", session="agent:main:group:7"))
        await it.ask(say("by a helper", session="subagent:9"))
        await it.flushed()
        assert not (tmp_path / NOTE).exists()
        text = (tmp_path / "workspace/main/memory/HISTORY.md").read_text(encoding="utf-8")
        assert ("for the group" in text, "by a helper" in text) == (True, True)
        await it.ask(say("my own secret plan"))
        context = await read(it, "agent:main:group:7", "plan")
        assert "secret" not in context.model_dump_json()


async def test_other_modes_and_settings(tmp_path: Path) -> None:
    """Nothing of it where the setting is off; with it alone there is no HISTORY.md."""
    async with remembering(tmp_path / "a") as it:
        await it.ask(say("hello"))
        await it.flushed()
        assert not (tmp_path / "a" / NOTE).exists()
    async with remembering_history(tmp_path / "b", daily_log_messages=False) as it:
        await it.ask(say("hello"))
        await it.flushed()
        assert not (tmp_path / "b" / NOTE).exists()
    async with remembering(tmp_path / "c", daily_log_messages=True) as it:
        await it.ask(say("hello"))
        assert await lines(it) == ["## 2026-05-04", "- 14:30 用户: hello"]
        assert not (tmp_path / "c/workspace/main/memory/HISTORY.md").exists()


async def test_secrets_are_masked_there_too(tmp_path: Path) -> None:
    """The line is made of what was masked."""
    async with remembering_history(tmp_path) as it:
        await it.ask(say("my password: hunter2secret99"))
        assert "hunter2secret99" not in "\n".join(await lines(it))


async def test_a_context_says_nothing_twice(tmp_path: Path) -> None:
    """What the session's history says is not loaded from the note; other sessions' talk is, and is not recalled."""
    async with remembering_history(tmp_path) as it:
        await it.ask(say("earlier: the owls sleep", session="s0"))
        await it.ask(say("and the owls wake", session="s0", role="assistant"))
        await it.ask(say("4 owls", session="s0", role="tool", metadata={"name": "count"}))
        await it.ask(say("what do owls do?"))
        for query in ("", "owls"):
            context = await read(it, query=query)
            assert [message.content for message in context.history] == ["what do owls do?"]
            assert context.notes + context.recalled == (
                "2026-05-04 14:30 用户: earlier: the owls sleep",
                "2026-05-04 14:30 Agent: and the owls wake",
                *(["2026-05-04\n工具: 4 owls"] if query else []),
            )
        (other,) = [await read(it, "s0")]
        assert other.notes == ("2026-05-04 14:30 用户: what do owls do?",)


async def test_two_days_are_loaded_and_noted_words_first(tmp_path: Path) -> None:
    """Of little room what was noted takes its share before what was only said; older days are recalled."""
    async with remembering_history(tmp_path) as it:
        await it.ask(say("day one", session="a"))
        it.clock.advance(86_400)
        await it.ask(say("day two", session="b"))
        it.clock.advance(86_400)
        for number in range(300):
            await it.ask(say(f"chatter {number}", session="c"))
        await it.ask(note("- the one thing that counts"))
        context = await read(it, "d")
        assert len(context.notes) == 201
        assert context.notes[-1].endswith("- the one thing that counts")
        assert context.notes[0] == "2026-05-06 14:30 用户: chatter 100"
        small = await it.ask(MemoryRead(query="", session_id="d", max_tokens=300))
        assert any("the one thing" in line for line in small.notes)
        it.clock.advance(2 * 86_400)
        assert (await read(it, "d")).notes == ()
        assert "2026-05-04\n用户: day one" in (await read(it, "d", "day one")).recalled


async def test_what_a_summary_stands_for_is_not_loaded_again(tmp_path: Path) -> None:
    """Compaction makes a context shorter: the note does not bring back what the session's summary tells."""
    async with remembering_history(tmp_path) as it:
        for number in range(40):
            it.clock.advance(30)
            await it.ask(say(f"point {number} of the plan: we discuss item {number} at length", role="user"))
        done = await it.ask(MemoryCompact(session_id="s1"))
        assert done.dropped > 20
        context = await read(it)
        assert not [line for line in context.notes if "point 1 of" in line]
        assert [line for line in (await read(it, "s2")).notes if "point 1 of" in line]


async def test_the_end_of_a_session_is_noted_all_the_same(tmp_path: Path) -> None:
    """That the note tells what was said does not make its main points known already."""
    async with remembering_history(tmp_path) as it:
        await it.ask(say("我决定下周一开始用 Go 重写后端服务"))
        assert (await it.ask(SessionEnded(session_id="s1"))).key.startswith(NOTE)
        assert [line for line in await lines(it) if line.startswith("###")] == ["### 14:30 — 会话 s1"]


async def test_words_said_again_are_news(tmp_path: Path) -> None:
    """A line of the log that a context held is what the user said, not what memory said (fault 17)."""
    async with remembering_history(tmp_path) as it:
        await it.ask(say("记住:我喜欢绿茶", session="s0", idempotency_key="k"))
        assert (await read(it, "s1")).notes[0].endswith("记住:我喜欢绿茶")
        again = await it.ask(say("记住:我喜欢绿茶", session="s1"))
        assert again.suggestions or len(again.keys) > 1 or again.message


@pytest.mark.parametrize("ending", ["\n", ""])
async def test_a_person_edits_the_note(tmp_path: Path, ending: str) -> None:
    """Every byte of theirs stays, a line they change is found by its new words, one they take out stays out."""
    async with remembering_history(tmp_path) as it:
        for words in ("first apples", "second pears", "third plums"):
            await it.ask(say(words))
        await it.flushed()
        path = tmp_path / NOTE
        head, _, *rows = path.read_text(encoding="utf-8").rstrip("\n").split("\n")
        changed = [head, "my own words", "```", "open fence", rows[0].replace("apples", "cherries"), rows[2]]
        path.write_text("\n".join(changed) + ending, encoding="utf-8")
        assert await found(it, "cherries") == [NOTE]
        assert await found(it, "apples") == [DAY]
        assert await found(it, "my own words") == [NOTE]
        await it.ask(say("fourth figs"))
        await it.ask(note("- noted"))
        await it.flushed()
        text = path.read_text(encoding="utf-8")
        assert text.startswith("\n".join(changed) + "\n")
        assert "pears" not in text
        assert await found(it, "figs") == [DAY]
        assert text.count("cherries") == 1
    async with remembering_history(tmp_path) as it:
        assert await found(it, "cherries") == [NOTE]
        assert await found(it, "plums") == [DAY]
        assert path.read_text(encoding="utf-8") == text


async def test_a_person_saves_an_old_view(tmp_path: Path) -> None:
    """What was said since and is not on the disk yet is added again; what was is theirs to take out."""
    async with remembering_history(tmp_path) as it:
        await it.ask(say("one"))
        await it.flushed()
        path = tmp_path / NOTE
        old = path.read_text(encoding="utf-8")
        await it.ask(say("two"))
        path.write_text(old + "by hand\n", encoding="utf-8")
        assert (await lines(it))[1:] == ["- 14:30 用户: one", "by hand", "- 14:30 用户: two"]


async def test_a_crash_loses_no_line_and_doubles_none(tmp_path: Path) -> None:
    """The three places are one record of the journal."""
    root, crashed = tmp_path / "a", tmp_path / "b"
    async with remembering_history(root) as it:
        await it.ask(say("one"))
        await it.flushed()
        await it.ask(say("two"))
        it.crashed_copy(crashed)
    async with remembering_history(crashed) as it:
        assert (await lines(it))[1:] == ["- 14:30 用户: one", "- 14:30 用户: two"]
        assert await found(it, "two") == [DAY]


async def test_a_batch_is_all_or_nothing_there_too(tmp_path: Path) -> None:
    """Messages of one event are lines in their order, also over two days."""
    both = [
        {"role": "user", "content": "yesterday", "timestamp": datetime.fromisoformat("2026-05-03T10:00:00+08:00")},
        {"role": "assistant", "content": "today"},
    ]
    async with remembering_history(tmp_path) as it:
        await it.ask(MemoryWrite(type="conversation", content={"messages": both}, session_id="s1"))
        assert (await lines(it))[1:] == ["- 14:30 Agent: today"]
        assert (await lines(it, "workspace/main/memory/2026-05-03.md"))[1:] == ["- 10:00 用户: yesterday"]


async def test_a_note_that_cannot_be_read_stops_no_message(tmp_path: Path) -> None:
    """The message is written where it can be, and the reply says what is missing."""
    async with remembering_history(tmp_path) as it:
        path = tmp_path / NOTE
        path.parent.mkdir(parents=True)
        path.write_bytes(b"\0\xff\xfe" * 50)
        written = await it.ask(say("hello"))
        assert (written.success, NOTE in (written.message or "")) == (True, True)
        await it.flushed()
        assert path.read_bytes() == b"\0\xff\xfe" * 50


async def test_a_full_note_is_told(tmp_path: Path) -> None:
    """Up to 5 MB are read, so no more is written; the message is in its other places."""
    async with remembering_history(tmp_path) as it:
        path = tmp_path / NOTE
        path.parent.mkdir(parents=True)
        path.write_text("words of mine\n" * 370_000, encoding="utf-8")
        written = await it.ask(say("x" * 90_000))
        assert (written.success, written.message) == (True, f"{NOTE} is full, so it is not in there")
        assert (await it.ask(say("short"))).message is None


@pytest.mark.parametrize(
    "selector",
    [
        Selector(text="owls"),
        Selector(session_id="s1"),
        Selector(after=datetime.fromisoformat("2026-05-04T14:29:30+08:00")),
    ],
    ids=["text", "session", "time"],
)
async def test_forgetting_takes_the_line_and_nothing_beside_it(tmp_path: Path, selector: Selector) -> None:
    """By text, by session, by time; also where the note is all that is left of it."""
    async with remembering_history(tmp_path) as it:
        before = datetime.fromisoformat("2026-05-04T14:29:00.500+08:00")
        await it.ask(say("keep the user role", session="s0", timestamp=before))
        await it.ask(say("secret owls"))
        await it.ask(say("keep me too", session="s2", timestamp=before))
        assert len(await lines(it)) == 4
        done = await it.ask(Forget(selector=selector))
        assert done.verified
        assert {place.path: place.count for place in done.places}[NOTE] == 1
        assert (await lines(it))[1:] == ["- 14:29 用户: keep the user role", "- 14:29 用户: keep me too"]
    async with remembering_history(tmp_path) as it:
        assert await found(it, "owls") == []
        assert "owls" not in (tmp_path / NOTE).read_text(encoding="utf-8")


async def test_forgetting_what_only_the_note_tells(tmp_path: Path) -> None:
    """Where its other copies are gone, the line is found, and goes by its session."""
    async with remembering_history(tmp_path) as it:
        await it.ask(say("secret owls"))
        await it.ask(say("plain words", session="s2"))
    for folder in ("memory/conversations", "memory/.state/kept", "memory/.journal"):
        shutil.rmtree(tmp_path / folder, ignore_errors=True)
    (tmp_path / "workspace/main/memory/HISTORY.md").unlink()
    async with remembering_history(tmp_path) as it:
        assert await found(it, "owls") == [NOTE]
        assert await found(it, "owls", session_kind="group", session_id="agent:main:group:1") == []
        await it.ask(Forget(selector=Selector(session_id="s1")))
        assert (await lines(it))[1:] == ["- 14:30 用户: plain words"]
