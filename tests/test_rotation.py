"""Rotation as a Brain and a person meet it: what was said is there once, in order, under the address it was given."""

from __future__ import annotations

import errno
import os
import threading
import time
from pathlib import Path
from typing import Any

import anyio
import anyio.lowlevel
import anyio.to_thread
import pytest

from contracts import MemoryRead, MemorySearch, MemoryWrite
from openclaw_memory.layers.conversations import ConversationFormat
from openclaw_memory.storage.files import Stamp
from tests.support import FaultyFiles, Remembering, remembering

DAY = "conversations/2026-05-04.md"
PART = "conversations/2026-05-04-001.md"
SMALL: dict[str, Any] = {"conversations": {"max_messages_per_file": 5}, "history_messages": 100}


def say(*contents: str, session: str = "s1") -> MemoryWrite:
    messages = [{"role": "user", "content": content} for content in contents]
    return MemoryWrite.model_validate({"type": "conversation", "content": {"messages": messages}, "sessionId": session})


async def history(it: Remembering, session: str = "s1") -> list[str]:
    context = await it.ask(MemoryRead(query="", session_id=session, max_tokens=100_000))
    return [message.content for message in context.history]


async def found(it: Remembering, query: str) -> list[tuple[str, str]]:
    """Give what holds the word; what stands beside it in the conversation is found as well."""
    results = (await it.ask(MemorySearch(query=query, max_results=50))).results
    return [(result.path, result.snippet) for result in results if query in result.snippet.split()]


def in_file(it: Remembering, path: str) -> list[str]:
    document = ConversationFormat().parse(path, (it.folder / path).read_bytes())
    return [block.message.content for block in document.file.blocks]


def save(path: Path, text: str) -> None:
    """Save as an editor does, some seconds ago."""
    other = path.with_name(".editor")
    other.write_text(text)
    before = time.time_ns() - 10_000_000_000
    os.utime(other, ns=(before, before))
    other.replace(path)


async def test_five_hundred_messages_fill_a_file(tmp_path: Path) -> None:
    """The next one begins the day's file anew; history, addresses and search go on as if nothing had happened."""
    async with remembering(tmp_path, history_messages=600) as it:
        contents = [f"message w{number}" for number in range(499)]
        keys = list((await it.ask(say(*contents))).keys)
        for content in ("message w499", "message w500"):
            contents.append(content)
            keys += (await it.ask(say(content))).keys
        assert await history(it) == contents
        context = await it.ask(MemoryRead(query="", session_id="s1", max_tokens=100_000))
        assert [message.key for message in context.history] == keys
        assert await found(it, "w3") == [(PART, "message w3")]
        assert await found(it, "w500") == [(DAY, "message w500")]
        await it.flushed()
        assert (in_file(it, PART), in_file(it, DAY)) == (contents[:500], contents[500:])
        assert "message_count: 500\n" in (it.folder / PART).read_text()
    async with remembering(tmp_path, history_messages=600) as it:
        assert await history(it) == contents
        assert await found(it, "w3") == [(PART, "message w3")]


async def test_lines_of_a_hit_are_those_of_the_part(tmp_path: Path) -> None:
    """An address leads to the words, also in a part that was just written."""
    async with remembering(tmp_path, **SMALL) as it:
        await it.ask(say(*[f"message w{number}" for number in range(12)]))
        await it.flushed()
        for number in range(12):
            result = (await it.ask(MemorySearch(query=f"w{number}"))).results[0]
            lines = (it.folder / result.path).read_text().splitlines()[result.start_line - 1 : result.end_line]
            assert lines[0].startswith("### ")
            assert f"message w{number}" in lines


async def test_file_of_five_megabytes_is_full(tmp_path: Path) -> None:
    """No file of messages grows beyond its size."""
    async with remembering(tmp_path, conversations={"max_file_bytes": 20_000}) as it:
        for number in range(12):
            await it.ask(say(f"w{number} " + "文字" * 1000))
        await it.flushed()
        files = sorted(it.folder.glob("conversations/*.md"))
        assert [len(in_file(it, f"conversations/{path.name}")) for path in files] == [3, 3, 3, 3]
        assert max(path.stat().st_size for path in files) <= 20_500


async def test_crash_before_the_files_are_written_loses_and_doubles_nothing(tmp_path: Path) -> None:
    """The rotation is one record of the journal, applied whole at the next start."""
    async with remembering(tmp_path / "a", **SMALL) as it:
        for number in range(13):
            await it.ask(say(str(number)))
        it.crashed_copy(tmp_path / "b")
    async with remembering(tmp_path / "b", **SMALL) as it:
        assert await history(it) == [str(number) for number in range(13)]
        assert in_file(it, DAY) == ["10", "11", "12"]


