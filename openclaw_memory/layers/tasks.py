"""Tasks: what is to be done, with a state and an id that is never given twice (seed 000 section 2.3)."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import fields
from datetime import UTC, date, datetime, timedelta, tzinfo
from typing import Any

from contracts import StepContent, TaskContent
from contracts import Task as SeenTask
from contracts.content import TaskStep
from contracts.fields import TaskState
from openclaw_memory.errors import Refused
from openclaw_memory.layers.documents import BodyFormat, MarkdownDocument, tags_of, told
from openclaw_memory.layers.pieces import free_text
from openclaw_memory.layers.state import TASKS, StateDocument, plan_state
from openclaw_memory.markdown.errors import UnwritableValueError
from openclaw_memory.markdown.fact_files import touch_updated_line
from openclaw_memory.markdown.steps import Step
from openclaw_memory.markdown.task_blocks import Task, TaskBlock, highest_id, parse_tasks
from openclaw_memory.markdown.task_edits import edit_task
from openclaw_memory.markdown.task_lists import append_task, insert_task, new_task_body, remove_task
from openclaw_memory.markdown.text import split_lines
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
_BESIDE = {"zh": "未采用", "en": "not applied"}
"""Marks a value that met another one that a person had written meanwhile."""

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
    _apply(draft, ACTIVE, "add", {"task": _encode(_values(task))}, now, language)
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
) -> tuple[str, bool]:
    """Give a task another state; gives its key and whether anything changed.

    Tasks that were completed longer ago than `keep_completed_days` leave the active file with it (the table of
    seed 000 section 2.3).

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
    _tidy(draft, now, zone, language, keep_completed_days)
    path, _ = _find(draft, archived, task_id, zone)
    return f"{path}#{task_id}", changed


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


def _tidy(draft: Draft, now: datetime, zone: tzinfo, language: str, keep_days: int) -> None:
    """Move what was completed long enough ago out of the active file."""
    for task in tasks_in(draft.document(ACTIVE), zone):
        if task.state != "completed":
            continue
        if task.completed is None:
            # A person ticked it off without a time; its days are counted from now.
            plan_edit(draft, ACTIVE, task, {"completed": now.astimezone(zone)}, now, language)
        if (task.completed or now) <= now - timedelta(days=keep_days) or keep_days == 0:
            plan_move(draft, task.id, ACTIVE, COMPLETED, now, zone, language)


def plan_move(draft: Draft, task_id: str, source: str, target: str, now: datetime, zone: tzinfo, language: str) -> None:
    """Move a task, as it is written, from one file to another."""
    raw = next(task.raw for task in tasks_in(draft.document(source), zone) if task.id == task_id)
    _apply(draft, target, "insert", {"id": task_id, "raw": raw}, now, language)
    _apply(draft, source, "remove", {"id": task_id}, now, language)


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
    arguments = {"id": task.id, "changes": _encode(changes), "old": _encode(old)}
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


# -- operations ------------------------------------------------------------------------------------------------------


def _values(task: Task) -> dict[str, Any]:
    return {field.name: getattr(task, field.name) for field in fields(Task)}


def _encode(values: Mapping[str, Any]) -> dict[str, Any]:
    """Write the attributes of a task as JSON values."""
    encoded = dict(values)
    for name in ("created", "due", "completed"):
        if encoded.get(name) is not None:
            encoded[name] = encoded[name].isoformat()
    if encoded.get("steps") is not None:
        encoded["steps"] = [[step.text, step.done] for step in encoded["steps"]]
    return encoded


def _decode(values: Mapping[str, Any]) -> dict[str, Any]:
    decoded = dict(values)
    for name in ("created", "completed"):
        if decoded.get(name) is not None:
            decoded[name] = datetime.fromisoformat(decoded[name])
    if (due := decoded.get("due")) is not None:
        decoded["due"] = datetime.fromisoformat(due) if "T" in due else date.fromisoformat(due)
    if decoded.get("steps") is not None:
        decoded["steps"] = tuple(Step(text, done) for text, done in decoded["steps"])
    return decoded


def _has(body: str, task_id: str) -> bool:
    return any(task.id == task_id for task in parse_tasks(body, UTC))


def _base(body: str, arguments: Mapping[str, Any], newline: str) -> str:
    return body or new_task_body(arguments["title"], arguments["language"], newline)


def _add(body: str, arguments: Mapping[str, Any], newline: str) -> str:
    task = Task(**_decode(arguments["task"]))
    if _has(body, task.id):
        return body
    changed = append_task(_base(body, arguments, newline), task, language=arguments["language"], newline=newline)
    return touch_updated_line(changed, arguments["at"])


def _insert(body: str, arguments: Mapping[str, Any], newline: str) -> str:
    if _has(body, arguments["id"]):
        return body
    changed = insert_task(_base(body, arguments, newline), arguments["raw"], newline=newline)
    return touch_updated_line(changed, arguments["at"])


def _edit(body: str, arguments: Mapping[str, Any], newline: str) -> str:
    if not _has(body, arguments["id"]):
        # A person took the task out meanwhile; there is nothing left to change.
        return body
    colliding = _colliding(body, arguments)
    rest = {name: value for name, value in arguments["changes"].items() if name not in colliding}
    changed = edit_task(body, arguments["id"], _decode(rest), newline=newline)
    for name in colliding:
        changed = _with_beside(changed, arguments, name, newline)
    return body if changed == body else touch_updated_line(changed, arguments["at"])


def _colliding(body: str, arguments: Mapping[str, Any]) -> list[str]:
    """Name the attributes that a person has changed to something else meanwhile."""
    task = next(task for task in parse_tasks(body, UTC) if task.id == arguments["id"])
    found = _comparable(_encode({name: getattr(task, name) for name in arguments["changes"]}))
    old, new = _comparable(arguments["old"]), _comparable(arguments["changes"])
    return [name for name, value in found.items() if value not in (old[name], new[name])]


def _comparable(encoded: Mapping[str, Any]) -> dict[str, Any]:
    """Compare times to the minute and without their offset, as files hold them."""
    times = ("created", "completed", "due")
    return {name: value[:16] if name in times and value else value or None for name, value in encoded.items()}


def _with_beside(body: str, arguments: Mapping[str, Any], name: str, newline: str) -> str:
    """Put a value that met a person's beside it, at the end of the task; their line stays."""
    task = next(task for task in parse_tasks(body, UTC) if task.id == arguments["id"])
    value = json.dumps(arguments["changes"][name], ensure_ascii=False)
    line = f"- {name} ({_BESIDE[arguments['language']]} {arguments['at']}): {value}{newline}"
    lines = split_lines(body)
    if line in lines:
        return body
    before = lines[: task.end_line]
    if not before[-1].endswith("\n"):
        before[-1] += newline
    return "".join([*before, line, *lines[task.end_line :]])


def _edit_collision(body: str, arguments: Mapping[str, Any]) -> str | None:
    if not _has(body, arguments["id"]) or not (names := _colliding(body, arguments)):
        return None
    return f"{arguments['id']}: {', '.join(names)} changed by hand and by the agent collide; both are kept"


def _remove(body: str, arguments: Mapping[str, Any], newline: str) -> str:
    if not _has(body, arguments["id"]):
        return body
    return touch_updated_line(remove_task(body, arguments["id"])[0], arguments["at"])


FORMAT = BodyFormat(
    "task", {"add": _add, "insert": _insert, "edit": _edit, "remove": _remove}, {"edit": _edit_collision}
)


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
