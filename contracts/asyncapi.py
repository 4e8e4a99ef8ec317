"""The AsyncAPI 3.0 document of the events."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from bus.payload import Payload, Request
from contracts.schema import ALL_EVENTS, JsonSchema, envelope_schema, schema_of
from contracts.version import VERSION

_SENT = {"memory:degraded", "memory:recovered", "bus:handler_failed", "bus:rejected"}
"""Events that nobody asked for."""


def name_of(event_type: str) -> str:
    """Name an event as a key of the document: `memory:update_fact` is `memoryUpdateFact`."""
    first, *rest = event_type.replace("_", ":").split(":")
    return first + "".join(word.capitalize() for word in rest)


def asyncapi_document(models: Iterable[type[Payload]] = ALL_EVENTS) -> dict[str, Any]:
    """Describe the events from Memory's side: what it receives, what it answers, what it sends unasked.

    A channel is an event's name on the bus, and its one message is the CloudEvents envelope around the payload.
    """
    models = tuple(models)
    schemas: dict[str, JsonSchema] = {}
    for model in models:
        _add_schemas(model, schemas)
    return {
        "asyncapi": "3.0.0",
        "id": "urn:openclaw-memory:contracts",
        "info": {
            "title": "OpenClaw memory events",
            "version": VERSION,
            "description": "What a Gateway, a Brain and Memory say to each other on the event bus.",
            "license": {"name": "MIT"},
        },
        "defaultContentType": "application/cloudevents+json",
        "channels": {name_of(model.event_type): _channel(model) for model in models},
        "operations": {
            f"{_action(model)}{name_of(model.event_type)[0].upper()}{name_of(model.event_type)[1:]}": _operation(model)
            for model in models
            if issubclass(model, Request) or model.event_type in _SENT
        },
        "components": {
            "correlationIds": {
                "request": {
                    "description": "Id of the request that the event answers.",
                    "location": "$message.payload#/correlationid",
                }
            },
            "messages": {name_of(model.event_type): _message(model) for model in models},
            "schemas": dict(sorted(schemas.items())),
        },
    }


def _summary(model: type[Payload]) -> str:
    return (model.__doc__ or model.event_type).strip().splitlines()[0]


def _action(model: type[Payload]) -> str:
    return "receive" if issubclass(model, Request) else "send"


def _channel(model: type[Payload]) -> dict[str, Any]:
    name = name_of(model.event_type)
    return {
        "address": model.event_type,
        "description": _summary(model),
        "messages": {name: {"$ref": f"#/components/messages/{name}"}},
    }


def _operation(model: type[Payload]) -> dict[str, Any]:
    name = name_of(model.event_type)
    operation: dict[str, Any] = {
        "action": _action(model),
        "summary": _summary(model),
        "channel": {"$ref": f"#/channels/{name}"},
        "messages": [{"$ref": f"#/channels/{name}/messages/{name}"}],
    }
    if issubclass(model, Request):
        reply = name_of(model.reply_type.event_type)
        operation["reply"] = {
            "channel": {"$ref": f"#/channels/{reply}"},
            "messages": [{"$ref": f"#/channels/{reply}/messages/{reply}"}],
        }
    return operation


def _message(model: type[Payload]) -> dict[str, Any]:
    payload = envelope_schema({"$ref": f"#/components/schemas/{model.__name__}"}, model.event_type)
    return {
        "name": model.event_type,
        "title": _summary(model),
        "contentType": "application/cloudevents+json",
        "correlationId": {"$ref": "#/components/correlationIds/request"},
        "payload": payload,
    }


def _add_schemas(model: type[Payload], schemas: dict[str, JsonSchema]) -> None:
    """Put a payload's schema and its definitions side by side; the same name always means the same thing."""
    schema = schema_of(model)
    parts = {**schema.pop("$defs", {}), model.__name__: schema}
    for name, part in parts.items():
        moved = _moved(part)
        if schemas.setdefault(name, moved) != moved:
            raise ValueError(f"two different schemas are both called {name}; rename one of the models")


def _moved(schema: Any) -> Any:
    """Let references point to where AsyncAPI keeps schemas; identity and title belong to the single files."""
    if isinstance(schema, list):
        return [_moved(each) for each in schema]
    if not isinstance(schema, dict):
        return schema
    return {
        key: value.replace("#/$defs/", "#/components/schemas/") if key == "$ref" else _moved(value)
        for key, value in schema.items()
        if key not in ("$schema", "$id", "title")
    }
