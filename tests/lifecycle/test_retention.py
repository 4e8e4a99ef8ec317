"""Old conversations go into an archive, whole, and are found as before."""

from __future__ import annotations

from datetime import date, timedelta
from pathlib import Path

import pytest

from contracts import HeartbeatTick, JobReport, MemoryGet, MemoryRead, MemorySearch, MemoryWrite
from openclaw_memory.layers.parts import archived, day_of, next_parts, order_of, parts_of
from openclaw_memory.lifecycle.retention import to_archive
from tests.support import START, FaultyFiles, Remembering, no_space, remembering


async def say(it: Remembering, text: str, **more: object) -> str:
    content = {"role": "user", "content": text, **more}
    return str((await it.ask(MemoryWrite(type="conversation", content=content, session_id="s1"))).key)


async def tick(it: Remembering) -> JobReport | None:
    done = await it.ask(HeartbeatTick(now=it.clock.now()))
    return next((job for job in done.jobs if job.name == "retention"), None)


async def found(it: Remembering, query: str) -> list[str]:
    """Where the best hit lies; neighbours of it are hits as well."""
    results = await it.ask(MemorySearch(query=query, layers=("conversation",)))
    return [result.path for result in results.results if query in result.snippet]


async def test_old_days_are_archived_and_still_found(tmp_path: Path) -> None:
    """More than so many days ago; by search, by address, in a context, after a restart."""
    async with remembering(tmp_path, retention_days=30) as it:
        key = await say(it, "我的护照号是 E-12345678。")
        it.clock.advance(86_400)
        await say(it, "今天下雨。")
        it.clock.advance(29 * 86_400)
        report = await tick(it)
        assert report is not None
        assert report.outcome == "nothing"
        it.clock.advance(86_400)
        report = await tick(it)
        assert report is not None
        assert (report.outcome, report.keys) == ("done", ("conversations/archive/2026-05-04.md",))
        assert not (it.folder / "conversations/2026-05-04.md").exists()
        assert (it.folder / "conversations/2026-05-05.md").exists()
        text = (it.folder / "conversations/archive/2026-05-04.md").read_text(encoding="utf-8")
        assert "type: conversation" in text
        assert "护照号" in text
        assert await found(it, "护照号") == ["conversations/archive/2026-05-04.md"]
        context = await it.ask(MemoryRead(query="护照号是多少?", session_id="other", max_tokens=1_000))
        assert context.citations[0].key == key
        it.clock.advance(60)
    async with remembering(tmp_path, now=START + timedelta(days=32), retention_days=30) as it:
        assert await found(it, "护照号") == ["conversations/archive/2026-05-04.md"]
        await tick(it)
        assert sorted(path.name for path in (it.folder / "conversations/archive").glob("2*.md")) == [
            "2026-05-04.md",
            "2026-05-05.md",
        ]
        # The summaries of these days are those that were made before.
        assert [path.name for path in (it.folder / "summaries/daily").glob("2*.md")].count("2026-05-04.md") == 1


async def test_a_late_message_of_an_archived_day(tmp_path: Path) -> None:
    """It is put with the others the next day; an address names the day, wherever the message lies."""
    async with remembering(tmp_path, retention_days=1) as it:
        await say(it, "早的一句，编号 K-1。")
        it.clock.advance(2 * 86_400)
        await tick(it)
        key = await say(it, "迟到的一句，编号 K-2。", timestamp=START.isoformat())
        assert key.startswith("conversations/2026-05-04.md#")
        assert await found(it, "K-2") == ["conversations/2026-05-04.md"]
        it.clock.advance(86_400)
        await tick(it)
        assert await found(it, "K-1") == ["conversations/archive/2026-05-04.md"]
        assert await found(it, "K-2") == ["conversations/archive/2026-05-04.md"]
        await it.flushed()
        summary = (it.folder / "summaries/daily/2026-05-04.md").read_text(encoding="utf-8")
        assert "K-1" in summary
        assert "K-2" in summary


@pytest.mark.parametrize("again", [False, True])
async def test_an_address_from_before_leads_into_the_archive(tmp_path: Path, again: bool) -> None:
    """Given out before the move, in this run or an earlier one; what lies at the address itself comes first."""
    day, there = "conversations/2026-05-04.md", "conversations/archive/2026-05-04.md"
    days = timedelta(days=3)
    async with remembering(tmp_path, retention_days=1) as it:
        await say(it, "早的一句，编号 K-1。")
        before = await it.ask(MemoryGet(path=day))
        assert (before.path, "K-1" in before.text) == (day, True)
        it.clock.advance(days.total_seconds())
        await tick(it)
        if not again:
            await _archived_answers(it, day, there)
    if again:
        async with remembering(tmp_path, now=START + days, retention_days=1) as it:
            await _archived_answers(it, day, there)


