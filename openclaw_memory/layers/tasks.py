"""Tasks: what is to be done, with a state and an id that is never given twice (seed 000 section 2.3)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from datetime import date, datetime, timedelta, tzinfo
from typing import Any

from contracts import StepContent, TaskContent
from contracts import Task as SeenTask
from contracts.content import TaskStep
from contracts.fields import TaskState
from openclaw_memory.errors import Refused
from openclaw_memory.layers.documents import MarkdownDocument, tags_of, told
from openclaw_memory.layers.pieces import free_text
from openclaw_memory.layers.state import TASKS, StateDocument, plan_state
from openclaw_memory.layers.task_operations import encode, values_of
from openclaw_memory.markdown.errors import UnwritableValueError
from openclaw_memory.markdown.steps import Step
from openclaw_memory.markdown.task_blocks import Task, TaskBlock, highest_id, parse_tasks
from openclaw_memory.markdown.task_lists import same_lines
from openclaw_memory.retrieval.blocks import Block
from openclaw_memory.storage.documents import Draft
from openclaw_memory.storage.operations import Operation

FOLDER = "tasks"
ARCHIVED = "tasks/archived"
ACTIVE = f"{FOLDER}/active.md"
COMPLETED = f"{FOLDER}/completed.md"
PREFIX = "OPEN"

_TITLES = {
    "zh": {ACTIVE: "活跃任务", COMPLETED: "已完成任务"},
    "en": {ACTIVE: "Active tasks", COMPLETED: "Completed tasks"},
}
_ARCHIVE_TITLES = {"zh": "归档任务 - {}", "en": "Archived tasks - {}"}
_STATE_RANK = {"in_progress": 0, "pending": 1, "expired": 2, "completed": 3}
_PRIORITY_RANK = {"high": 0, "medium": 1, "low": 2}


def archive_path(day: date) -> str:
    """Give the archive of the month that a day lies in (seed 000 section 4.2)."""
    return f"{ARCHIVED}/{day.year:04}-{day.month:02}-tasks.md"


def month_of_archive(path: str) -> str:
    """Name the month of an archive, `2026-05`; of another file give its name."""
    return path.rpartition("/")[2].removesuffix(".md").removesuffix("-tasks")


def documents_for(archived: Sequence[str]) -> list[str]:
    """List the documents that planning a task needs; `archived` are the archives that exist."""
    return [ACTIVE, COMPLETED, *archived, TASKS]


def plan_new_task(
    draft: Draft, archived: Sequence[str], content: TaskContent, *, now: datetime, zone: tzinfo, language: str
) -> str:
    """Add a task and give its key. Its number is above all that were ever given, also to tasks deleted since.

    Raises: `Refused` when the title or a step would not be read back.
    """
    last = draft.document(TASKS).values.get("last", 0)
    used = [highest_id(draft.document(path).body, PREFIX) for path in (ACTIVE, COMPLETED, *archived)]
    # The ids in the files keep numbers apart, too, should a person have broken the counter.
    number = max([last if isinstance(last, int) else 0, *used]) + 1
    task_id = f"{PREFIX}-{number:03}"
    task = Task(
        id=task_id,
        title=content.title or "",
        priority=content.priority or "medium",
        created=now.astimezone(zone),
        due=_in_zone(content.due, zone),
        description=content.description,
        steps=_steps(content.steps or ()),
    )
    _apply(draft, ACTIVE, "add", {"task": encode(values_of(task))}, now, language)
    plan_state(draft, TASKS, {"last": number})
    return f"{ACTIVE}#{task_id}"


def plan_change(
    draft: Draft, archived: Sequence[str], content: TaskContent, *, now: datetime, zone: tzinfo, language: str
) -> tuple[str, bool]:
    """Change fields of a task; gives its key and whether anything changed.

    Raises: `Refused` when there is no such task, or a value would not be read back.
    """
    assert content.task_id is not None
    path, task = _find(draft, archived, content.task_id, zone)
    given = {
        "title": content.title,
        "description": content.description,
        "priority": content.priority,
        "due": _in_zone(content.due, zone),
        "steps": None if content.steps is None else _steps(content.steps),
    }
    changes = {name: value for name, value in given.items() if value is not None}
    changed = plan_edit(draft, path, task, changes, now, language)
    return f"{path}#{content.task_id}", changed


def plan_state_change(
    draft: Draft,
    archived: Sequence[str],
    task_id: str,
    state: TaskState,
    reason: str | None,
    *,
    now: datetime,
    zone: tzinfo,
    language: str,
    keep_completed_days: int,
) -> tuple[str, bool, str | None]:
    """Give a task another state; gives its key, whether anything changed, and what is to be said about it.

    Tasks that were completed longer ago than `keep_completed_days` leave the active file with it (the table of
    seed 000 section 2.3). One that can't is told of, and waits.

    Raises: `Refused` when there is no such task, or the change makes no sense.
    """
    path, task = _find(draft, archived, task_id, zone)
    if task.state == "completed" and state not in ("completed", "in_progress"):
        raise Refused("newState", f"{task_id} is completed; it can only go back to in_progress, not to {state}")
    changes: dict[str, Any] = {"state": state}
    if state != task.state:
        changes["completed"] = now.astimezone(zone) if state == "completed" else None
        changes["reason"] = reason
    elif reason is not None:
        changes["reason"] = reason
    changed = plan_edit(draft, path, task, changes, now, language)
    if state != task.state:
        _note_pending(draft, task_id, now if state == "pending" else None)
    if path == COMPLETED and state != "completed":
        plan_move(draft, task_id, COMPLETED, ACTIVE, now, zone, language)
    waiting = _tidy(draft, now, zone, language, keep_completed_days)
    path, _ = _find(draft, archived, task_id, zone)
    return f"{path}#{task_id}", changed, "; ".join(waiting) or None


def _note_pending(draft: Draft, task_id: str, since: datetime | None) -> None:
    """Remember since when a task waits that was something else before: its days are counted from there."""
    waiting = pending_since(draft.document(TASKS))
    if since is not None:
        waiting[task_id] = since.isoformat(timespec="seconds")
    elif waiting.pop(task_id, None) is None:
        return
    plan_state(draft, TASKS, {"pending": waiting})


def pending_since(state: StateDocument) -> dict[str, str]:
    """Give since when tasks wait that were something else before, by id."""
    waiting = state.values.get("pending")
    return dict(waiting) if isinstance(waiting, dict) else {}


def _tidy(draft: Draft, now: datetime, zone: tzinfo, language: str, keep_days: int) -> list[str]:
    """Move what was completed long enough ago out of the active file; gives in words what can't be moved."""
    tasks = tasks_in(draft.document(ACTIVE), zone)
    unclear, waiting = doubled(tasks), list[str]()
    for task in tasks:
        if task.state != "completed":
            continue
        if task.id in unclear:
            waiting.append(told_of_doubled(ACTIVE, task.id))
            continue
        try:
            if task.completed is None and "completed" not in task.unread:
                # A person ticked it off without a time; its days are counted from now.
                plan_edit(draft, ACTIVE, task, {"completed": now.astimezone(zone)}, now, language)
            if (task.completed or now) <= now - timedelta(days=keep_days) or keep_days == 0:
                plan_move(draft, task.id, ACTIVE, COMPLETED, now, zone, language)
        except Refused as refusal:
            waiting.append(f"{ACTIVE}#{task.id} can't be moved to {COMPLETED}: {refusal.reason}")
    return list(dict.fromkeys(waiting))


