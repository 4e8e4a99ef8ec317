"""One-field mutations of the golden examples, which must be refused by the field's name."""

from __future__ import annotations

import copy
import json
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from bus import Request
from contracts.conformance.check import Check
from contracts.conformance.golden import MODELS, golden_envelopes, payload_of
from contracts.conformance.probe import Probe, expect
from contracts.conformance.shapes import DECIDING, JsonSchema, shape_for
from contracts.schema import schema_of

Path = tuple[str | int, ...]

_OTHER_TYPES: dict[str, Any] = {
    "string": 7,
    "integer": "seven",
    "number": "seven",
    "boolean": "perhaps",
    "array": "no list",
    "object": "no object",
}


@dataclass(frozen=True, slots=True)
class Mutation:
    """A payload with one field made wrong.

    Args:
        path: The field, as on the wire.
        change: What was done to it, in words.
        data: The payload.
    """

    path: Path
    change: str
    data: Any

    @property
    def field(self) -> str:
        """Name the field as `bus:rejected` does."""
        return ".".join(str(step) for step in ("data", *self.path))


def mutations_of(data: Any, schema: JsonSchema) -> Iterator[Mutation]:
    """Give every mutation of a valid payload: a required field removed, another type, a value out of its range.

    Args:
        data: A valid payload, as on the wire.
        schema: Its JSON Schema, with `$defs`.
    """
    for path, value, shape in _fields(data, schema, schema.get("$defs", {}), ()):
        for change, wrong in _wrong_values(value, shape):
            yield Mutation(path, change, _with(data, path, wrong))
        required = shape.get("required", []) if isinstance(value, dict) else []
        for name in (each for each in required if each not in shape.get(DECIDING, [])):
            without = {key: entry for key, entry in value.items() if key != name}
            yield Mutation((*path, name), "removed", _with(data, path, without))


def _fields(
    value: Any, schema: JsonSchema, definitions: JsonSchema, path: Path
) -> Iterator[tuple[Path, Any, JsonSchema]]:
    """Give each value in a payload with its path and the schema that speaks of it."""
    shape = shape_for(value, schema, definitions)
    yield path, value, shape
    if isinstance(value, dict):
        for name, entry in value.items():
            if name in shape.get("properties", {}):
                yield from _fields(entry, shape["properties"][name], definitions, (*path, name))
    elif isinstance(value, list):
        for position, entry in enumerate(value[:1]):
            yield from _fields(entry, shape["items"], definitions, (*path, position))


def _wrong_values(value: Any, shape: JsonSchema) -> Iterator[tuple[str, Any]]:
    if (kind := shape.get("type")) is None and "const" not in shape:
        return
    yield "of another type", _OTHER_TYPES[kind or "string"]
    if "const" in shape or "enum" in shape:
        yield "no word of the set", "no-such-word"
    elif kind == "string":
        if "format" in shape:
            yield "no time", "yesterday"
        elif "pattern" in shape:
            yield "unsafe or blank", " \n"
        if "maxLength" in shape:
            yield "too long", "x" * (shape["maxLength"] + 1)
    elif kind in ("integer", "number"):
        yield "true", True
        if "minimum" in shape:
            yield "below the least", shape["minimum"] - 1
        if "maximum" in shape:
            yield "above the most", shape["maximum"] + 1
    elif kind == "array":
        if "maxItems" in shape:
            yield "too many", [value[0]] * (shape["maxItems"] + 1)
        if "minItems" in shape:
            yield "too few", []


def _with(data: Any, path: Path, value: Any) -> Any:
    """Copy a payload with one value replaced."""
    if not path:
        return value
    changed = copy.deepcopy(data)
    place = changed
    for step in path[:-1]:
        place = place[step]
    place[path[-1]] = value
    return changed


async def _all_are_refused(probe: Probe, name: str, envelope: dict[str, Any]) -> None:
    schema = schema_of(MODELS[envelope["type"]])
    for position, mutation in enumerate(mutations_of(envelope["data"], schema)):
        if mutation.path == ():
            continue
        told = f"{name} with {mutation.field} {mutation.change}"
        await probe.receive(json.dumps({**envelope, "id": f"{name}-{position}", "data": mutation.data}))
        answers = [event.type for event in probe.published]
        expect(bool(probe.rejected), f"{told} was accepted" + (f" and answered by {answers}" if answers else ""))
        expect(not answers, f"{told} was refused, but {answers} came all the same")
        fields = probe.rejected[0].fields
        expect(mutation.field in fields, f"{told} was refused by the name of {', '.join(fields) or 'no field'} only")


def _check(name: str, envelope: dict[str, Any]) -> Check[Probe]:
    async def run(probe: Probe) -> None:
        payload = payload_of(envelope)
        assert isinstance(payload, Request)
        await probe.ask(payload)  # tells whether the event is offered at all
        await probe.ask_in_json({**envelope, "id": f"{name}-valid"})
        await _all_are_refused(probe, name, envelope)

    return Check(f"bad input: {name}: each one-field mutation is refused by its name", run, required=False)


def checks() -> tuple[Check[Probe], ...]:
    """Give a check for each golden example of an event that asks Memory."""
    asked = {name: each for name, each in golden_envelopes().items() if issubclass(MODELS[each["type"]], Request)}
    return tuple(_check(name, envelope) for name, envelope in asked.items())
