"""Generated valid payloads, which must be accepted."""

from __future__ import annotations

import importlib.util
import json
from typing import Any

from pydantic import ValidationError

from bus import Payload, Request
from contracts import EVENTS, BatchContent, MemoryContext, MemoryResults, MemoryWrite, MemoryWritten
from contracts.conformance.check import Check
from contracts.conformance.probe import Probe, expect
from contracts.conformance.shapes import JsonSchema, conditions_of
from contracts.errors import CheckFailedError, MissingExtraError, NotOfferedError
from contracts.schema import schema_of

EXPECTED = ("memory:read", "memory:write", "memory:update_fact", "memory:task_state_change", "memory:search")
"""Events that every Memory answers; the others are optional."""
EXPECTED_KINDS = ("conversation", "fact", "task", "batch")
"""Kinds of write that every Memory takes; the others are optional."""


def generated_payloads(schema: JsonSchema, count: int) -> list[Any]:
    """Generate valid payloads from the JSON Schema of an event; the same ones every time.

    Args:
        schema: The schema, with its `$defs`.
        count: How many.

    Raises:
        MissingExtraError: hypothesis is not installed.
    """
    if importlib.util.find_spec("hypothesis") is None:
        raise MissingExtraError("hypothesis")
    from hypothesis import HealthCheck, Phase, given, settings

    from contracts.conformance.strategies import payloads

    found: list[Any] = []
    quiet = settings(
        max_examples=count,
        derandomize=True,
        database=None,
        deadline=None,
        phases=(Phase.generate,),
        suppress_health_check=list(HealthCheck),
    )

    def collect(payload: Any) -> None:
        found.append(of_one_session(payload))

    quiet(given(payloads(schema))(collect))()
    return found


def of_one_session(payload: Any) -> Any:
    """Let a batch's items belong to its own session, which a schema cannot say."""
    if payload.get("type") == "batch":
        for item in payload["content"]["items"]:
            if item["data"].get("sessionId") is not None:
                item["data"]["sessionId"] = payload["sessionId"]
    return payload


async def _all_are_accepted(probe: Probe, model: type[Payload], schema: JsonSchema, count: int) -> None:
    for data in generated_payloads(schema, count):
        told = json.dumps(data)[:300]
        try:
            payload = model.model_validate(data)
        except ValidationError as error:
            raise CheckFailedError(f"the JSON Schema allows what the model refuses: {told}: {error}") from error
        assert isinstance(payload, Request)
        try:
            reply = await probe.ask(payload)
            await probe.settle()
        except CheckFailedError as error:
            raise CheckFailedError(f"{error.reason} (payload: {told})") from error
        except NotOfferedError:
            if isinstance(payload, MemoryWrite) and isinstance(payload.content, BatchContent):
                continue  # one of its items is of a kind that this Memory does not offer
            raise
        if isinstance(reply, MemoryContext | MemoryResults):
            expect(not reply.degraded, f"degraded by a valid payload: {reply.notice} (payload: {told})")
        if isinstance(reply, MemoryWritten):
            expect(not reply.degraded, f"degraded by a valid payload: {reply.message} (payload: {told})")
            expect(reply.success or bool(reply.message), f"refused without a reason (payload: {told})")


def _check(name: str, model: type[Payload], schema: JsonSchema, count: int, required: bool) -> Check[Probe]:
    async def run(probe: Probe) -> None:
        await _all_are_accepted(probe, model, schema, count)

    return Check(f"generated: {name}: {count} valid payloads are answered", run, required)


def _of_kind(schema: JsonSchema, kind: str) -> JsonSchema:
    """Narrow the schema of a write to one kind of content."""
    return conditions_of(schema, kind, schema["$defs"])


def checks(count: int) -> tuple[Check[Probe], ...]:
    """Give a check for each event that asks Memory, and for each kind of write, with so many payloads each."""
    found = []
    for model in EVENTS:
        schema = schema_of(model)
        if model is MemoryWrite:
            for kind in schema["properties"]["type"]["enum"]:
                required = kind in EXPECTED_KINDS
                found.append(_check(f"{model.event_type} ({kind})", model, _of_kind(schema, kind), count, required))
        elif issubclass(model, Request):
            found.append(_check(model.event_type, model, schema, count, model.event_type in EXPECTED))
    return tuple(found)
