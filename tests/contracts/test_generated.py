"""Schemas and models agree: what the one takes or refuses, so does the other."""

from __future__ import annotations

import json
from typing import Any

import jsonschema
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from pydantic import ValidationError

from bus import Payload
from contracts.conformance.generated import checks, generated_payloads, of_one_session
from contracts.conformance.golden import MODELS, golden_envelopes
from contracts.conformance.mutations import mutations_of
from contracts.conformance.strategies import payloads
from contracts.schema import ALL_EVENTS, schema_of

GOLDEN = golden_envelopes()
MEMORYS = [model for model in ALL_EVENTS if not model.event_type.startswith("bus:")]


@pytest.mark.parametrize("model", MEMORYS, ids=lambda model: model.event_type)
@settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(data=st.data())
def test_model_takes_what_its_schema_allows(model: type[Payload], data: Any) -> None:
    """And writes it so that its schema allows it again, and it reads back equal."""
    generated = data.draw(payloads(schema_of(model)))
    payload = model.model_validate(json.loads(json.dumps(of_one_session(generated))))
    wire = payload.model_dump(mode="json", by_alias=True)
    jsonschema.Draft202012Validator(schema_of(model)).validate(wire)
    assert model.model_validate(wire) == payload


@pytest.mark.parametrize("name", [name for name in GOLDEN if not name.startswith("bus")])
def test_schema_refuses_what_its_model_refuses(name: str) -> None:
    """Each one-field mutation of each golden example is refused by both, and the model names the field."""
    envelope = GOLDEN[name]
    model = MODELS[envelope["type"]]
    validator = jsonschema.Draft202012Validator(schema_of(model))
    mutations = [each for each in mutations_of(envelope["data"], schema_of(model)) if each.path]
    assert mutations
    for mutation in mutations:
        assert not validator.is_valid(mutation.data), (mutation.field, mutation.change)
        with pytest.raises(ValidationError) as caught:
            model.model_validate(mutation.data)
        assert mutation.field in {".".join(map(str, ("data", *error["loc"]))) for error in caught.value.errors()}


def test_mutations_touch_every_field() -> None:
    """Of a golden read each field is mutated, the required ones are removed too."""
    envelope = GOLDEN["memory.read"]
    found = {(each.field, each.change) for each in mutations_of(envelope["data"], schema_of(MODELS["memory:read"]))}
    assert {field for field, _ in found} >= {f"data.{name}" for name in envelope["data"]}
    assert {field for field, change in found if change == "removed"} == {
        "data.query",
        "data.sessionId",
        "data.maxTokens",
    }
    assert ("data.maxTokens", "below the least") in found
    assert ("data.sessionKind", "no word of the set") in found
    assert ("data.asOf", "no time") in found


def test_generated_payloads_are_the_same_every_time() -> None:
    """A failure can be looked at again."""
    schema = schema_of(MODELS["memory:forget"])
    assert generated_payloads(schema, 5) == generated_payloads(schema, 5)


def test_every_request_is_generated() -> None:
    """Each event that asks, and each kind of write, has its check."""
    names = [check.name for check in checks(3)]
    assert len(names) == 17
    assert "generated: memory:write (batch): 3 valid payloads are answered" in names
