"""From what a turn states to the events that write it down. Keeps which task memory gave which id."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import assert_never

from bus import Request
from contracts import (
    MemoryWrite,
    MemoryWritten,
    StepContent,
    TaskContent,
    TaskStateChange,
    UpdateFact,
)
from examples.dialogue import FactStated, Note, StepsDone, TaskMoved, TaskOpened


@dataclass(frozen=True, slots=True)
class KnownTask:
    """A task that memory has an id for, and its steps as last written."""

    id: str
    title: str
    state: str
    steps: tuple[StepContent, ...]


class TaskBook:
    """Knows the tasks of a dialogue by the names that the dialogue uses."""

    def __init__(self) -> None:
        self._known: dict[str, KnownTask] = {}

    @property
    def tasks(self) -> tuple[KnownTask, ...]:
        """Give the tasks, in the order in which they were opened."""
        return tuple(self._known.values())

    def event_of(self, note: Note, session_id: str) -> Request[MemoryWritten] | None:
        """Choose the event that writes a note down; None for a task that memory never gave an id."""
        if isinstance(note, TaskMoved | StepsDone) and note.ref not in self._known:
            return None
        match note:
            case FactStated():
                return UpdateFact(
                    section=note.section, key=note.key, value=note.value, topic=note.topic, session_id=session_id
                )
            case TaskMoved():
                return TaskStateChange(task_id=self._known[note.ref].id, new_state=note.state, session_id=session_id)
            case TaskOpened() | StepsDone():
                return MemoryWrite(type="task", content=self._task_content(note), session_id=session_id)
            case _:
                assert_never(note)

    def written(self, note: Note, reply: MemoryWritten) -> None:
        """Take over what memory answered to the event of a note."""
        if not reply.success or isinstance(note, FactStated):
            return
        match note:
            case TaskOpened():
                # `tasks/active.md#OPEN-003`: the address of a task ends with its id.
                steps = tuple(StepContent(text=text) for text in note.steps)
                self._known[note.ref] = KnownTask(reply.key.rpartition("#")[2], note.title, "pending", steps)
            case TaskMoved():
                self._known[note.ref] = replace(self._known[note.ref], state=note.state)
            case StepsDone():
                self._known[note.ref] = replace(self._known[note.ref], steps=self._ticked(note))

    def _task_content(self, note: TaskOpened | StepsDone) -> TaskContent:
        if isinstance(note, StepsDone):
            return TaskContent(task_id=self._known[note.ref].id, steps=self._ticked(note))
        return TaskContent.model_validate(
            {
                "title": note.title,
                "priority": note.priority,
                "due": note.due,
                "description": note.description,
                "steps": [{"text": text} for text in note.steps],
            }
        )

    def _ticked(self, note: StepsDone) -> tuple[StepContent, ...]:
        steps = self._known[note.ref].steps
        return tuple(StepContent(text=step.text, done=step.done or step.text in note.steps) for step in steps)
