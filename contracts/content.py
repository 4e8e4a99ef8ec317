"""What a `memory:write` carries, one model a kind of content."""

from __future__ import annotations

from typing import Annotated

from pydantic import ConfigDict, Field, model_validator

from contracts.base import Part, given
from contracts.fields import (
    MAX_BATCH_ITEMS,
    MAX_STEPS,
    Day,
    Description,
    Due,
    FactKey,
    FactValue,
    Flag,
    Period,
    Priority,
    Role,
    SaidText,
    Section,
    Several,
    TaskId,
    Text,
    Timestamp,
    Title,
    Topic,
)
from contracts.wording import refusal_at


class MessageMetadata(Part):
    """What is known of a message beside its text."""

    important: Flag = Field(default=False, description="Kept in the context before other history.")
    name: Title | None = Field(default=None, description="Name of the tool or of the speaker.")


class MessageContent(Part):
    """One message of a conversation."""

    role: Role = Field(description="Who speaks.")
    content: Text = Field(description="The text, kept byte for byte; up to 1,000,000 characters.")
    timestamp: Timestamp | None = Field(
        default=None, description="When it was said; ISO 8601 with an offset. Default: when the write is handled."
    )
    metadata: MessageMetadata | None = Field(default=None, description="What is known of it beside its text.")


class MessagesContent(Part):
    """Several messages of one conversation, in order."""

    messages: Annotated[tuple[MessageContent, ...], Several("messages", MAX_BATCH_ITEMS, least=1)] = Field(
        description="The messages, oldest first; 1 to 500."
    )


class FactContent(Part):
    """One fact. A new value for a known key replaces the old one, which is archived."""

    section: Section
    key: FactKey
    value: FactValue
    topic: Topic | None = Field(default=None, description="Fact file to use, without `.md`.")


class TaskStep(Part):
    """One step of a task as it stands in the file: a person may have written more than a write may hold."""

    text: str = Field(description="What is to be done.")
    done: Flag = Field(default=False, description="Whether it is done.")


class StepContent(TaskStep):
    """One step of a task."""

    text: Title = Field(description="What is to be done: one line, up to 500 characters.")


class TaskContent(Part):
    """A new task, or with `task_id` the fields of one that change."""

    model_config = ConfigDict(json_schema_extra={"anyOf": [given("taskId"), given("title")]})

    title: Title | None = Field(default=None, description="One line, up to 500 characters; required for a new task.")
    task_id: TaskId | None = Field(default=None, description="The task to change. Absent: a new task.")
    description: Description | None = Field(default=None, description="More words; up to 20,000 characters.")
    priority: Priority | None = Field(default=None, description="Default for a new task: medium.")
    due: Due | None = Field(default=None, description="Day, or time with an offset, by which it should be done.")
    steps: tuple[StepContent, ...] | None = Field(
        default=None,
        max_length=MAX_STEPS,
        description="All steps, in order, up to 200; replaces those that were there.",
    )

    @model_validator(mode="after")
    def _new_task_has_title(self) -> TaskContent:
        if self.task_id is None and self.title is None:
            text = "is required for a new task (to change a task, name it by taskId)"
            raise refusal_at("title", "title_required", text)
        return self


class SummaryContent(Part):
    """A summary of a period."""

    period: Period = Field(description="How long a time it covers.")
    date: Day = Field(description="A day of the period, in the user's time zone.")
    text: SaidText = Field(description="Markdown; not blank, up to 1,000,000 characters.")


class NoteContent(Part):
    """An entry of the day's log."""

    text: SaidText = Field(description="Markdown; not blank, up to 1,000,000 characters.")
    title: Title | None = Field(default=None, description="Heading of the entry, after its time.")


class CuratedContent(Part):
    """An entry of MEMORY.md."""

    text: SaidText = Field(description="One entry; not blank, up to 1,000,000 characters.")
    section: Section | None = Field(default=None, description="Section of MEMORY.md to put it in.")
