"""Events of what memory does as time passes: heartbeat, forgetting, trouble and its end."""

from __future__ import annotations

from typing import Literal

from pydantic import ConfigDict, Field, model_validator

from bus.payload import Payload, Request
from contracts.base import Part, given
from contracts.fields import (
    FactKey,
    Flag,
    ForgetText,
    PlaceCount,
    RelativePath,
    Section,
    SessionId,
    TaskId,
    Timestamp,
    Topic,
)
from contracts.wording import refusal, refusal_at


class JobReport(Part):
    """What one job did."""

    name: str = Field(description="The job.")
    outcome: Literal["done", "nothing", "failed", "skipped"] = Field(description="How it ended.")
    keys: tuple[str, ...] = Field(default=(), description="Addresses of what it wrote.")
    message: str | None = Field(default=None, description="Why it failed or was skipped; what a model cost.")


class HeartbeatDone(Payload):
    """The jobs that were due, and what became of them."""

    event_type = "heartbeat:done"

    jobs: tuple[JobReport, ...] = Field(description="One report a job.")


class HeartbeatTick(Request[HeartbeatDone]):
    """Time passes; what is due is done."""

    event_type = "heartbeat:tick"
    reply_type = HeartbeatDone

    now: Timestamp


_WAYS = [given("text"), given("topic"), given("section", "key"), given("taskId"), given("sessionId"), given("path")]


class Selector(Part):
    """What to forget: exactly one way to name it, or a time range."""

    model_config = ConfigDict(json_schema_extra={"oneOf": [*_WAYS, {"anyOf": [given("before"), given("after")]}]})

    text: ForgetText | None = Field(
        default=None, description="Every place that holds this text; not blank, up to 10,000 characters."
    )
    topic: Topic | None = Field(default=None, description="A fact file, without `.md`.")
    section: Section | None = Field(default=None, description="Section of a fact; goes with `key`.")
    key: FactKey | None = Field(default=None, description="Key of a fact; goes with `section`.")
    task_id: TaskId | None = Field(default=None, description="A task.")
    session_id: SessionId | None = Field(default=None, description="A session.")
    before: Timestamp | None = Field(default=None, description="Everything before this time; may go with `after`.")
    after: Timestamp | None = Field(default=None, description="Everything after this time; may go with `before`.")
    path: RelativePath | None = Field(
        default=None, description="A file, relative to the root; never absolute and without `..`."
    )

    @model_validator(mode="after")
    def _names_one_thing(self) -> Selector:
        if (self.section is None) != (self.key is None):
            missing = "section" if self.section is None else "key"
            raise refusal_at(missing, "selector", "is missing: section and key of a fact go together")
        ways = {
            "text": self.text,
            "topic": self.topic,
            "section + key": self.key,
            "taskId": self.task_id,
            "sessionId": self.session_id,
            "before / after": self.before or self.after,
            "path": self.path,
        }
        given = [way for way, value in ways.items() if value is not None]
        if len(given) != 1:
            found = " and ".join(given) or "none"
            raise refusal("selector", f"takes exactly one way to name what to forget ({', '.join(ways)}), got {found}")
        if self.before is not None and self.after is not None and self.after >= self.before:
            raise refusal_at("after", "selector", "must be earlier than before; nothing lies between them")
        return self


class ForgottenPlace(Part):
    """A file in which something was forgotten."""

    path: str = Field(description="The file, relative to the root.")
    count: PlaceCount = Field(description="How many places in it.")


class Forgotten(Payload):
    """What was forgotten, or with `dryRun` would be."""

    event_type = "memory:forgotten"

    dry_run: Flag = Field(description="Whether this only told what would be done.")
    places: tuple[ForgottenPlace, ...] = Field(description="Where.")
    total: PlaceCount = Field(description="How many places in all. 0: nothing was found, nothing was forgotten.")
    verified: Flag = Field(description="Whether a search of every byte afterwards found nothing left.")
    notice: str | None = Field(default=None, description="What went wrong or is left, in words.")


class Forget(Request[Forgotten]):
    """Remove something from memory for good."""

    event_type = "memory:forget"
    reply_type = Forgotten

    selector: Selector = Field(description="What to forget.")
    dry_run: Flag = Field(default=False, description="Only tell what would be forgotten.")


class MemoryDegraded(Payload):
    """Memory is in trouble since `since`; it goes on with what it can do."""

    event_type = "memory:degraded"

    reason: str = Field(description="What went wrong, in words.")
    since: Timestamp


class MemoryRecovered(Payload):
    """The trouble that began at `since` is over."""

    event_type = "memory:recovered"

    reason: str = Field(description="What had gone wrong, in words.")
    since: Timestamp