@pytest.mark.parametrize("refused", ["2026-05-04.md", "2026-05-04-001.md"])
async def test_crash_between_the_two_files_loses_and_doubles_nothing(tmp_path: Path, refused: str) -> None:
    """Only one of them could be written: readers see each message once, before the crash and after it."""

    def fault(operation: str, path: Path) -> int | None:
        return errno.EIO if failing and path.name == refused and operation in ("rename_new", "exchange") else None

    failing = False
    contents = [str(number) for number in range(6)]
    async with remembering(tmp_path / "a", files=FaultyFiles(fault), **SMALL) as it:
        await it.ask(say(*contents[:5]))
        await it.flushed()
        failing = True
        await it.ask(say(contents[5]))
        await it.flushed()
        assert await history(it) == contents
        it.crashed_copy(tmp_path / "b")
        failing = False
    async with remembering(tmp_path / "b", **SMALL) as it:
        assert await history(it) == contents
        assert (in_file(it, PART), in_file(it, DAY)) == (contents[:5], contents[5:])


@pytest.mark.parametrize("written", [True, False])
async def test_editor_saves_the_old_day_over_its_rotation(tmp_path: Path, written: bool) -> None:
    """Nothing is twice, nothing lost; what was edited in the old view stays edited, in its place (fault 12)."""
    async with remembering(tmp_path, **SMALL) as it:
        for number in range(5):
            # Not in the same millisecond: then what is edited would come last, until the next write tidies up.
            it.clock.advance(0.001)
            await it.ask(say(f"w{number} old"))
        await it.flushed()
        view = (it.folder / DAY).read_text()
        it.clock.advance(0.001)
        await it.ask(say("w5 new"))
        if written:
            await it.flushed()
        save(it.folder / DAY, view.replace("w2 old", "w2 edited"))
        it.clock.advance(2)
        seen = ["w0 old", "w1 old", "w2 edited", "w3 old", "w4 old", "w5 new"]
        assert await history(it) == seen
        assert await found(it, "w2") == [(DAY, "w2 edited")]
        assert await found(it, "w3") == [(PART, "w3 old")]
        await it.ask(say("w6 new"))
        await it.flushed()
        assert (in_file(it, PART), in_file(it, DAY)) == (seen[:5], ["w5 new", "w6 new"])
        assert await history(it) == [*seen, "w6 new"]
        assert await found(it, "w2") == [(PART, "w2 edited")]
    async with remembering(tmp_path, **SMALL) as it:
        assert await history(it) == [*seen, "w6 new"]


async def test_sessions_rotate_side_by_side(tmp_path: Path) -> None:
    """Many lanes fill the same day at once: each message once, each session in its order, no file too long."""
    async with remembering(tmp_path, **SMALL) as it:

        async def talk(session: str) -> None:
            for number in range(6):
                assert (await it.ask(say(f"{session} {number}", f"{session} {number}b", session=session))).success

        async with anyio.create_task_group() as group:
            for name in range(10):
                group.start_soon(talk, f"session{name}")
        for name in range(10):
            session = f"session{name}"
            expected = [f"{session} {number}{more}" for number in range(6) for more in ("", "b")]
            assert await history(it, session) == expected
        await it.flushed()
        files = [f"conversations/{path.name}" for path in it.folder.glob("conversations/*.md")]
        assert max(len(in_file(it, path)) for path in files) == 5
        assert sum(len(in_file(it, path)) for path in files) == 120
        assert len(files) == 24


