"""HISTORY.md holds the current month; the months before are compressed, and found as before."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from contracts import Forget, HeartbeatTick, MemoryGet, MemorySearch, MemoryWrite, MessageContent, Selector
from openclaw_memory.errors import UnreadableDocumentError
from openclaw_memory.layers import history, history_shards
from openclaw_memory.layers.history_shards import zstd
from openclaw_memory.markdown.messages import Message
from openclaw_memory.markdown.text import clean
from openclaw_memory.storage.documents import Draft
from openclaw_memory.storage.files import LocalFiles
from tests.support import START, FaultyFiles, Remembering, no_space, remembering

MODE: dict[str, Any] = {"mode": "history", "heartbeat": {"enabled": False}, "window_size": 10_000}
SHARD = "workspace/main/memory/HISTORY-2026-04.md.zst"


async def say(room: Remembering, text: str, when: datetime) -> None:
    said = MessageContent(role="user", content=text, timestamp=when)
    assert (await room.ask(MemoryWrite(type="conversation", content=said, session_id="s1"))).success


async def spring(room: Remembering) -> None:
    """Two messages of March, two of April, one of May, as they came."""
    for month, day, text in ((3, 1, "三月一号的茶"), (3, 31, "三月末的船"), (4, 2, "四月的山"), (4, 30, "四月末的云")):
        await say(room, text, datetime(2026, month, day, 2, tzinfo=UTC))
    await say(room, "五月的海", START)


async def tick(room: Remembering) -> Any:
    await room.ask(HeartbeatTick(now=room.clock.now()))
    await room.flushed()


def folder(room: Remembering) -> Path:
    return room.memory.config.workspace_folder / "memory"


def texts(room: Remembering) -> dict[str, str]:
    found = {}
    for path in sorted(folder(room).glob("HISTORY*")):
        data = path.read_bytes()
        found[path.name] = (zstd.decompress(data) if path.suffix == ".zst" else data).decode()
    return found


async def test_months_that_are_over(tmp_path: Path) -> None:
    """A line is in its month's file, word for word, and nowhere else."""
    async with remembering(tmp_path, **MODE) as room:
        await spring(room)
        await room.flushed()
        whole = texts(room)["HISTORY.md"].splitlines()
        await tick(room)
        parts = texts(room)
        assert list(parts) == ["HISTORY-2026-03.md.zst", "HISTORY-2026-04.md.zst", "HISTORY.md"]
        assert [line for part in parts.values() for line in part.splitlines()] == whole
        assert [len(part.splitlines()) for part in parts.values()] == [2, 2, 1]


async def test_found_as_before_and_after_a_restart(tmp_path: Path) -> None:
    """By search in the layer, and by its path and lines; also by who reads beside the owner."""
    own = {**MODE, "conversations": {}}
    async with remembering(tmp_path, **own) as room:
        path = folder(room) / "HISTORY.md"
        path.parent.mkdir(parents=True)
        path.write_text("# 记录\n\n[2026-02-15 10:00] 只在这里的鲸鱼\n第二行\n[2026-05-01 10:00] 新的\n")
        await tick(room)
        assert texts(room)["HISTORY.md"] == "# 记录\n\n[2026-05-01 10:00] 新的\n"

        async def check(room: Remembering) -> None:
            (hit,) = (await room.ask(MemorySearch(query="鲸鱼", layers=("history",)))).results
            assert (hit.path, hit.start_line, hit.end_line) == (SHARD.replace("-04", "-02"), 1, 2)
            document = await room.ask(MemoryGet(path=hit.path, lines=1))
            assert document.text == "[2026-02-15 10:00] 只在这里的鲸鱼\n"

        await check(room)
        async with remembering(tmp_path, files=LocalFiles(), **own) as beside:
            await check(beside)
    async with remembering(tmp_path, **own) as room:
        await check(room)


async def test_an_old_view_is_saved_over_it(tmp_path: Path) -> None:
    """What comes back by that goes again, and is in its month's file once."""
    async with remembering(tmp_path, **MODE) as room:
        await spring(room)
        await room.flushed()
        old = (folder(room) / "HISTORY.md").read_text()
        await tick(room)
        (folder(room) / "HISTORY.md").write_text(old)
        room.clock.advance(86_400)
        await tick(room)
        parts = texts(room)
        assert [len(part.splitlines()) for part in parts.values()] == [2, 2, 1]


async def test_lines_that_say_the_same(tmp_path: Path) -> None:
    """Of a person's equal lines none is lost, whatever is moved when."""
    line = "[2026-04-01 10:00] 一样的\n"
    async with remembering(tmp_path, **MODE) as room:
        path = folder(room) / "HISTORY.md"
        path.parent.mkdir(parents=True)
        path.write_text(line * 2)
        await tick(room)
        assert texts(room)["HISTORY-2026-04.md.zst"] == line * 2
        path.write_text(line)
        room.clock.advance(86_400)
        await tick(room)
        assert sum(part.count(line) for part in texts(room).values()) == 3


async def test_late_messages_of_an_old_month(tmp_path: Path) -> None:
    """They are added at its end, with the next day."""
    async with remembering(tmp_path, **MODE) as room:
        await spring(room)
        await tick(room)
        await say(room, "四月补记", datetime(2026, 4, 3, tzinfo=UTC))
        room.clock.advance(86_400)
        await tick(room)
        assert "四月补记" in texts(room)["HISTORY-2026-04.md.zst"].splitlines()[-1]