def plan_move(draft: Draft, task_id: str, source: str, target: str, now: datetime, zone: tzinfo, language: str) -> None:
    """Move a task, as it is written, from one file to another.

    Raises: `Refused` when another task has its id there, or it would not be read back; nothing was planned then.
    """
    raw = next(task.raw for task in tasks_in(draft.document(source), zone) if task.id == task_id)
    there = [task for task in tasks_in(draft.document(target), zone) if task.id == task_id]
    if any(not same_lines(task.raw, raw) for task in there):
        raise Refused("taskId", f"another task there is {task_id} too; give one of them another id")
    _apply(draft, target, "insert", {"id": task_id, "raw": raw}, now, language)
    _apply(draft, source, "remove", {"id": task_id, "raw": raw, "to": target}, now, language)


def doubled(tasks: Iterable[Task]) -> frozenset[str]:
    """Give the ids that several tasks have: which of them is meant, nobody can tell but the one who wrote them."""
    return frozenset(task_id for task_id, times in Counter(task.id for task in tasks).items() if times > 1)


def told_of_doubled(path: str, task_id: str) -> str:
    """Say what becomes of tasks with one id."""
    return f"{path} has several tasks {task_id}; they stay as they are until each has an id of its own"


def _find(draft: Draft, archived: Sequence[str], task_id: str, zone: tzinfo) -> tuple[str, TaskBlock]:
    for path in (ACTIVE, COMPLETED):
        for task in tasks_in(draft.document(path), zone):
            if task.id == task_id:
                return path, task
    for path in archived:
        if any(task.id == task_id for task in tasks_in(draft.document(path), zone)):
            raise Refused("taskId", f"{task_id} is archived in {path}; make a new task instead")
    known = ", ".join(task.id for task in tasks_in(draft.document(ACTIVE), zone)[:20])
    raise Refused("taskId", f"there is no task {task_id}; active are: {known or 'none'}")


