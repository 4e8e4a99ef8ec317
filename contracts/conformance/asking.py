"""What the checks send: writes made in few words, and the reading of their replies."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

from contracts import (
    MemoryContext,
    MemoryWrite,
    MemoryWritten,
    MessageContent,
    MessagesContent,
    Task,
    TaskContent,
    TaskStateChange,
    UpdateFact,
)
from contracts.conformance.probe import Probe, expect
from contracts.content import FactContent, StepContent
from contracts.errors import CheckFailedError
from contracts.fields import TaskState
from contracts.writing import BatchContent, TaskStateItem, UpdateFactItem, WriteItem

SESSION = "conformance"
NOW = datetime(2026, 5, 4, 14, 30, tzinfo=UTC)
CODE = (
    "用 `kestrel-8816` 部署:\n\n```sh\n---\n### 2026-05-04T14:30:00+08:00\necho '👩‍👩‍👧' # done\n```\n\n  trailing  \n"
)
"""Hard to keep: Chinese, a fence, lines that look like Markdown's own, an emoji of five code points, blank ends."""


def said(text: str, position: int = 0, session_id: str = SESSION, idempotency_key: str | None = None) -> MemoryWrite:
    """Make the write of one message of the user."""
    content = MessageContent(role="user", content=text, timestamp=NOW + timedelta(seconds=position))
    return MemoryWrite(type="conversation", content=content, session_id=session_id, idempotency_key=idempotency_key)


def said_together(*messages: MessageContent) -> MemoryWrite:
    """Make one write of several messages."""
    return MemoryWrite(type="conversation", content=MessagesContent(messages=messages), session_id=SESSION)


def fact(key: str, value: str, section: str = "技术栈") -> UpdateFact:
    """Make the update of a fact of the profile."""
    return UpdateFact(section=section, key=key, value=value, topic="user-profile", session_id=SESSION)


def fact_write(key: str, value: str, section: str = "技术栈") -> MemoryWrite:
    """Make the write of a fact of the profile."""
    content = FactContent(section=section, key=key, value=value, topic="user-profile")
    return MemoryWrite(type="fact", content=content, session_id=SESSION)


def task(title: str) -> MemoryWrite:
    """Make the write of a new task with two steps."""
    steps = (StepContent(text="first step", done=True), StepContent(text="第二步"))
    content = TaskContent(title=title, priority="high", due=NOW.date(), steps=steps)
    return MemoryWrite(type="task", content=content, session_id=SESSION)


def state(task_id: str, new_state: TaskState) -> TaskStateChange:
    """Make the change of a task's state."""
    return TaskStateChange(task_id=task_id, new_state=new_state, session_id=SESSION)


def batch(*items: WriteItem | UpdateFactItem | TaskStateItem) -> MemoryWrite:
    """Make the write of a batch."""
    return MemoryWrite(type="batch", content=BatchContent(items=items), session_id=SESSION)


async def new_task(probe: Probe, title: str) -> str:
    """Write a new task and return its id, which the key names."""
    return task_id_of(await probe.write(task(title)))


def task_id_of(written: MemoryWritten) -> str:
    """Read the id of a task off the key of its write, `tasks/active.md#OPEN-003`."""
    _, mark, task_id = written.key.rpartition("#")
    expect(
        bool(mark) and "-" in task_id,
        f"the key of a new task must end in #<id>, such as #OPEN-001, not {written.key!r}",
    )
    return task_id


def find(context: MemoryContext, task_id: str) -> Task | None:
    """Look for a task in a context."""
    return next((task for task in context.tasks if task.id == task_id), None)


async def shown(probe: Probe, task_id: str) -> Task:
    """Read a task that was acknowledged, by a query that has nothing to do with it.

    Raises:
        CheckFailedError: It is not shown.
    """
    found = find(await probe.read("something else"), task_id)
    if found is None:
        raise CheckFailedError(f"task {task_id} was acknowledged but is not among the tasks of memory:context")
    return found