@pytest.mark.parametrize("edited", [True, False])
async def test_file_that_is_being_rewritten_is_rotated_without_waiting(tmp_path: Path, edited: bool) -> None:
    """Everybody who writes to the day would wait for the disk; a person's save at that moment is merged as ever."""
    reached, go_on = threading.Event(), threading.Event()

    def hold(operation: str, path: Path) -> None:
        if (operation, path.name) == ("exchange", DAY.rpartition("/")[2]) and not reached.is_set():
            reached.set()
            go_on.wait()

    async with remembering(tmp_path, files=FaultyFiles(hold), **SMALL) as it:
        contents = [f"w{number} old" for number in range(6)]
        for content in contents[:3]:
            it.clock.advance(0.001)
            await it.ask(say(content))
        await it.flushed()
        view = (it.folder / DAY).read_text()
        for content in contents[3:5]:
            it.clock.advance(0.001)
            await it.ask(say(content))
        async with anyio.create_task_group() as group:
            group.start_soon(it.flushed)
            await anyio.to_thread.run_sync(reached.wait)
            if edited:
                save(it.folder / DAY, view.replace("w1 old", "w1 edited"))
                contents[1] = "w1 edited"
            it.clock.advance(0.001)
            try:
                assert (await it.ask(say(contents[5]))).success
            finally:
                go_on.set()
        await it.flushed()
        it.clock.advance(2)
        assert await history(it) == contents
        it.clock.advance(0.001)
        await it.ask(say("w6 new"))
        await it.flushed()
        assert (in_file(it, PART), in_file(it, DAY)) == (contents[:5], [contents[5], "w6 new"])
    async with remembering(tmp_path, **SMALL) as it:
        assert await history(it) == [*contents, "w6 new"]


async def test_part_that_cannot_be_read_stops_no_write(tmp_path: Path) -> None:
    """It stays as it is, and the next part has the next number."""
    (tmp_path / "memory/conversations").mkdir(parents=True)
    unreadable = tmp_path / "memory" / PART
    unreadable.write_bytes(b"\x00\x01\x02")
    async with remembering(tmp_path, **SMALL) as it:
        for number in range(6):
            assert (await it.ask(say(str(number)))).success
        await it.flushed()
        assert in_file(it, "conversations/2026-05-04-002.md") == ["0", "1", "2", "3", "4"]
        assert list(it.memory.status().unreadable) == [PART]
    assert unreadable.read_bytes() == b"\x00\x01\x02"


async def test_refused_batch_rotates_nothing(tmp_path: Path) -> None:
    """All or none: a draft that is dropped leaves the files as they were."""
    async with remembering(tmp_path, **SMALL) as it:
        await it.ask(say(*"01234"))
        message = {"type": "conversation", "content": {"role": "user", "content": "5"}, "sessionId": "s1"}
        items = [
            {"event": "memory:write", "data": message},
            {"event": "memory:task_state_change", "data": {"taskId": "OPEN-404", "newState": "completed"}},
        ]
        refused = await it.ask(MemoryWrite(type="batch", content={"items": items}, session_id="s1"))
        assert not refused.success
        await it.flushed()
        assert in_file(it, DAY) == list("01234")
        assert not (it.folder / PART).exists()


async def test_nobody_waits_for_a_rotation(tmp_path: Path) -> None:
    """Who finds the file full looks for its next part; what others say meanwhile goes into the file, up to a quarter.

    All of it is moved then, in order; who found no room waits, as before.
    """
    reached, go_on = threading.Event(), threading.Event()

    class Slow(FaultyFiles):
        def scan(self, folder: Path, endings: tuple[str, ...] = ("",)) -> dict[str, Stamp]:
            if holding:
                reached.set()
                assert go_on.wait(30)
            return super().scan(folder, endings)

    holding = False
    limits = {"conversations": {"max_messages_per_file": 8}, "history_messages": 100}
    async with remembering(tmp_path, files=Slow(), **limits) as it:
        for number in range(8):
            it.clock.advance(0.001)
            assert (await it.ask(one(f"{number}"))).success
        late: list[str] = []

        async def write(content: str, session: str) -> None:
            assert (await it.ask(one(content, session))).success
            late.append(content)

        holding = True
        async with anyio.create_task_group() as group:
            group.start_soon(write, "who rotates", "s2")
            await anyio.to_thread.run_sync(reached.wait)
            for content in ("late a", "late b"):
                await write(content, "s1")
            group.start_soon(write, "too late", "s3")
            for _ in range(20):
                await anyio.lowlevel.checkpoint()
            assert late == ["late a", "late b"]
            holding = False
            go_on.set()
        assert sorted(late) == ["late a", "late b", "too late", "who rotates"]
        it.clock.advance(0.001)
        await it.ask(one("after"))
        assert await history(it) == [*"01234567", "late a", "late b", "after"]
        await it.flushed()
        assert in_file(it, PART) == [*"01234567", "late a", "late b"]
        assert sorted(in_file(it, DAY)) == ["after", "too late", "who rotates"]
    async with remembering(tmp_path, **limits) as it:
        assert await history(it) == [*"01234567", "late a", "late b", "after"]


def one(content: str, session: str = "s1") -> MemoryWrite:
    message = {"role": "user", "content": content}
    return MemoryWrite.model_validate({"type": "conversation", "content": message, "sessionId": session})