def plan_edit(draft: Draft, path: str, task: Task, changes: Mapping[str, Any], now: datetime, language: str) -> bool:
    """Change attributes of a task; tells whether anything changed."""
    old = {name: getattr(task, name) for name in changes}
    arguments = {"id": task.id, "changes": encode(changes), "old": encode(old)}
    return _apply(draft, path, "edit", arguments, now, language)


def _apply(draft: Draft, path: str, kind: str, arguments: Mapping[str, Any], now: datetime, language: str) -> bool:
    common = {"at": now.isoformat(timespec="seconds"), "language": language}
    title = _TITLES[language].get(path) or _ARCHIVE_TITLES[language].format(month_of_archive(path))
    try:
        return draft.apply(Operation(path, kind, {**arguments, **common, "title": title}))
    except UnwritableValueError as error:
        raise Refused(error.field, error.reason) from error


def _steps(steps: Sequence[StepContent]) -> tuple[Step, ...]:
    return tuple(Step(step.text, step.done) for step in steps)


def _in_zone(due: date | datetime | None, zone: tzinfo) -> date | datetime | None:
    return due.astimezone(zone) if isinstance(due, datetime) else due


def tasks_in(document: MarkdownDocument, zone: tzinfo) -> tuple[TaskBlock, ...]:
    """Read the tasks of a document, once."""
    return document.once("tasks", lambda: parse_tasks(document.body, zone))


# -- what readers see ------------------------------------------------------------------------------------------------


def open_tasks(document: MarkdownDocument, zone: tzinfo) -> list[SeenTask]:
    """Give the tasks that are not completed: those in progress first, expired ones last, then by priority and age."""
    tasks = [task for task in tasks_in(document, zone) if task.state != "completed"]
    tasks.sort(key=lambda task: (_STATE_RANK[task.state], _PRIORITY_RANK[task.priority], task.id))
    return [
        SeenTask(
            id=task.id,
            title=task.title,
            state=task.state,
            priority=task.priority,
            created=told(task.created),
            due=told(task.due),
            completed=told(task.completed),
            description=task.description,
            steps=tuple(TaskStep(text=step.text, done=step.done) for step in task.steps),
        )
        for task in tasks
    ]


def blocks(document: MarkdownDocument, zone: tzinfo) -> list[Block]:
    """Give the tasks of a file, and what else stands in it, as addressable pieces."""
    tasks = tasks_in(document, zone)
    start = document.body_start - 1
    pieces = [
        Block(
            key=f"{document.path}#{task.id}",
            layer="task",
            path=document.path,
            start_line=start + task.start_line,
            end_line=start + task.end_line,
            text="\n".join([f"[{task.id}] {task.title}", *task.raw.splitlines()[1:]]),
            time=told(task.created),
            tags=tags_of(document.front),
        )
        for task in tasks
    ]
    taken = {line for task in tasks for line in range(task.start_line, task.end_line + 1)}
    return pieces + free_text(document, "task", time=None, taken=taken)
