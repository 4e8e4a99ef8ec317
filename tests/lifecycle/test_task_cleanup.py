"""The table of seed 000 section 2.3: 7, 30, 14 and 30 days, each with its trigger."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given
from hypothesis import strategies as st

from contracts import HeartbeatTick, MemoryRead, MemoryWrite, TaskStateChange
from openclaw_memory.layers.task_upkeep import expired, to_archive, to_summary
from openclaw_memory.markdown.task_blocks import parse_tasks
from tests.support import START, Remembering, remembering

ZONE = ZoneInfo("Asia/Shanghai")
QUICK: dict[str, Any] = {"index": {"type": "memory"}}


async def new(it: Remembering, title: str = "写报告", **more: Any) -> str:
    written = await it.ask(MemoryWrite(type="task", content={"title": title, **more}, session_id="s1"))
    assert written.success, written.message
    return str(written.key.partition("#")[2])


async def change(it: Remembering, task: str, state: str) -> None:
    written = await it.ask(TaskStateChange(task_id=task, new_state=state))  # type: ignore[arg-type]
    assert written.success, written.message


async def tick(it: Remembering) -> dict[str, tuple[str, ...]]:
    done = await it.ask(HeartbeatTick(now=it.clock.now()))
    return {job.name: job.keys for job in done.jobs if job.keys}


async def states(it: Remembering, path: str) -> dict[str, str]:
    await it.flushed()
    file = it.folder / path
    text = file.read_text(encoding="utf-8") if file.exists() else ""
    return {task.id: task.state for task in parse_tasks(text, ZONE)}


def days(it: Remembering, number: float) -> None:
    it.clock.advance(number * 86_400)


async def test_pending_for_more_than_14_days_expires_daily(tmp_path: Path) -> None:
    """At fourteen days it is pending still; after, it is marked, and comes last."""
    async with remembering(tmp_path, **QUICK) as it:
        old = await new(it, "旧任务", priority="high")
        days(it, 1)
        running = await new(it, "在做的")
        await change(it, running, "in_progress")
        days(it, 13)
        await tick(it)
        assert await states(it, "tasks/active.md") == {old: "pending", running: "in_progress"}
        fresh = await new(it, "新任务", priority="low")
        days(it, 1)
        assert (await tick(it))["task_cleanup"] == (f"tasks/active.md#{old}",)
        assert await states(it, "tasks/active.md") == {old: "expired", running: "in_progress", fresh: "pending"}
        context = await it.ask(MemoryRead(query="", session_id="s1", max_tokens=1_000))
        assert [task.id for task in context.tasks] == [running, fresh, old]
        days(it, 1)
        assert "task_cleanup" not in await tick(it)


async def test_pending_for_more_than_30_days_is_archived_weekly(tmp_path: Path) -> None:
    """With the first tick of a week, into the archive of that month; a missed tick loses nothing."""
    async with remembering(tmp_path, **QUICK) as it:
        old = await new(it, "旧任务", description="细节", steps=[{"text": "一步"}])
        it.clock.move_to(datetime.fromisoformat("2026-06-03T14:29:00+08:00"))
        assert "task_archive" not in await tick(it)
        # Wednesday: more than thirty days, but the week's clean-up has been.
        it.clock.move_to(datetime.fromisoformat("2026-06-04T14:31:00+08:00"))
        assert "task_archive" not in await tick(it)
        it.clock.move_to(datetime.fromisoformat("2026-06-08T00:01:00+08:00"))
        assert (await tick(it))["task_archive"] == (f"tasks/archived/2026-06-tasks.md#{old}",)
        assert await states(it, "tasks/active.md") == {}
        assert await states(it, "tasks/archived/2026-06-tasks.md") == {old: "expired"}
        text = (it.folder / "tasks/archived/2026-06-tasks.md").read_text(encoding="utf-8")
        assert "细节" in text
        assert "- [ ] 一步" in text
        assert "# 归档任务 - 2026-06" in text
        written = await it.ask(TaskStateChange(task_id=old, new_state="in_progress"))
        assert not written.success
        assert "archived" in (written.message or "")
        assert await new(it, "下一个") == "OPEN-002"


async def test_a_month_without_ticks(tmp_path: Path) -> None:
    """Expired and archived with the first tick after it."""
    async with remembering(tmp_path, **QUICK) as it:
        old = await new(it)
        days(it, 100)
        found = await tick(it)
        assert found["task_cleanup"] == (f"tasks/active.md#{old}",)
        assert found["task_archive"] == (f"tasks/archived/2026-08-tasks.md#{old}",)


async def test_completed_for_7_days_leaves_with_a_change_of_state_only(tmp_path: Path) -> None:
    """The heartbeat leaves it where it is."""
    async with remembering(tmp_path, **QUICK) as it:
        done, other = await new(it, "做完的"), await new(it, "别的")
        await change(it, done, "completed")
        days(it, 8)
        await tick(it)
        assert (await states(it, "tasks/active.md"))[done] == "completed"
        await change(it, other, "in_progress")
        assert await states(it, "tasks/active.md") == {other: "in_progress"}
        assert await states(it, "tasks/completed.md") == {done: "completed"}


async def test_completed_for_more_than_30_days_goes_into_the_summary_of_its_month(tmp_path: Path) -> None:
    """A line there, the whole task in the archive of the month; also before the summary is made, and after."""
    async with remembering(tmp_path, **QUICK) as it:
        await it.ask(
            MemoryWrite(type="conversation", content={"role": "user", "content": "我买了书 X-1。"}, session_id="s")
        )
        done, other = await new(it, "做完的", description="细节"), await new(it, "别的")
        await change(it, done, "completed")
        days(it, 8)
        await change(it, other, "in_progress")
        days(it, 22)
        assert "summaries/monthly/2026-05.md" in (await tick(it))["summaries"]
        assert await states(it, "tasks/completed.md") == {done: "completed"}
        days(it, 1)
        found = await tick(it)
        assert found["task_cleanup"] == (f"tasks/archived/2026-05-tasks.md#{done}", "summaries/monthly/2026-05.md")
        await it.flushed()
        text = (it.folder / "summaries/monthly/2026-05.md").read_text(encoding="utf-8")
        assert text.endswith(f"## 完成的任务\n\n- [x] [{done}] 做完的 (2026-05-04)\n")
        assert "X-1" in text
        assert "细节" in (it.folder / "tasks/archived/2026-05-tasks.md").read_text(encoding="utf-8")
        assert await states(it, "tasks/completed.md") == {}
        # A late message makes it anew, and the section stays.
        late = {"role": "user", "content": "还有 X-2。", "timestamp": START.isoformat()}
        await it.ask(MemoryWrite(type="conversation", content=late, session_id="s"))
        days(it, 1)
        assert "summaries/monthly/2026-05.md" in (await tick(it))["summaries"]
        await it.flushed()
        text = (it.folder / "summaries/monthly/2026-05.md").read_text(encoding="utf-8")
        assert "X-2" in text
        assert text.count(f"[{done}]") == 1


async def test_a_month_that_is_not_summarised_yet(tmp_path: Path) -> None:
    """Its file begins with the tasks; what a person made of the file stays."""
    async with remembering(tmp_path, **QUICK) as it:
        done, other = await new(it, "做完的"), await new(it, "别的")
        await change(it, done, "completed")
        days(it, 8)
        await change(it, other, "completed")
        days(it, 23)
        await tick(it)
        await it.flushed()
        file = it.folder / "summaries/monthly/2026-05.md"
        text = file.read_text(encoding="utf-8")
        assert "# 每月摘要 - 2026-05" in text
        file.write_text(text + "\n我的补充。\n", encoding="utf-8")
        third = await new(it, "第三")
        await change(it, third, "in_progress")
        days(it, 10)
        await tick(it)
        await it.flushed()
        text = file.read_text(encoding="utf-8")
        assert "我的补充。" in text
        assert f"[{done}]" in text
        assert f"[{other}] 别的 (2026-05-12)" in text


async def test_many_tasks_keep_the_month_short(tmp_path: Path) -> None:
    """What there is no room for is counted, and is in the archive."""
    async with remembering(tmp_path, summaries={"monthly_tokens": 600}, **QUICK) as it:
        items = [
            {
                "event": "memory:write",
                "data": {"type": "task", "content": {"title": f"做第 {n} 件事"}, "sessionId": "s"},
            }
            for n in range(15)
        ]
        await it.ask(MemoryWrite(type="batch", content={"items": items}, session_id="s"))
        for number in range(1, 16):
            await change(it, f"OPEN-{number:03}", "completed")
        days(it, 8)
        last = await new(it, "最后")
        await change(it, last, "in_progress")
        days(it, 30)
        await tick(it)
        await it.flushed()
        text = (it.folder / "summaries/monthly/2026-05.md").read_text(encoding="utf-8")
        lines = [line for line in text.splitlines() if line.startswith("- [x]")]
        assert 2 < len(lines) < 15
        assert text.rstrip().endswith(f"- 另有 {15 - len(lines)} 个，见 tasks/archived/2026-05-tasks.md")
        assert len(await states(it, "tasks/archived/2026-05-tasks.md")) == 15


async def test_a_task_that_is_due_later_waits_for_that(tmp_path: Path) -> None:
    """What is meant for next month is not overdue in a fortnight."""
    async with remembering(tmp_path, **QUICK) as it:
        task = await new(it, due="2026-06-30")
        days(it, 57)
        await tick(it)
        assert await states(it, "tasks/active.md") == {task: "pending"}
        days(it, 16)
        await tick(it)
        assert await states(it, "tasks/active.md") == {task: "expired"}


async def test_a_task_that_was_taken_up_again_waits_from_then_on(tmp_path: Path) -> None:
    """Set to pending by hand, it does not expire the next day; another clock than its creation counts."""
    async with remembering(tmp_path, **QUICK) as it:
        task = await new(it)
        days(it, 20)
        await tick(it)
        await change(it, task, "pending")
        days(it, 7)
        await tick(it)
        assert await states(it, "tasks/active.md") == {task: "pending"}
        days(it, 8)
        await tick(it)
        assert await states(it, "tasks/active.md") == {task: "expired"}


async def test_a_task_without_a_date_is_dated_first(tmp_path: Path) -> None:
    """A person wrote it by hand: its days are counted from when it was seen."""
    async with remembering(tmp_path, **QUICK) as it:
        await new(it, "有日期的")
        await it.flushed()
        file = it.folder / "tasks/active.md"
        file.write_text(
            file.read_text(encoding="utf-8") + "\n### [OPEN-009] 手写的\n- 状态: 待处理\n", encoding="utf-8"
        )
        days(it, 1)
        await tick(it)
        days(it, 14)
        await tick(it)
        assert await states(it, "tasks/active.md") == {"OPEN-001": "expired", "OPEN-009": "pending"}
        days(it, 1)
        await tick(it)
        assert (await states(it, "tasks/active.md"))["OPEN-009"] == "expired"


@pytest.mark.parametrize(
    ("name", "state", "line"),
    [
        ("active", "待处理", "- 创建: 去年春天"),
        ("completed", "已完成", "- 完成: 上周五下午"),
        ("completed", "已完成", "- 完成: 2026-01-05\n  - 其中的一句"),
    ],
)
async def test_a_time_in_a_persons_words_is_kept_and_told(tmp_path: Path, name: str, state: str, line: str) -> None:
    """No guess takes its place; the report says how to write it."""
    file = tmp_path / "memory/tasks" / f"{name}.md"
    file.parent.mkdir(parents=True)
    file.write_text(f"### [OPEN-001] 手写的\n- 状态: {state}\n{line}\n", encoding="utf-8")
    async with remembering(tmp_path, **QUICK) as it:
        await new(it, "别的")
        done = await it.ask(HeartbeatTick(now=it.clock.now()))
        (told,) = [job.message for job in done.jobs if job.name == "task_cleanup"]
        assert f"tasks/{name}.md#OPEN-001: " in (told or "")
        days(it, 100)
        await tick(it)
        await it.flushed()
        assert line in file.read_text(encoding="utf-8")


LATE = "- 状态: 待处理\n- 创建: 2026-01-01 10:00\n"
DONE = "- 状态: 已完成\n- 创建: 2026-01-01 10:00\n- 完成: 2026-01-05 10:00\n"
NO_TIME = "- 状态: 待处理\n"


@pytest.mark.parametrize(
    ("active", "completed", "archived"),
    [
        ([LATE, LATE], [], []),
        ([DONE, LATE], [], []),
        ([LATE, DONE], [], []),
        ([NO_TIME, NO_TIME], [], []),
        ([DONE, DONE], [], []),
        ([], [DONE, DONE], []),
        ([DONE], [DONE], []),
        ([], [DONE], [DONE]),
        ([LATE], [], [LATE]),
    ],
)
async def test_tasks_with_one_id_are_kept_and_told(
    tmp_path: Path, active: list[str], completed: list[str], archived: list[str]
) -> None:
    """A person gave them: nothing takes one for the other, day after day, and no job runs for ever."""
    numbers = iter(range(10))
    named = {"active": active, "completed": completed, "archived/2026-01-tasks": archived, "archived/2026-05-tasks": []}
    if active and archived:
        named["archived/2026-05-tasks"] = named.pop("archived/2026-01-tasks")
    for name, tasks in named.items():
        file = tmp_path / "memory/tasks" / f"{name}.md"
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text("\n".join(f"### [OPEN-001] 任务{next(numbers)}号\n{task}" for task in tasks), encoding="utf-8")
    async with remembering(tmp_path, **QUICK) as it:
        other = await new(it, "别的")
        problems = []
        for _ in range(3):
            done = await it.ask(HeartbeatTick(now=it.clock.now()))
            assert [job.name for job in done.jobs if job.outcome == "failed"] == []
            problems += [job.message for job in done.jobs if job.message and "OPEN-001" in job.message]
            days(it, 4)
        await it.flushed()
        answer = await it.ask(TaskStateChange(task_id=other, new_state="in_progress"))
        assert answer.success
        problems += [answer.message] if answer.message else []
        await it.flushed()
        texts = [file.read_text(encoding="utf-8") for file in (tmp_path / "memory/tasks").rglob("*.md")]
    everything = "".join(texts)
    assert [everything.count(f"任务{number}号") for number in range(next(numbers))] == [1] * (
        len(active) + len(completed) + len(archived)
    )
    assert "未采用" not in everything
    if (active, completed) != ([DONE], [DONE]):
        # There, the older one has gone into its month before the other one came.
        assert any("OPEN-001" in problem for problem in problems)


async def test_a_change_of_state_succeeds_where_another_task_can_not_be_moved(tmp_path: Path) -> None:
    """The move waits until the person has given one of them another id, and is told of."""
    async with remembering(tmp_path, **QUICK) as it:
        folder = it.folder / "tasks"
        folder.mkdir(parents=True, exist_ok=True)
        (folder / "active.md").write_text(f"### [OPEN-001] 甲\n{DONE}\n### [OPEN-002] 乙\n{LATE}", encoding="utf-8")
        (folder / "completed.md").write_text(f"### [OPEN-001] 丙\n{DONE}", encoding="utf-8")
        answer = await it.ask(TaskStateChange(task_id="OPEN-002", new_state="in_progress"))
        assert (answer.success, answer.key) == (True, "tasks/active.md#OPEN-002")
        assert "tasks/active.md#OPEN-001 can't be moved to tasks/completed.md" in (answer.message or "")
        assert "give one of them another id" in (answer.message or "")
        assert await states(it, "tasks/active.md") == {"OPEN-001": "completed", "OPEN-002": "in_progress"}
        (folder / "completed.md").write_text(f"### [OPEN-003] 丙\n{DONE}", encoding="utf-8")
        answer = await it.ask(TaskStateChange(task_id="OPEN-002", new_state="pending"))
        assert answer.message is None
        assert await states(it, "tasks/active.md") == {"OPEN-002": "pending"}
        assert await states(it, "tasks/completed.md") == {"OPEN-003": "completed", "OPEN-001": "completed"}


@pytest.mark.parametrize("fault", ["append"])
async def test_a_full_disk_moves_nothing_halfway(tmp_path: Path, fault: str) -> None:
    """A task is in one file, always."""
    from tests.support import FaultyFiles, no_space

    files = FaultyFiles()
    async with remembering(tmp_path, files=files, **QUICK) as it:
        task = await new(it)
        await it.flushed()
        days(it, 100)
        files.fault = no_space(fault)
        done = await it.ask(HeartbeatTick(now=it.clock.now()))
        assert any(job.outcome == "failed" for job in done.jobs)
        files.fault = lambda operation, path: None
        days(it, 7)
        await tick(it)
        everywhere = [await states(it, path) for path in ("tasks/active.md", "tasks/archived/2026-08-tasks.md")]
        assert [list(found) for found in everywhere] == [[], [task]]


@given(age=st.integers(0, 60), due=st.none() | st.integers(-60, 60))
def test_rules_by_age(age: int, due: int | None) -> None:
    """Exactly the table: more than so many days, counted from what is later of creation and due date."""
    now = datetime(2026, 5, 4, 12, 0, tzinfo=UTC)
    created = now - timedelta(days=age)
    lines = [f"### [OPEN-001] x\n- 状态: 待处理\n- 创建: {created:%Y-%m-%d %H:%M}\n"]
    waits = age
    if due is not None:
        moment = now + timedelta(days=due)
        lines.append(f"- 截止: {moment:%Y-%m-%d %H:%M}\n")
        waits = min(age, -due)
    tasks = parse_tasks("".join(lines), UTC)
    assert (tasks[0].due is not None) == (due is not None)
    assert bool(expired(tasks, {}, now, UTC)) == (waits > 14)
    assert bool(to_archive(tasks, {}, now, UTC)) == (waits > 30)
    assert to_summary(tasks, now) == []
