"""Tasks: read in both languages, changed line by line, moved whole."""

from __future__ import annotations

from dataclasses import fields, replace
from datetime import UTC, date, datetime, timedelta, timezone

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from openclaw_memory.markdown.errors import UnknownTaskError, UnwritableValueError
from openclaw_memory.markdown.items import canonical
from openclaw_memory.markdown.message_header import Language
from openclaw_memory.markdown.tasks import (
    Step,
    Task,
    append_task,
    edit_task,
    highest_id,
    insert_task,
    new_task_body,
    parse_tasks,
    remove_task,
)
from openclaw_memory.markdown.text import newline_of, split_lines

SHANGHAI = timezone(timedelta(hours=8))
LINES = st.sampled_from(
    [
        "# 活跃任务",
        "## 任务列表",
        "## 备注",
        "### [OPEN-001] 迁移状态管理",
        "### [OPEN-002] Other",
        "### 没有编号",
        "- 状态: 进行中",
        "- Status: done",
        "- 创建: 2026-05-03 14:30",
        "- 我的: 自己的",
        "- 步骤:",
        "  - [x] 安装",
        "    - deeper",
        "  - [ ] 测试",
        "  1. 不带框",
        "```",
        "<!-- open",
        "",
        "text",
    ]
)
BODIES = st.builds(
    lambda lines, newline, end: newline.join(lines) + (newline if end else ""),
    st.lists(LINES, max_size=14),
    st.sampled_from(["\n", "\r\n"]),
    st.booleans(),
)
ONE_LINE = st.text("ab中 #[]x-*:：\\`.1", min_size=1, max_size=10).map(str.strip).filter(bool)
TEXTS = st.none() | st.text("ab中\n -#`:", min_size=1, max_size=12).map(canonical).filter(bool)
TIMES = st.datetimes(timezones=st.just(SHANGHAI)).map(lambda moment: moment.replace(second=0, microsecond=0))
STEPS = st.lists(st.builds(Step, ONE_LINE, st.booleans()), max_size=4).map(tuple)
TASKS = st.builds(
    Task,
    id=st.just("OPEN-007"),
    title=ONE_LINE,
    state=st.sampled_from(["pending", "in_progress", "completed", "expired"]),
    priority=st.sampled_from(["high", "medium", "low"]),
    created=st.none() | TIMES,
    due=st.none() | TIMES | st.dates(),
    completed=st.none() | TIMES,
    description=TEXTS,
    reason=TEXTS,
    steps=STEPS,
)
NAMES = [field.name for field in fields(Task) if field.name != "id"]


def find(body: str, task_id: str) -> Task:
    """Read one task without where it stands."""
    block = next(task for task in parse_tasks(body, SHANGHAI) if task.id == task_id)
    return Task(**{field.name: getattr(block, field.name) for field in fields(Task)})


@given(BODIES, TASKS, st.sampled_from(["zh", "en"]))
@settings(max_examples=40)
def test_an_added_task_is_read_back(body: str, task: Task, language: Language) -> None:
    """Any task finds its place in any file, is read back equal, and changes no other."""
    after = append_task(body, task, language=language, newline=newline_of(body))
    assert find(after, "OPEN-007") == task
    others = [one.raw.rstrip("\r\n") for one in parse_tasks(after, UTC) if one.id != "OPEN-007"]
    assert others == [one.raw.rstrip("\r\n") for one in parse_tasks(body, UTC)]


@given(TASKS, TASKS, st.sets(st.sampled_from(NAMES)), st.sampled_from(["zh", "en"]), st.sampled_from(["\n", "\r\n"]))
@settings(max_examples=40)
def test_changes_are_read_back(task: Task, wanted: Task, names: set[str], language: Language, newline: str) -> None:
    """An edit gives each attribute that was named its new value and leaves the others."""
    body = append_task(new_task_body("任务", language, newline), task, language=language, newline=newline)
    changes = {name: getattr(wanted, name) for name in sorted(names)}
    after = edit_task(body, "OPEN-007", changes)
    assert find(after, "OPEN-007") == replace(task, **changes)
    assert all(line.endswith(newline) for line in split_lines(after))
    assert ("\r" in after) == (newline == "\r\n")
    assert edit_task(after, "OPEN-007", changes) == after


@given(BODIES, st.sampled_from(["in_progress", "completed"]), STEPS)
@settings(max_examples=40)
def test_lines_of_others_stay(body: str, state: str, steps: tuple[Step, ...]) -> None:
    """All lines outside the task, and all attributes that are not ours, stay byte for byte."""
    tasks = [task for task in parse_tasks(body, UTC) if task.id == "OPEN-001"]
    if not tasks:
        return
    task = tasks[0]
    after = edit_task(body, "OPEN-001", {"state": state, "steps": steps, "priority": "high"})
    lines, changed = split_lines(body), split_lines(after)
    above, below = lines[: task.start_line], lines[task.end_line :]
    assert changed[: len(above)] == above or not lines[-1].endswith("\n")
    assert not below or changed[-len(below) :] == below
    assert after.count("- 我的: 自己的") == body.count("- 我的: 自己的")


