"""Operations on the files of tasks. A task is known by its id; one that moves, by its id and its lines.

A person may give two tasks one id. So what moves a task never takes another one for it: nothing is left out for its id
alone, and nothing is taken out that reads otherwise than what was moved.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import fields
from datetime import UTC, date, datetime
from typing import Any

from openclaw_memory.layers.documents import BodyFormat
from openclaw_memory.markdown.fact_files import touch_updated_line
from openclaw_memory.markdown.steps import Step
from openclaw_memory.markdown.task_blocks import Task, parse_tasks
from openclaw_memory.markdown.task_edits import edit_task
from openclaw_memory.markdown.task_lists import append_task, insert_task, new_task_body, remove_task, same_lines
from openclaw_memory.markdown.text import split_lines

_BESIDE = {"zh": "未采用", "en": "not applied"}
"""Marks a value that met another one that a person had written meanwhile."""


def values_of(task: Task) -> dict[str, Any]:
    """Give the attributes of a task by their names."""
    return {field.name: getattr(task, field.name) for field in fields(Task)}


def encode(values: Mapping[str, Any]) -> dict[str, Any]:
    """Write attributes of a task as JSON values."""
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


def _holds(body: str, task_id: str, raw: str) -> bool:
    return any(task.id == task_id and same_lines(task.raw, raw) for task in parse_tasks(body, UTC))


def _new_raw(arguments: Mapping[str, Any]) -> str:
    """Give the lines of a task that is added."""
    task, language = Task(**_decode(arguments["task"])), arguments["language"]
    return parse_tasks(append_task("", task, language=language, newline="\n"), UTC)[0].raw


def _add(body: str, arguments: Mapping[str, Any], newline: str) -> str:
    task = Task(**_decode(arguments["task"]))
    base = _base(body, arguments, newline)
    if not _has(body, task.id):
        changed = append_task(base, task, language=arguments["language"], newline=newline)
    elif _holds(body, task.id, raw := _new_raw(arguments)):
        return body
    else:
        # A person used the number meanwhile.
        changed = insert_task(base, raw, newline=newline)
    return touch_updated_line(changed, arguments["at"])


def _add_collision(body: str, arguments: Mapping[str, Any]) -> str | None:
    return _twice(body, arguments["task"]["id"], _new_raw(arguments))


def _insert(body: str, arguments: Mapping[str, Any], newline: str) -> str:
    if _holds(body, arguments["id"], arguments["raw"]):
        return body
    changed = insert_task(_base(body, arguments, newline), arguments["raw"], newline=newline)
    return touch_updated_line(changed, arguments["at"])


def _insert_collision(body: str, arguments: Mapping[str, Any]) -> str | None:
    return _twice(body, arguments["id"], arguments["raw"])


def _twice(body: str, task_id: str, raw: str) -> str | None:
    if not _has(body, task_id) or _holds(body, task_id, raw):
        return None
    return f"{task_id}: another task has this id; both are kept, give one of them another"


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
    found = _comparable(encode({name: getattr(task, name) for name in arguments["changes"]}))
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
    # Journals of before tell no lines.
    raw = arguments.get("raw")
    if not (_has(body, arguments["id"]) if raw is None else _holds(body, arguments["id"], raw)):
        return body
    return touch_updated_line(remove_task(body, arguments["id"], raw)[0], arguments["at"])


def _remove_collision(body: str, arguments: Mapping[str, Any]) -> str | None:
    raw = arguments.get("raw")
    if raw is None or not _has(body, arguments["id"]) or _holds(body, arguments["id"], raw):
        return None
    return f"{arguments['id']}: changed by hand while it was moved to {arguments['to']}; both are kept"


FORMAT = BodyFormat(
    "task",
    {"add": _add, "insert": _insert, "edit": _edit, "remove": _remove},
    {"add": _add_collision, "insert": _insert_collision, "edit": _edit_collision, "remove": _remove_collision},
)
