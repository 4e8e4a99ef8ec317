"""The committed schemas say what the models say, and every field is documented."""

from __future__ import annotations

import copy
import json
from collections.abc import Iterator
from typing import Any

import jsonschema
import pytest
import yaml

from bus.payload import Payload, Request
from contracts.asyncapi import asyncapi_document, name_of
from contracts.errors import BreakingChangeError
from contracts.generate import (
    HERE,
    committed_schemas,
    current_schemas,
    differing_files,
    generate,
    generated_files,
    incompatibilities,
    version_of,
)
from contracts.schema import ALL_EVENTS, JsonSchema, file_stem, schema_of
from contracts.version import VERSION

EACH_EVENT = pytest.mark.parametrize("model", ALL_EVENTS, ids=lambda model: model.event_type)
GOLDEN = sorted((HERE / "golden").glob("*.json"))
EACH_GOLDEN = pytest.mark.parametrize("path", GOLDEN, ids=lambda path: path.stem)
MODELS = {model.event_type: model for model in ALL_EVENTS}


def objects(schema: Any) -> Iterator[JsonSchema]:
    """Give every schema in a schema."""
    if isinstance(schema, dict):
        yield schema
        for value in schema.values():
            yield from objects(value)
    elif isinstance(schema, list):
        for value in schema:
            yield from objects(value)


def test_committed_files_are_what_the_models_say() -> None:
    """Run `python -m contracts generate` after changing a model."""
    assert differing_files() == []


def test_nobody_is_broken_within_a_major_version() -> None:
    """The models are compatible with the committed schemas of the same major version."""
    assert incompatibilities(committed_schemas(), current_schemas()) == {}


def test_every_event_has_a_golden_example() -> None:
    """An event without an example is half documented."""
    assert {json.loads(path.read_text(encoding="utf-8"))["type"] for path in GOLDEN} == set(MODELS)


@EACH_GOLDEN
def test_golden_example_reads_back_the_same(path: Any) -> None:
    """Wire to model to wire loses nothing and adds nothing."""
    wire = json.loads(path.read_text(encoding="utf-8"))
    payload = MODELS[wire["type"]].model_validate_json(json.dumps(wire["data"]))
    assert json.loads(json.dumps(payload.model_dump(mode="json", by_alias=True, exclude_unset=True))) == wire["data"]
    assert type(payload).model_validate(payload.model_dump(mode="json", by_alias=True)) == payload
    assert path.stem.startswith(file_stem(wire["type"]))
    assert wire["specversion"] == "1.0"


@EACH_GOLDEN
def test_golden_example_fits_its_schema_and_the_document(path: Any) -> None:
    """The example fits the event's schema; the envelope fits the message of the AsyncAPI document."""
    wire = json.loads(path.read_text(encoding="utf-8"))
    jsonschema.Draft202012Validator(committed_schemas()[file_stem(wire["type"])]).validate(wire["data"])
    document = asyncapi_document()
    message = {
        **document["components"]["messages"][name_of(wire["type"])]["payload"],
        "components": document["components"],
    }
    jsonschema.Draft7Validator(message).validate(wire)
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.Draft7Validator(message).validate({**wire, "type": "memory:other"})


@EACH_EVENT
def test_schema_is_a_schema(model: type[Payload]) -> None:
    """Each schema is valid in its own dialect, and names event and version."""
    schema = schema_of(model)
    jsonschema.Draft202012Validator.check_schema(schema)
    assert schema["title"] == model.event_type
    assert version_of(schema) == VERSION


@EACH_EVENT
def test_every_field_is_described(model: type[Payload]) -> None:
    """Every field of every model has a description, and every number a unit."""
    schema = schema_of(model)
    for part in [schema, *schema.get("$defs", {}).values()]:
        assert part["description"]
        for name, field in part["properties"].items():
            assert field.get("description"), f"{model.__name__}: {name}"
    for part in objects(schema):
        if part.get("type") in ("integer", "number"):
            assert part.get("x-unit"), f"{model.__name__}: {part}"