@given(BODIES, BODIES)
@settings(max_examples=40)
def test_a_task_moves_whole(body: str, other: str) -> None:
    """A task taken out and put elsewhere keeps its lines, and those who stay keep theirs."""
    tasks = parse_tasks(body, UTC)
    if not tasks or any(task.id == tasks[0].id for task in tasks[1:]):
        return
    left, raw = remove_task(body, tasks[0].id)
    assert raw == tasks[0].raw
    assert [task.raw for task in parse_tasks(left, UTC)][: len(tasks) - 1] == [task.raw for task in tasks[1:]]
    try:
        moved = insert_task(other, raw, newline=newline_of(other))
    except UnwritableValueError:
        assert "<!--" in raw or "```" in raw
        return
    assert [task for task in parse_tasks(moved, UTC) if canonical(task.raw).startswith(canonical(raw))]


@given(BODIES)
def test_raw_lines_are_those_of_the_file(body: str) -> None:
    """Lines are counted as an editor counts them."""
    lines = split_lines(body)
    for task in parse_tasks(body, UTC):
        assert task.raw == "".join(lines[task.start_line - 1 : task.end_line])


def test_what_is_not_asked_for_is_not_written() -> None:
    """A value that the file has already keeps its words, whatever the language of the others."""
    body = "### [OPEN-001] a\n* Status： DONE\n- 优先级:高\n"
    assert edit_task(body, "OPEN-001", {"state": "completed", "priority": "high", "title": "a"}) == body
    assert edit_task(body, "OPEN-001", {"priority": "low"}) == body.replace("高", " 低")
    assert edit_task(body, "OPEN-001", {"state": "in_progress"}) == body.replace("DONE", "in progress")


def test_steps_change_only_their_box() -> None:
    """Ticking a step off changes one character; what a person wrote under it stays."""
    body = "### [OPEN-001] a\n- 步骤:\r\n    * [ ] one\n      note\n    2. two\n"
    assert find(body, "OPEN-001").steps == (Step("one"), Step("two"))
    done = edit_task(body, "OPEN-001", {"steps": (Step("one", done=True), Step("two"))})
    assert done == body.replace("[ ] one", "[x] one")
    assert edit_task(body, "OPEN-001", {"steps": (Step("one"), Step("two", done=True))}) == body.replace(
        "2. two", "2. [x] two"
    )


def test_steps_of_the_same_words_are_different_steps() -> None:
    """Each of two equal steps keeps its own lines."""
    body = "### [OPEN-001] a\n- 步骤:\n  - [x] one\n    first\n  - [ ] one\n    second\n"
    assert find(body, "OPEN-001").steps == (Step("one", done=True), Step("one"))
    done = edit_task(body, "OPEN-001", {"steps": (Step("one", done=True), Step("one", done=True))})
    assert done == body.replace("[ ]", "[x]")


def test_ids_of_any_heading_count() -> None:
    """The highest number counts also in a fence; other prefixes and mentions do not."""
    assert highest_id("### [OPEN-2] a\n```\n### [OPEN-012] b\n```\n### [DEC-99] c\nsee [OPEN-500]\n") == 12
    assert highest_id("### [DEC-99] c\n", "DEC") == 99
    assert highest_id("") == 0


def test_unknown_task_and_attribute_are_refused() -> None:
    """What is not there cannot be changed, and the error names it."""
    for call in (lambda: edit_task("", "OPEN-9", {}), lambda: remove_task("", "OPEN-9")):
        with pytest.raises(UnknownTaskError, match="OPEN-9"):
            call()
    with pytest.raises(UnwritableValueError, match="weight"):
        edit_task("### [OPEN-1] a\n", "OPEN-1", {"weight": 1})
    with pytest.raises(UnwritableValueError, match="state"):
        edit_task("### [OPEN-1] a\n", "OPEN-1", {"state": "lost"})
    with pytest.raises(UnwritableValueError, match="step"):
        edit_task("### [OPEN-1] a\n", "OPEN-1", {"steps": (Step("a\nb"),)})
    with pytest.raises(UnwritableValueError, match="title"):
        append_task("", Task("OPEN-1", "a\n# b"), language="zh", newline="\n")


def test_due_is_a_day_or_a_time() -> None:
    """A day stays a day; a time without an offset is in the user's zone."""
    body = "### [OPEN-1] a\n- 截止日期: 2026-05-10\n### [OPEN-2] b\n- Due: 2026-05-10 18:00\n"
    body += "### [OPEN-3] c\n- 截止: 明天\n"
    assert [task.due for task in parse_tasks(body, SHANGHAI)] == [
        date(2026, 5, 10),
        datetime(2026, 5, 10, 18, 0, tzinfo=SHANGHAI),
        None,
    ]


def test_tasks_cases(tasks_case: object) -> None:
    """Files of people and of the seed are read as expected."""
    given_text, expected = tasks_case.given, tasks_case.expected  # type: ignore[attr-defined]
    shown = []
    for task in parse_tasks(given_text, SHANGHAI):
        shown.append(f"{task.start_line}-{task.end_line} | {task.section} | {task.id} | {task.title}")
        shown.append(f"  {task.state} {task.priority} created={task.created} due={task.due} completed={task.completed}")
        shown += [f"  {name}={value!r}" for name in ("description", "reason") if (value := getattr(task, name))]
        shown += [f"  [{'x' if step.done else ' '}] {step.text}" for step in task.steps]
    assert "".join(f"{line}\n" for line in shown) == expected


def test_task_edit_cases(task_edits_case: object) -> None:
    """Completing OPEN-001 for a reason gives the expected file."""
    given_text, expected = task_edits_case.given, task_edits_case.expected  # type: ignore[attr-defined]
    changes = {"state": "completed", "completed": datetime(2026, 5, 6, 9, 5, tzinfo=SHANGHAI), "reason": "done"}
    assert edit_task(given_text, "OPEN-001", changes) == expected