async def _archived_answers(it: Remembering, day: str, there: str) -> None:
    after = await it.ask(MemoryGet(path=day))
    assert (after.path, "K-1" in after.text) == (there, True)
    assert await it.ask(MemoryGet(path=day, from_=2, lines=1)) == await it.ask(MemoryGet(path=there, from_=2, lines=1))
    await say(it, "迟到的一句，编号 K-2。", timestamp=START.isoformat())
    late = await it.ask(MemoryGet(path=day))
    assert (late.path, "K-2" in late.text, "K-1" in late.text) == (day, True, False)
    assert "K-1" in (await it.ask(MemoryGet(path=there))).text
    nothing = await it.ask(MemoryGet(path="conversations/2026-05-01.md"))
    assert (nothing.text, "no document" in (nothing.notice or "")) == ("", True)


async def test_what_a_person_wrote_above_the_messages_stays(tmp_path: Path) -> None:
    """The file stays with it."""
    async with remembering(tmp_path, retention_days=1) as it:
        await say(it, "一句话。")
        await it.flushed()
        file = it.folder / "conversations/2026-05-04.md"
        head, _, rest = file.read_text(encoding="utf-8").partition("---\n### ")
        file.write_text(f"{head}---\n我的批注。\n\n### {rest}", encoding="utf-8")
        it.clock.advance(3 * 86_400)
        await tick(it)
        await it.flushed()
        assert "我的批注。" in file.read_text(encoding="utf-8")
        assert "一句话" not in file.read_text(encoding="utf-8")
        assert await found(it, "一句话") == ["conversations/archive/2026-05-04.md"]


async def test_a_crash_between_moving_and_removing(tmp_path: Path) -> None:
    """The message is in one place, and the empty file goes with the next run."""
    files = FaultyFiles()
    async with remembering(tmp_path / "one", files=files, retention_days=1) as it:
        await say(it, "一句话。")
        it.clock.advance(3 * 86_400)
        await it.flushed()
        files.fault = no_space("create")
        report = await tick(it)
        assert report is not None
        it.crashed_copy(tmp_path / "two")
        files.fault = lambda operation, path: None
    async with remembering(tmp_path / "two", now=START + timedelta(days=4), retention_days=1) as it:
        assert await found(it, "一句话") == ["conversations/archive/2026-05-04.md"]
        await tick(it)
        assert not (it.folder / "conversations/2026-05-04.md").exists()
        assert await found(it, "一句话") == ["conversations/archive/2026-05-04.md"]


async def test_off_by_default(tmp_path: Path) -> None:
    """Nothing moves for its age that nobody asked to be moved."""
    async with remembering(tmp_path) as it:
        await say(it, "一句话。")
        it.clock.advance(4_000 * 86_400)
        assert await tick(it) is None


def test_archived_parts_come_first() -> None:
    """They were said before; a new part's number goes by those that are not archived."""
    paths = ["conversations/2026-05-04.md", "conversations/2026-05-04-001.md", "conversations/2026-05-04-002.md"]
    everything = [*paths, *map(archived, paths)]
    day = paths[0]
    assert {day_of(path) for path in everything} == {day}
    assert sorted(everything, key=order_of) == [*map(archived, [paths[1], paths[2], day]), paths[1], paths[2], day]
    assert parts_of(day, everything) == [*map(archived, [paths[1], paths[2], day]), paths[1], paths[2]]
    assert next_parts(day, everything, 1) == ["conversations/2026-05-04-003.md"]
    assert next_parts(day, map(archived, paths), 1) == ["conversations/2026-05-04-001.md"]


@pytest.mark.parametrize(
    ("days", "expected"), [(1, ["2026-05-01.md", "2026-05-02.md"]), (3, []), (2, ["2026-05-01.md"])]
)
def test_more_than_so_many_days(days: int, expected: list[str]) -> None:
    """Counted in days of the calendar."""
    paths = [f"conversations/2026-05-0{day}.md" for day in (1, 2, 3, 4)]
    found_paths = to_archive(paths, date(2026, 5, 4), days)
    assert [path.rpartition("/")[2] for path in found_paths] == expected
