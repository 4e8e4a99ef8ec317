"""Read the shape of `data/sample.jsonl`: one turn a line, with the facts and tasks that it states."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Annotated, Literal, TypeVar

from pydantic import AwareDatetime, BaseModel, ConfigDict, Field, ValidationError

from examples.dialogue import FactStated, Note, StepsDone, TaskMoved, TaskOpened, Turn
from examples.errors import DialogueFormatError

DATA = Path(__file__).parent / "data"
SAMPLE = DATA / "sample.jsonl"
"""The bundled dialogue: a developer and their agent over six days, Chinese and English."""
QUESTIONS = DATA / "questions.jsonl"
"""What one can ask after it, and what the answer must hold."""


class _Line(BaseModel):
    """A line of a file; an unknown field is a mistake in it."""

    model_config = ConfigDict(extra="forbid", frozen=True)


class _FactLine(_Line):
    section: str
    key: str
    value: str
    topic: str | None = None


class _OpenedLine(_Line):
    ref: str
    title: str
    steps: tuple[str, ...] = ()
    priority: Literal["high", "medium", "low"] = "medium"
    due: str | None = None
    description: str | None = None


class _MovedLine(_Line):
    ref: str
    state: Literal["pending", "in_progress", "completed", "expired"]


class _DoneLine(_Line):
    ref: str
    done: tuple[str, ...] = Field(min_length=1)


class _TurnLine(_Line):
    session: Annotated[str, Field(min_length=1)]
    time: AwareDatetime
    role: Literal["user", "assistant"]
    content: str
    facts: tuple[_FactLine, ...] = ()
    tasks: tuple[_OpenedLine | _MovedLine | _DoneLine, ...] = ()


class _QuestionLine(_Line):
    question: str
    expect: tuple[str, ...] = Field(min_length=1)
    evidence: AwareDatetime


L = TypeVar("L", bound=_Line)


@dataclass(frozen=True, slots=True)
class Question:
    """A question to ask after the dialogue.

    The context that memory gives must hold every text of `expect`, so that the answer can be given. `evidence` is the
    time of the turn that says it.
    """

    text: str
    expect: tuple[str, ...]
    evidence: datetime


def parse(text: str, *, path: Path, timezone: str) -> tuple[Turn, ...]:
    """Read the turns of a sample file. `timezone` is not needed: every time carries its offset.

    Raises `DialogueFormatError`, which names the line and the field, where a line is not of the shape.
    """
    return tuple(
        Turn(line.session, line.time, line.role, line.content, _notes(line)) for line in _lines(text, path, _TurnLine)
    )


def read_questions(path: Path = QUESTIONS) -> tuple[Question, ...]:
    """Read the questions that go with a sample file.

    Raises `DialogueFormatError`, which names the line and the field, where a line is not of the shape.
    """
    text = path.read_text(encoding="utf-8")
    return tuple(Question(line.question, line.expect, line.evidence) for line in _lines(text, path, _QuestionLine))


def _lines(text: str, path: Path, model: type[L]) -> list[L]:
    """Validate each line that is not blank."""
    found = []
    for number, raw in enumerate(text.split("\n"), start=1):
        if not raw.strip():
            continue
        try:
            found.append(model.model_validate_json(raw))
        except ValidationError as error:
            first = error.errors()[0]
            field = ".".join(str(step) for step in first["loc"]) or "the line"
            raise DialogueFormatError(path, f"line {number}", f"{field}: {first['msg']}") from error
    return found


def _notes(line: _TurnLine) -> tuple[Note, ...]:
    """Turn the annotations of a line into notes, facts first."""
    facts: list[Note] = [FactStated(fact.section, fact.key, fact.value, fact.topic) for fact in line.facts]
    return tuple(facts + [_task_note(task) for task in line.tasks])


def _task_note(task: _OpenedLine | _MovedLine | _DoneLine) -> Note:
    match task:
        case _OpenedLine():
            return TaskOpened(task.ref, task.title, task.steps, task.priority, task.due, task.description)
        case _MovedLine():
            return TaskMoved(task.ref, task.state)
        case _DoneLine():
            return StepsDone(task.ref, task.done)
