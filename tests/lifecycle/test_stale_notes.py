"""Notes for a day that is long past: recognised, ranked lower, listed, never removed (seed 002)."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from contracts import HeartbeatTick, MemorySearch, MemoryWrite
from openclaw_memory.retrieval import Block
from openclaw_memory.retrieval.stale import days_meant, is_stale
from tests.support import remembering


@pytest.mark.parametrize(
    ("text", "days"),
    [
        ("今天要做完报表页面", 0),
        ("- [ ] 今晚给妈妈打电话", 0),
        ("待会儿得去买菜", 0),
        ("明天记得带身份证", 1),
        ("后天要交报告", 2),
        ("本周必须上线", 7),
        ("下周打算去上海，今天先订票", 14),
        ("today I need to finish the login", 0),
        ("Call Bob tomorrow, don't forget", 1),
        ("We plan to ship this week", 7),
        # What has no day, is done, or holds for good.
        ("用户偏好 TypeScript", None),
        ("要完成登录功能", None),
        ("今天完成了登录功能", None),
        ("今天下雨，很冷", None),
        ("今天要交的报告已经交了，做完了", None),
        ("从今天起要用 pnpm", None),
        ("每天要喝水", None),
        ("- [x] 今天要买菜", None),
        ("today was a good day", None),
        ("from today on we must use pnpm", None),
        ("finished the report today, done", None),
        ("客户今天的要求是改颜色", None),
    ],
)
def test_what_a_note_means_to_be_done(text: str, days: int | None) -> None:
    """In both languages."""
    assert days_meant(text) == days


@pytest.mark.parametrize(("age", "stale"), [(0, False), (7, False), (8, True), (400, True)])
def test_a_week_later(age: int, stale: bool) -> None:
    """Not before; and never of a layer that tells what was said."""
    now = datetime(2026, 5, 20, tzinfo=UTC)

    def block(layer: str, text: str) -> Block:
        return Block("k", layer, "p", 1, 1, text, now - timedelta(days=age))  # type: ignore[arg-type]

    assert is_stale(block("note", "今天要做完报表页面"), now) is stale
    assert not is_stale(block("conversation", "今天要做完报表页面"), now)
    assert is_stale(block("note", "下周要去上海"), now) is (age > 21)


async def test_they_are_listed_ranked_lower_and_kept(tmp_path: Path) -> None:
    """A note of the same words that means something still comes first; nothing changes in the files."""
    async with remembering(tmp_path) as it:
        for text in ("- 今天要做完报表页面的联调", "- 报表页面的联调，用测试账号 T-9"):
            await it.ask(MemoryWrite(type="note", content={"text": text}, session_id="s1"))
        await it.flushed()
        before = {path: path.read_bytes() for path in it.memory.config.workspace_folder.rglob("*.md")}
        search = MemorySearch(query="要完成报表页面的联调", layers=("note",), explain=True)
        fresh = [result.snippet for result in (await it.ask(search)).results]
        assert "今天要做完" in fresh[0]
        assert it.memory.status().stale == {}
        it.clock.advance(9 * 86_400)
        done = await it.ask(HeartbeatTick(now=it.clock.now()))
        assert [job.outcome for job in done.jobs if job.name == "stale_notes"] == ["nothing"]
        (key,), (line,) = it.memory.status().stale.keys(), it.memory.status().stale.values()
        assert "2026-05-04.md#L" in key
        assert "今天要做完报表页面的联调" in line
        assert it.memory.status().healthy
        results = (await it.ask(search)).results
        assert {result.snippet for result in results} == set(fresh)
        lowered = next(result for result in results if "今天要做完" in result.snippet)
        assert any("stale" in step for step in lowered.steps or ())
        await it.flushed()
        assert before == {path: path.read_bytes() for path in before}


async def test_an_expired_task_is_ranked_lower(tmp_path: Path) -> None:
    """By search too."""
    async with remembering(tmp_path) as it:
        await it.ask(MemoryWrite(type="task", content={"title": "整理发票"}, session_id="s1"))
        it.clock.advance(20 * 86_400)
        await it.ask(MemoryWrite(type="task", content={"title": "整理发票和收据"}, session_id="s1"))
        await it.ask(HeartbeatTick(now=it.clock.now()))
        results = (await it.ask(MemorySearch(query="整理发票", layers=("task",)))).results
        assert "收据" in results[0].snippet
        assert len(results) == 2
