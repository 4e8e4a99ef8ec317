"""JSON Schemas (draft 2020-12) of the events, from their models."""

from __future__ import annotations

from typing import Any

from bus import EventRejected, HandlerFailed, Payload
from contracts import EVENTS
from contracts.version import VERSION

JsonSchema = dict[str, Any]

ALL_EVENTS: tuple[type[Payload], ...] = (*EVENTS, HandlerFailed, EventRejected)
"""Every event that is documented: those of memory, and what the bus says of them."""

DIALECT = "https://json-schema.org/draft/2020-12/schema"

_CONTENTS = {
    "fact": "FactContent",
    "task": "TaskContent",
    "summary": "SummaryContent",
    "note": "NoteContent",
    "memory": "CuratedContent",
    "batch": "BatchContent",
}
"""Kinds of write whose content has one shape; `conversation` has two."""


def file_stem(event_type: str) -> str:
    """Give the name of an event's files: `memory:read` lies in `memory.read.json`."""
    return event_type.replace(":", ".")


def schema_id(event_type: str, version: str = VERSION) -> str:
    """Give the identity of a schema; the version of the contracts is part of it."""
    return f"urn:openclaw-memory:contracts:{version}:{file_stem(event_type)}"


def schema_of(model: type[Payload]) -> JsonSchema:
    """Write the schema of a payload as it is on the wire, with everything that it refers to.

    Args:
        model: The payload's model.
    """
    schema = _untitled(model.model_json_schema(by_alias=True, mode="validation"))
    definitions = schema.get("$defs", {})
    if "BatchContent" in definitions:
        _tie_content_to_type(schema, definitions)
    title = {"$schema": DIALECT, "$id": schema_id(model.event_type), "title": model.event_type}
    return {**title, **{key: value for key, value in schema.items() if key != "title"}}


def _untitled(schema: Any) -> Any:
    """Leave out the titles that pydantic makes of the fields' names; they say nothing new."""
    if isinstance(schema, list):
        return [_untitled(each) for each in schema]
    if not isinstance(schema, dict):
        return schema
    kept = {key: value for key, value in schema.items() if not (key == "title" and isinstance(value, str))}
    return {key: _untitled(value) for key, value in kept.items()}


def _ref(name: str) -> JsonSchema:
    return {"$ref": f"#/$defs/{name}"}


def _when_type_is(kind: str, content: JsonSchema) -> JsonSchema:
    return {
        "if": {"properties": {"type": {"const": kind}}, "required": ["type"]},
        "then": {"properties": {"content": content}},
    }


def _write_schema(write: JsonSchema, kinds: list[str]) -> JsonSchema:
    """Give the schema of a write whose `type` is one of `kinds` and whose content has the shape that goes with it."""
    messages = {"if": {"required": ["messages"]}, "then": _ref("MessagesContent"), "else": _ref("MessageContent")}
    shapes = [_when_type_is(kind, messages if kind == "conversation" else _ref(_CONTENTS[kind])) for kind in kinds]
    fields = {
        **write["properties"],
        "type": {**write["properties"]["type"], "enum": kinds},
        "content": {"type": "object", "description": write["properties"]["content"]["description"]},
    }
    return {**write, "properties": fields, "allOf": shapes}


def _tie_content_to_type(schema: JsonSchema, definitions: dict[str, JsonSchema]) -> None:
    """Express that the shape of a write's content follows its `type`, and that a batch holds no batch."""
    write = definitions.pop("MemoryWrite")
    kinds = write["properties"]["type"]["enum"]
    definitions["BatchedWrite"] = _write_schema(write, [kind for kind in kinds if kind != "batch"])
    definitions["WriteItem"]["properties"]["data"] = {
        "description": definitions["WriteItem"]["properties"]["data"]["description"],
        **_ref("BatchedWrite"),
    }
    schema.pop("$ref", None)
    schema.update(_write_schema(write, kinds))


def envelope_schema(data: JsonSchema, event_type: str) -> JsonSchema:
    """Write the schema of the CloudEvents 1.0 envelope around a payload.

    Args:
        data: Schema of the payload, or a reference to it.
        event_type: What `type` says.
    """
    text = {"type": "string", "minLength": 1}
    return {
        "type": "object",
        "required": ["specversion", "id", "source", "type", "data"],
        "properties": {
            "specversion": {"const": "1.0", "description": "Version of CloudEvents."},
            "id": {**text, "description": "Id of the event, unique together with `source`."},
            "source": {**text, "description": "Who published it."},
            "type": {"const": event_type, "description": "Name of the event."},
            "time": {"type": "string", "format": "date-time", "description": "When it was published."},
            "datacontenttype": {"const": "application/json", "description": "What `data` is."},
            "correlationid": {**text, "description": "Id of the request that this event answers."},
            "causationid": {**text, "description": "Id of the event whose handling led to this one."},
            "data": data,
        },
    }
