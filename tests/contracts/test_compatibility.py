"""Each kind of breaking change is found and named; harmless ones are not."""

from __future__ import annotations

from typing import Any

import pytest

from contracts.compatibility import breaking_changes
from contracts.schema import ALL_EVENTS, schema_of


def payload(required: tuple[str, ...] = (), **fields: Any) -> dict[str, Any]:
    """Write the schema of an object."""
    return {"type": "object", "properties": fields, "required": list(required)}


TEXT = {"type": "string"}
NUMBER = {"type": "integer"}
NULLABLE = {"anyOf": [TEXT, {"type": "null"}]}
WORDS = {"type": "string", "enum": ["a", "b"]}
ITEM = {"$defs": {"Item": payload(name=TEXT)}}


def listed(**defs: Any) -> dict[str, Any]:
    """Write the schema of a payload that holds a list of items."""
    return {"$defs": defs, **payload(items={"type": "array", "items": {"$ref": "#/$defs/Item"}})}


def condition(kind: str, **fields: Any) -> dict[str, Any]:
    """Write that a payload of a kind has these fields."""
    return {"if": {"properties": {"type": {"const": kind}}}, "then": payload(**fields)}


BREAKING = [
    pytest.param(payload(a=TEXT, b=TEXT), payload(a=TEXT), ["b: removed"], id="field removed"),
    pytest.param(payload(a=TEXT), payload(a=NUMBER), ["a: was string, is integer"], id="retyped"),
    pytest.param(payload(a={}), payload(a=NUMBER), ["a: was of any type, is integer"], id="typed"),
    pytest.param(payload(a=TEXT), payload(("a",), a=TEXT), ["a: newly required"], id="newly required"),
    pytest.param(payload(a=TEXT), payload(("b",), a=TEXT, b=TEXT), ["b: newly required"], id="new and required"),
    pytest.param(payload(a=NULLABLE), payload(a=TEXT), ["a: was of any type, is string"], id="null no longer taken"),
    pytest.param(payload(a=WORDS), payload(a={**WORDS, "enum": ["a"]}), ["a: no longer takes 'b'"], id="word removed"),
    pytest.param(payload(a=TEXT), payload(a=WORDS), ["a: newly restricted to certain words"], id="set closed"),
    pytest.param(
        payload(a={**TEXT, "maxLength": 9}),
        payload(a={**TEXT, "maxLength": 8}),
        ["a: maxLength was 9, is 8"],
        id="upper limit",
    ),
    pytest.param(
        payload(a={**NUMBER, "minimum": 0}),
        payload(a={**NUMBER, "minimum": 1}),
        ["a: minimum was 0, is 1"],
        id="lower limit",
    ),
    pytest.param(
        payload(a=NUMBER), payload(a={**NUMBER, "maximum": 5}), ["a: maximum was without limit, is 5"], id="new limit"
    ),
    pytest.param(payload(a=TEXT), payload(a={**TEXT, "pattern": "^x"}), ["a: pattern is new: ^x"], id="pattern"),
    pytest.param(listed(Item=payload(name=TEXT)), listed(Item=payload()), ["items[].name: removed"], id="in a list"),
    pytest.param(
        payload(a={"anyOf": [payload(x=TEXT), {"type": "null"}]}),
        payload(a={"anyOf": [payload(), {"type": "null"}]}),
        ["a.x: removed"],
        id="inside one of several shapes",
    ),
    pytest.param(
        payload(a={"anyOf": [TEXT, NUMBER]}),
        payload(a={"anyOf": [TEXT]}),
        ["a: no longer takes integer"],
        id="shape removed",
    ),
    pytest.param(
        {**payload(), "allOf": [condition("x", a=TEXT)]},
        {**payload(), "allOf": [condition("x")]},
        ["a: removed"],
        id="inside a condition",
    ),
    pytest.param(
        payload(),
        {**payload(), "allOf": [condition("x", a=TEXT)]},
        ["the payload: newly restricted by a condition"],
        id="condition",
    ),
    pytest.param(
        payload(),
        {**payload(), "anyOf": [payload(("a",))]},
        ["a: newly required"],
        id="one of newly needed",
    ),
]

HARMLESS = [
    pytest.param(payload(a=TEXT), payload(a=TEXT, b=TEXT), id="new optional field"),
    pytest.param(payload(("a",), a=TEXT), payload(a=TEXT), id="no longer required"),
    pytest.param(payload(a=TEXT), payload(a=NULLABLE), id="null taken"),
    pytest.param(payload(a=WORDS), payload(a={**WORDS, "enum": ["b", "c", "a"]}), id="new word"),
    pytest.param(payload(a=WORDS), payload(a=TEXT), id="set opened"),
    pytest.param(payload(a={**TEXT, "maxLength": 8}), payload(a={**TEXT, "maxLength": 9}), id="wider limit"),
    pytest.param(payload(a={**NUMBER, "minimum": 1}), payload(a=NUMBER), id="limit gone"),
    pytest.param(payload(a=NUMBER), payload(a={"type": "number"}), id="fractions taken"),
    pytest.param(payload(a=TEXT), payload(a={**TEXT, "description": "words"}), id="other words"),
    pytest.param(
        payload(a=NULLABLE), payload(a={"anyOf": [{"type": "null"}, NUMBER, TEXT]}), id="shapes in another order"
    ),
    pytest.param(
        {**payload(), "allOf": [condition("x", a=TEXT)]},
        {**payload(), "allOf": [condition("x", a=TEXT), condition("y", b=TEXT)]},
        id="condition on a new word",
    ),
    pytest.param(
        payload(a=TEXT), {**payload(a={"$ref": "#/$defs/Text"}), "$defs": {"Text": TEXT}}, id="moved into $defs"
    ),
]


@pytest.mark.parametrize(("old", "new", "expected"), BREAKING)
def test_breaking_change_is_named(old: Any, new: Any, expected: list[str]) -> None:
    """The field and what became of it are told."""
    assert [str(each) for each in breaking_changes(old, new)] == expected


@pytest.mark.parametrize(("old", "new"), HARMLESS)
def test_harmless_change_passes(old: Any, new: Any) -> None:
    """Whoever relied on the old schema can go on doing so."""
    assert breaking_changes(old, new) == []


@pytest.mark.parametrize("model", ALL_EVENTS, ids=lambda model: model.event_type)
def test_nothing_changed_breaks_nothing(model: Any) -> None:
    """Also where definitions refer to each other."""
    assert breaking_changes(schema_of(model), schema_of(model)) == []


def test_deep_in_a_write() -> None:
    """A fact's value in a batch that becomes shorter is found where it lies, and once."""
    model = next(each for each in ALL_EVENTS if each.event_type == "memory:write")
    new = schema_of(model)
    new["$defs"]["StepContent"]["properties"]["text"]["maxLength"] = 10
    found = [str(each) for each in breaking_changes(schema_of(model), new)]
    assert found
    assert all("maxLength was 500, is 10" in each and "steps" in each for each in found)
