"""Events that change what is remembered, and their reply."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any, Literal

from pydantic import (
    Field,
    ValidationInfo,
    ValidatorFunctionWrapHandler,
    WrapValidator,
    field_validator,
    model_validator,
)

from bus.payload import Payload, Request
from contracts.base import Part
from contracts.content import (
    CuratedContent,
    FactContent,
    MessageContent,
    MessagesContent,
    NoteContent,
    SummaryContent,
    TaskContent,
)
from contracts.fields import (
    MAX_BATCH_ITEMS,
    Durability,
    FactKey,
    FactValue,
    Flag,
    IdempotencyKey,
    Origin,
    Reason,
    Section,
    SessionId,
    SessionKind,
    Several,
    TaskId,
    TaskState,
    Topic,
)
from contracts.wording import refusal, refusal_at, show


class MemoryWritten(Payload):
    """What became of a write. `success` with `durability: synced` means that it survives a crash from now on."""

    event_type = "memory:written"

    key: str = Field(description="Address of what was written; empty when nothing was.")
    success: Flag = Field(description="Whether it was stored.")
    degraded: Flag = Field(description="Whether memory is in trouble (a refusal is not trouble).")
    keys: tuple[str, ...] = Field(
        default=(), description="All addresses, in the order of the items; `key` is the first."
    )
    message: str | None = Field(default=None, description="Why it was refused, or what to know about it.")
    durability: Durability | None = Field(
        default=None,
        description="With every success. `synced`: survives a power failure; `buffered`: not before the next sync.",
    )
    suggestions: tuple[str, ...] = Field(default=(), description="What might be worth remembering beside it.")


class UpdateFact(Request[MemoryWritten]):
    """The user said something new about a fact."""

    event_type = "memory:update_fact"
    reply_type = MemoryWritten

    section: Section
    key: FactKey
    value: FactValue
    topic: Topic | None = Field(default=None, description="Fact file to use, without `.md`.")
    session_id: SessionId | None = Field(default=None, description="Session whose order the change keeps.")
    session_kind: SessionKind | None = Field(default=None, description="What the session may see and change.")
    origin: Origin | None = Field(default=None, description="Where the fact comes from.")


class TaskStateChange(Request[MemoryWritten]):
    """A task gets another state."""

    event_type = "memory:task_state_change"
    reply_type = MemoryWritten

    task_id: TaskId
    new_state: TaskState = Field(description="From completed only back to in_progress.")
    reason: Reason | None = Field(default=None, description="Why; kept with the task. Up to 2,000 characters.")
    session_id: SessionId | None = Field(default=None, description="Session whose order the change keeps.")
    session_kind: SessionKind | None = Field(default=None, description="What the session may see and change.")


class WriteItem(Part):
    """A `memory:write` in a batch."""

    event: Literal["memory:write"] = Field(description="The event.")
    data: MemoryWrite = Field(description="Its payload; not a batch again.")


class UpdateFactItem(Part):
    """A `memory:update_fact` in a batch."""

    event: Literal["memory:update_fact"] = Field(description="The event.")
    data: UpdateFact = Field(description="Its payload.")


class TaskStateItem(Part):
    """A `memory:task_state_change` in a batch."""

    event: Literal["memory:task_state_change"] = Field(description="The event.")
    data: TaskStateChange = Field(description="Its payload.")


_ITEMS: dict[str, type[Part]] = {
    "memory:write": WriteItem,
    "memory:update_fact": UpdateFactItem,
    "memory:task_state_change": TaskStateItem,
}


def _choose_item(item: Any, handler: ValidatorFunctionWrapHandler) -> Any:
    """Validate an item as the kind that its `event` names, so that an error names the field and nothing else."""
    if isinstance(item, Mapping):
        event = item.get("event")
        model = _ITEMS.get(event) if isinstance(event, str) else None
        if model is None:
            raise refusal_at("event", "batch_event", f"must be one of {', '.join(_ITEMS)}, not {show(event)}", event)
        if isinstance(data := item.get("data"), Mapping) and data.get("type") == "batch":
            # Refused before it is looked into: batches in batches in batches would exhaust the stack.
            raise refusal_at("data.type", "nested_batch", _NESTED, "batch")
        return model.model_validate(dict(item))
    if not isinstance(item, tuple(_ITEMS.values())):
        raise refusal("batch_item", "must be an object of `event` and `data`")
    if isinstance(item, WriteItem) and item.data.type == "batch":
        raise refusal_at("data.type", "nested_batch", _NESTED, "batch")
    return item


_NESTED = "is a batch in a batch; put its items into the outer one"
BatchItem = Annotated[WriteItem | UpdateFactItem | TaskStateItem, WrapValidator(_choose_item)]


class BatchContent(Part):
    """Several writes of which all are done or none."""

    items: Annotated[tuple[BatchItem, ...], Several("items", MAX_BATCH_ITEMS, least=1)] = Field(
        description="The writes, in order, all of the session of the batch; 1 to 500."
    )


Content = (
    MessageContent
    | MessagesContent
    | FactContent
    | TaskContent
    | SummaryContent
    | NoteContent
    | CuratedContent
    | BatchContent
)
WriteType = Literal["conversation", "fact", "task", "summary", "note", "memory", "batch"]

_CONTENT_TYPES: dict[str, tuple[type[Part], ...]] = {
    "conversation": (MessageContent, MessagesContent),
    "fact": (FactContent,),
    "task": (TaskContent,),
    "summary": (SummaryContent,),
    "note": (NoteContent,),
    "memory": (CuratedContent,),
    "batch": (BatchContent,),
}


def _content_model(kind: str, content: Mapping[Any, Any]) -> type[Part]:
    """Choose the model of a content by the kind of its write."""
    if kind == "conversation" and "messages" in content:
        return MessagesContent
    return _CONTENT_TYPES[kind][0]


class MemoryWrite(Request[MemoryWritten]):
    """Something to remember."""

    event_type = "memory:write"
    reply_type = MemoryWritten

    type: WriteType = Field(description="Kind of the content.")
    content: Content = Field(description="What to remember; its shape follows `type`.")
    session_id: SessionId
    session_kind: SessionKind | None = Field(default=None, description="What the session may see and change.")
    idempotency_key: IdempotencyKey | None = Field(
        default=None, description="The same key again within 7 days changes nothing and gets the same answer."
    )
    origin: Origin | None = Field(default=None, description="Where the content comes from.")

    @field_validator("content", mode="wrap")
    @classmethod
    def _content_of_type(cls, content: Any, handler: ValidatorFunctionWrapHandler, info: ValidationInfo) -> Any:
        kind = info.data.get("type")
        if kind is None:  # `type` was refused, which is said already; without it nothing can be said of the content
            return content
        if isinstance(content, Mapping):
            return _content_model(kind, content).model_validate(dict(content))
        if isinstance(content, _CONTENT_TYPES[kind]):
            return content
        wanted = " or ".join(model.__name__ for model in _CONTENT_TYPES[kind])
        raise refusal("content_type", f"must be an object of type {kind!r} ({wanted}), not {show(content)}")

    @model_validator(mode="after")
    def _batch_of_one_session(self) -> MemoryWrite:
        if isinstance(self.content, BatchContent):
            for position, item in enumerate(self.content.items):
                if item.data.session_id not in (None, self.session_id):
                    other, own = show(item.data.session_id), show(self.session_id)
                    text = f"is {other}, but a batch belongs to one session, here {own}"
                    raise refusal_at(f"content.items.{position}.data.sessionId", "batch_session", text)
        return self


WriteItem.model_rebuild()
BatchContent.model_rebuild()
MemoryWrite.model_rebuild()
