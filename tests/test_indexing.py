"""The index in use: files at rest are not read, what changed is found by its new words, lost files cost no answer."""

from __future__ import annotations

import os
import shutil
import time
from pathlib import Path
from typing import Any

import anyio.from_thread
import pytest

from contracts import MemoryRead, MemorySearch, MemoryWrite
from openclaw_memory.retrieval.engines import SafeIndex
from tests.support import FaultyFiles, Remembering, remembering

DAY = "conversations/2026-05-04.md"
ENGINES = ["tantivy", "sqlite"]


def say(text: str, session: str = "s1", **more: str) -> MemoryWrite:
    content = {"role": "user", "content": text, **more}
    return MemoryWrite.model_validate({"type": "conversation", "content": content, "sessionId": session})


async def found(it: Remembering, query: str) -> list[str]:
    results = (await it.ask(MemorySearch(query=query))).results
    assert all(result.path.startswith("conversations/") for result in results)
    # Messages beside a hit come along; they are not what these tests are about.
    return [result.snippet for result in results if any(word in result.snippet for word in query.split())]


async def history(it: Remembering, session: str = "s1") -> list[str]:
    context = await it.ask(MemoryRead(query="", session_id=session, max_tokens=4000))
    return [message.content for message in context.history]


def edit(path: Path, old: str, new: str) -> None:
    """As an editor does that saves by renaming; an hour ago."""
    text = path.read_text()
    assert old in text
    other = path.with_name(".other")
    other.write_text(text.replace(old, new))
    os.utime(other, ns=(time.time_ns() - 3_600_000_000_000,) * 2)
    other.replace(path)


async def two_days(root: Path, engine: str = "tantivy") -> Path:
    async with remembering(root, index={"type": engine}) as it:
        await it.ask(say("the kiwi ripens", timestamp="2026-05-03T12:00:00+08:00"))
        await it.ask(say("the zeppelin lands"))
        return it.folder


@pytest.mark.parametrize("engine", ENGINES)
async def test_start_reads_no_file_that_is_unchanged(tmp_path: Path, engine: str) -> None:
    """Neither to find what is in it, nor for the history of a session."""
    await two_days(tmp_path, engine)
    files = FaultyFiles()
    async with remembering(tmp_path, files=files, index={"type": engine}) as it:
        assert await found(it, "kiwi") == ["the kiwi ripens"]
        assert await history(it) == ["the kiwi ripens", "the zeppelin lands"]
        assert [call for call in files.calls if call[0] == "read" and call[1].endswith(".md")] == []


@pytest.mark.parametrize("engine", ENGINES)
async def test_file_edited_while_nobody_ran(tmp_path: Path, engine: str) -> None:
    """It is found by its new words only (case 23); the others are not read."""
    folder = await two_days(tmp_path, engine)
    edit(folder / DAY, "zeppelin", "balloon")
    files = FaultyFiles()
    async with remembering(tmp_path, files=files, index={"type": engine}) as it:
        assert await found(it, "zeppelin") == []
        assert await found(it, "balloon") == ["the balloon lands"]
        assert await found(it, "kiwi") == ["the kiwi ripens"]
        assert ("read", "2026-05-03.md") not in files.calls


async def test_file_at_rest_that_goes_away(tmp_path: Path) -> None:
    """Before the start, or while somebody runs."""
    folder = await two_days(tmp_path)
    (folder / "conversations/2026-05-03.md").unlink()
    async with remembering(tmp_path) as it:
        assert await found(it, "kiwi") == []
        (folder / DAY).unlink()
        it.clock.advance(2)
        assert await found(it, "zeppelin") == []
        assert await history(it) == []


async def test_file_at_rest_is_written_to(tmp_path: Path) -> None:
    """Its messages stay, each once, also after the next restart."""
    await two_days(tmp_path)
    async with remembering(tmp_path) as it:
        await it.ask(say("and takes off", timestamp="2026-05-03T12:01:00+08:00"))
        assert await history(it) == ["the kiwi ripens", "and takes off", "the zeppelin lands"]
        text = (it.folder / "conversations/2026-05-03.md").read_text()
        await it.flushed()
        assert (it.folder / "conversations/2026-05-03.md").read_text().count("###") == text.count("###") + 1
    async with remembering(tmp_path) as it:
        assert await history(it) == ["the kiwi ripens", "and takes off", "the zeppelin lands"]
        assert await found(it, "kiwi") == ["the kiwi ripens"]