async def test_a_full_disk_in_the_middle(tmp_path: Path) -> None:
    """Nothing is lost, nothing is there twice, and the next tick goes on."""
    disk = FaultyFiles()
    async with remembering(tmp_path, files=disk, **MODE) as room:
        await spring(room)
        await room.flushed()
        whole = texts(room)["HISTORY.md"].splitlines()
        for operations in (("append", "sync"), ("create",), ("rename", "exchange", "rename_new")):
            disk.fault = no_space(*operations)
            await room.ask(HeartbeatTick(now=room.clock.now()))
            await room.flushed()
        disk.fault = lambda operation, path: None
        room.clock.advance(86_400)
        await tick(room)
        room.clock.advance(60)
        await room.flushed()
        assert [line for part in texts(room).values() for line in part.splitlines()] == whole


async def test_a_crash_after_it(tmp_path: Path) -> None:
    """What was moved and not yet rewritten is moved again from the journal."""
    async with remembering(tmp_path / "live", **MODE) as room:
        await spring(room)
        await room.flushed()
        whole = texts(room)["HISTORY.md"].splitlines()
        await room.ask(HeartbeatTick(now=room.clock.now()))
        room.crashed_copy(tmp_path / "crashed")
    async with remembering(tmp_path / "crashed", **MODE) as room:
        await room.flushed()
        assert [line for part in texts(room).values() for line in part.splitlines()] == whole


@pytest.mark.parametrize(
    "data", [b"", b"no zstd", zstd.compress(b"[2026-04-01 10:00] x\n" * 50)[:-3], b"\x28\xb5\x2f\xfd"]
)
async def test_a_damaged_month_costs_itself(tmp_path: Path, data: bytes) -> None:
    """It is left as it is, named, and the rest is answered from; what belongs there waits in HISTORY.md."""
    async with remembering(tmp_path, **MODE) as room:
        path = folder(room) / "HISTORY-2026-04.md.zst"
        path.parent.mkdir(parents=True)
        path.write_bytes(data)
        await spring(room)
        await tick(room)
        found = await room.ask(MemorySearch(query="四月的山"))
        assert found.results
        if data:
            assert path.read_bytes() == data
            assert any("HISTORY-2026-04" in name for name in room.memory.status().unreadable)
            assert "四月的山" in texts_of(folder(room) / "HISTORY.md")
            assert "三月一号的茶" not in texts_of(folder(room) / "HISTORY.md")


def texts_of(path: Path) -> str:
    return path.read_text()


def test_a_file_that_opens_to_too_much() -> None:
    """A few bytes may hold gigabytes; they are not opened."""
    bomb = zstd.compress(b"\0" * (history.MAX_BYTES + 1))
    assert len(bomb) < 20_000
    with pytest.raises(UnreadableDocumentError, match="when opened"):
        history_shards.FORMAT.parse(SHARD, bomb)


def test_several_frames() -> None:
    """`cat` of two compressed files is one."""
    one, two = b"[2026-04-01 10:00] a\n", b"[2026-04-02 10:00] b\n"
    document = history_shards.FORMAT.parse(SHARD, zstd.compress(one) + zstd.compress(two))
    assert [entry.text for entry in document.entries] == ["a", "b"]


LINES = st.lists(
    st.tuples(st.integers(0, 200), st.text(max_size=20), st.booleans()),
    max_size=12,
)


@given(LINES)
def test_nothing_is_lost_whatever_the_lines(given: list[tuple[int, str, bool]]) -> None:
    """All lines of both files together are those that there were, and each month's are of that month."""
    path, other = history.PATH, "memory/HISTORY-2026-04.md.zst"
    text = "前言\n"
    for day, said, ours in given:
        when = datetime(2026, 1, 1, tzinfo=UTC) + timedelta(days=day)
        line = " ".join(said.split())
        if ours:
            text += history.format_entry(Message(f"m{len(text)}", "s", "user", when, clean(said)[0]), "\n")
        else:
            text += f"[{when:%Y-%m-%d %H:%M}] {line}\n"
    document = history.FORMAT.parse(path, clean(text)[0].encode())
    draft = Draft(
        {path: history.FORMAT, other: history_shards.FORMAT},
        {path: document, other: history_shards.FORMAT.new(other)},
    )
    months = history_shards.by_month(document.entries, UTC, datetime(2026, 5, 4, tzinfo=UTC).date())
    for entries in months.values():
        history.plan_move(draft, path, other, entries)
    here, there = draft.document(path), draft.document(other)
    assert sorted(here.text.split("\n") + there.text.split("\n")) == sorted([*document.text.split("\n"), ""])
    again = history_shards.FORMAT.parse(other, history_shards.FORMAT.render(there)[0])
    assert again == there
    assert history.FORMAT.parse(path, here.text.encode()) == here


async def test_forgotten_in_a_month_that_is_over(tmp_path: Path) -> None:
    """It leaves the compressed file like any other, and the other lines of it stay (case 34)."""
    async with remembering(tmp_path, **MODE) as room:
        await spring(room)
        await tick(room)
        done = await room.ask(Forget(selector=Selector(text="四月的山")))
        assert (done.verified, done.notice) == (True, None)
        assert any(place.path.endswith("HISTORY-2026-04.md.zst") for place in done.places)
        await room.flushed()
        left = texts(room)["HISTORY-2026-04.md.zst"]
        assert "四月的山" not in left
        assert "四月末的云" in left