@pytest.mark.parametrize(
    ("kind", "content"),
    [
        ("fact", {"role": "user", "content": "a"}),
        ("conversation", {"section": "a", "key": "b", "value": "c"}),
        ("task", {"priority": "low"}),
        ("note", {"text": " "}),
        ("batch", {"items": []}),
        (
            "batch",
            {
                "items": [
                    {"event": "memory:write", "data": {"type": "batch", "sessionId": "s", "content": {"items": []}}}
                ]
            },
        ),
    ],
)
def test_schema_ties_content_to_type(kind: str, content: Any) -> None:
    """What the model refuses of a content, the published schema refuses too."""
    validator = jsonschema.Draft202012Validator(schema_of(MODELS["memory:write"]))
    assert not validator.is_valid({"type": kind, "sessionId": "s", "content": content})


def test_document_has_the_structure_of_asyncapi_3() -> None:
    """Channels, operations with replies, messages and components hang together by references that lead somewhere."""
    document = yaml.safe_load((HERE / "asyncapi.yaml").read_text(encoding="utf-8"))
    assert document == asyncapi_document()
    assert document["asyncapi"] == "3.0.0"
    assert set(document) <= {"asyncapi", "id", "info", "defaultContentType", "channels", "operations", "components"}
    assert {"title", "version"} <= set(document["info"])
    for part in objects(document):
        if isinstance(reference := part.get("$ref"), str):
            target: Any = document
            for step in reference.removeprefix("#/").split("/"):
                target = target[step]
            assert target
    assert {channel["address"] for channel in document["channels"].values()} == set(MODELS)
    for channel in document["channels"].values():
        assert set(channel) <= {"address", "description", "messages"}
        assert len(channel["messages"]) == 1
    for operation in document["operations"].values():
        assert operation["action"] in ("send", "receive")
        assert set(operation) <= {"action", "summary", "channel", "messages", "reply"}
        own = operation["channel"]["$ref"]
        assert all(message["$ref"].startswith(f"{own}/messages/") for message in operation["messages"])


def test_every_request_is_an_operation_with_its_reply() -> None:
    """Who reads the document learns what answers what."""
    operations = asyncapi_document()["operations"]
    for model in ALL_EVENTS:
        if issubclass(model, Request):
            name = name_of(model.event_type)
            operation = operations[f"receive{name[0].upper()}{name[1:]}"]
            assert operation["reply"]["channel"]["$ref"] == f"#/channels/{name_of(model.reply_type.event_type)}"


def test_two_meanings_of_one_name_are_not_mixed_up() -> None:
    """A schema's name stands for one thing in the document."""

    class Task(Payload):
        """Another thing of a known name."""

        event_type = "test:task"

    with pytest.raises(ValueError, match="two different schemas are both called Task"):
        asyncapi_document([*ALL_EVENTS, Task])


def test_generate_writes_what_is_missing_and_removes_orphans(tmp_path: Any) -> None:
    """Generating into an empty folder gives all files; a second run changes nothing."""
    assert sorted(generate(tmp_path)) == sorted(generated_files())
    assert generate(tmp_path) == []
    (tmp_path / "schemas" / "memory.read.json").unlink()
    assert generate(tmp_path) == ["schemas/memory.read.json"]


def test_generate_refuses_to_break_somebody(tmp_path: Any) -> None:
    """A committed field that the models lack is not overwritten within a major version; an old major version is."""
    generate(tmp_path)
    path = tmp_path / "schemas" / "memory.read.json"
    schema = json.loads(path.read_text(encoding="utf-8"))
    older = copy.deepcopy(schema)
    older["properties"]["mood"] = {"type": "string"}
    path.write_text(json.dumps(older), encoding="utf-8")
    with pytest.raises(BreakingChangeError, match=r"memory.read: mood: removed"):
        generate(tmp_path)
    assert json.loads(path.read_text(encoding="utf-8")) == older
    older["$id"] = older["$id"].replace(VERSION, "0.9.0")
    path.write_text(json.dumps(older), encoding="utf-8")
    assert generate(tmp_path) == ["schemas/memory.read.json"]


def test_removed_event_breaks() -> None:
    """An event that nobody publishes any more is a breaking change."""
    new = current_schemas()
    removed = new.pop("memory.get")
    assert incompatibilities({"memory.get": removed}, new) == {"memory.get": ["event removed"]}
    assert incompatibilities({"memory.get": removed}, new, version="2.0.0") == {}