@pytest.mark.parametrize("engine", ENGINES)
async def test_crash_before_the_index_heard_of_it(tmp_path: Path, engine: str) -> None:
    """What is in the journal or in the files, and not in the index, is found; nothing twice."""
    await two_days(tmp_path / "a", engine)
    async with remembering(tmp_path / "a", index={"type": engine}) as it:
        await it.ask(say("in the file"))
        await it.flushed()
        await it.ask(say("in the journal"))
        crashed = it.crashed_copy(tmp_path / "b")
    async with remembering(crashed, index={"type": engine}) as it:
        said = ["the kiwi ripens", "the zeppelin lands", "in the file", "in the journal"]
        assert await history(it) == said
        for text in said:
            assert (await found(it, text))[0] == text
        assert len(await found(it, "kiwi zeppelin file journal")) == 4


@pytest.mark.parametrize("engine", ENGINES)
async def test_files_of_the_index_are_deleted(tmp_path: Path, engine: str) -> None:
    """Between two runs or in the middle of one: nothing is lost, and they are there again (promise 9)."""
    folder = await two_days(tmp_path, engine)
    remove_index(folder)
    async with remembering(tmp_path, index={"type": engine}) as it:
        assert await found(it, "kiwi") == ["the kiwi ripens"]
        remove_index(folder)
        assert await found(it, "zeppelin") == ["the zeppelin lands"]
        await it.ask(say("still here"))
        assert await found(it, "still") == ["still here"]
    assert (folder / "main.sqlite").exists()
    async with remembering(tmp_path, index={"type": engine}) as it:
        assert await history(it) == ["the kiwi ripens", "the zeppelin lands", "still here"]


@pytest.mark.parametrize("kept", [0, 7, 4_000])
async def test_damaged_index(tmp_path: Path, kept: int) -> None:
    """Nothing, some bytes or a half of it are left: search goes on, and the next start finds a whole one."""
    folder = await two_days(tmp_path)
    for path in folder.glob("main.sqlite*"):
        path.write_bytes(path.read_bytes()[:kept])
    async with remembering(tmp_path) as it:
        assert await found(it, "kiwi") == ["the kiwi ripens"]
        assert await history(it) == ["the kiwi ripens", "the zeppelin lands"]
    files = FaultyFiles()
    async with remembering(tmp_path, files=files) as it:
        assert await found(it, "kiwi") == ["the kiwi ripens"]
        assert ("read", "2026-05-04.md") not in files.calls


async def test_another_engine_is_configured(tmp_path: Path) -> None:
    """It is filled from the files, and takes the other one's place."""
    await two_days(tmp_path, "tantivy")
    for engine in ("sqlite", "tantivy", "memory"):
        async with remembering(tmp_path, index={"type": engine}) as it:
            assert await found(it, "kiwi") == ["the kiwi ripens"]
            assert (await it.memory.index_status()).engine == engine


async def test_old_view_saved_over_a_rotated_day_while_nobody_ran(tmp_path: Path) -> None:
    """Parts at rest are read, since the day's file holds some of their messages again: nothing twice."""
    rotating = {"conversations": {"max_messages_per_file": 2}}
    async with remembering(tmp_path, **rotating) as it:
        for number in range(2):
            it.clock.advance(0.001)
            await it.ask(say(f"text {number}"))
        await it.flushed()
        view = (it.folder / DAY).read_text()
        it.clock.advance(0.001)
        await it.ask(say("text 2"))
    edited = tmp_path / "memory" / DAY
    now = edited.read_text()
    # An editor that merged: all that the day's file had before, an edit in it, and what it has now.
    body = view + now[now.index("### ") :]
    edited.write_text(body.replace("text 1", "text 1, edited"))
    os.utime(edited, ns=(time.time_ns() - 3_600_000_000_000,) * 2)
    async with remembering(tmp_path, **rotating) as it:
        it.clock.advance(60)
        assert await history(it) == ["text 0", "text 1, edited", "text 2"]
        assert sorted(await found(it, "text")) == ["text 0", "text 1, edited", "text 2"]
        await it.ask(say("text 3"))
        assert await history(it) == ["text 0", "text 1, edited", "text 2", "text 3"]
        assert len(await found(it, "text")) == 4


async def test_a_guest_keeps_its_index_in_memory(tmp_path: Path) -> None:
    """It reads beside the owner, and leaves the owner's index alone."""
    await two_days(tmp_path)
    async with remembering(tmp_path) as owner, remembering(tmp_path) as guest:
        await owner.ask(say("a moment ago"))
        assert await found(guest, "moment") == ["a moment ago"]
        assert (await guest.memory.index_status()).engine == "memory"


def remove_index(folder: Path) -> None:
    for path in folder.glob("main.*"):
        if path.is_dir():
            shutil.rmtree(path)
        else:
            path.unlink()


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("damage", ["cut", "zeroes"])
async def test_index_damaged_while_somebody_runs(tmp_path: Path, engine: str, damage: str) -> None:
    """The very next search and history hold everything: nobody waits for a write to have it filled again."""
    await two_days(tmp_path, engine)
    async with remembering(tmp_path, index={"type": engine}) as it:
        assert await found(it, "kiwi") == ["the kiwi ripens"]
        database = it.folder / "main.sqlite"
        with database.open("r+b") as file:
            if damage == "cut":
                file.truncate(100)
            else:
                file.write(b"\0" * database.stat().st_size)
        assert await found(it, "zeppelin") == ["the zeppelin lands"]
        assert await history(it) == ["the kiwi ripens", "the zeppelin lands"]


async def test_a_write_while_the_index_is_made_anew(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """It is found afterwards, and after the next start."""
    await two_days(tmp_path)
    async with remembering(tmp_path) as it:
        rebuild = SafeIndex.rebuild

        def late(self: SafeIndex, *arguments: Any) -> None:
            anyio.from_thread.run(it.ask, say("in between"))
            anyio.from_thread.run(found, it, "between")
            rebuild(self, *arguments)

        monkeypatch.setattr(SafeIndex, "rebuild", late)
        await it.memory.rebuild_index(full=True)
        assert await found(it, "between") == ["in between"]
        await it.flushed()
    async with remembering(tmp_path) as it:
        assert await found(it, "between") == ["in between"]
        assert await found(it, "kiwi") == ["the kiwi ripens"]


async def test_file_at_rest_that_is_being_saved(tmp_path: Path) -> None:
    """Empty for a moment, it keeps what it had until the editor is done."""
    folder = await two_days(tmp_path)
    day = folder / "conversations/2026-05-03.md"
    text = day.read_text()
    files = FaultyFiles()
    async with remembering(tmp_path, files=files) as it:
        files.seconds_old = 0.1
        day.write_text("")
        it.clock.advance(2)
        assert await found(it, "kiwi") == ["the kiwi ripens"]
        day.write_text(text.replace("kiwi", "plum"))
        files.seconds_old = 60
        it.clock.advance(2)
        assert await found(it, "kiwi") == []
        assert await found(it, "plum") == ["the plum ripens"]


async def test_a_search_writes_nothing_down(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Fault 25: what waits is searched where it waits; committing and rebuilding are nobody's business who asks."""
    called: list[str] = []
    for name in ("commit", "rebuild", "purge", "filled"):
        inner = getattr(SafeIndex, name)

        def noted(self: SafeIndex, *arguments: Any, _inner: Any = inner, _name: str = name) -> Any:
            called.append(_name)
            return _inner(self, *arguments)

        monkeypatch.setattr(SafeIndex, name, noted)
    async with remembering(tmp_path, index={"type": "tantivy"}) as it:
        called.clear()
        for number in range(20):
            await it.ask(say(f"message {number} about pelicans"))
            results = await it.ask(MemorySearch(query=f"message {number} pelicans", max_results=1))
            assert f"message {number} " in results.results[0].snippet
            context = await it.ask(MemoryRead(query="pelicans", session_id="s2", max_tokens=500))
            assert context.recalled
        assert called == []


async def test_first_start_writes_the_index_as_it_reads(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Of many files no more waits in memory at a time than one commit takes in, and the file that made it full."""
    async with remembering(tmp_path) as it:
        for day in range(1, 9):
            for number in range(3):
                await it.ask(say(f"kiwi {day} {number}", timestamp=f"2026-04-0{day}T12:0{number}:00+08:00"))
        folder = it.folder
    remove_index(folder)
    monkeypatch.setattr("openclaw_memory.indexing.COMMITTED_AT_ONCE", 5)
    waiting: list[int] = []
    commit = SafeIndex.commit

    def noted(self: SafeIndex, *arguments: Any) -> bool:
        waiting.append(self.waiting)
        return commit(self, *arguments)

    monkeypatch.setattr(SafeIndex, "commit", noted)
    async with remembering(tmp_path) as it:
        await it.memory.index_status()
        assert len(waiting) > 3
        # Three messages, their file and its record.
        assert max(waiting) <= 5 + 3 + 2
        assert (await it.memory.index_status()).blocks == 24
        assert "kiwi 8 2" in await found(it, "kiwi 8 2")
