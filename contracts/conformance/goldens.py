"""The golden examples, asked as they stand."""

from __future__ import annotations

from typing import Any

from bus import Request
from contracts import MemoryWritten
from contracts.conformance.asking import new_task
from contracts.conformance.check import Check
from contracts.conformance.generated import EXPECTED
from contracts.conformance.golden import MODELS, golden_envelopes, payload_of
from contracts.conformance.probe import Probe, expect

_OPTIONAL_WRITES = {"memory.write.summary", "memory.write.note", "memory.write.memory"}


def _check(name: str, envelope: dict[str, Any]) -> Check[Probe]:
    async def run(probe: Probe) -> None:
        if name == "memory.task_state_change":
            # The example names the first task of a memory; a Memory that numbers otherwise may refuse it.
            await new_task(probe, "the first task")
        payload = payload_of(envelope)
        assert isinstance(payload, Request)
        reply = await probe.ask(payload)
        if isinstance(reply, MemoryWritten):
            expect(not reply.degraded, f"degraded by a golden example: {reply.message}")
            expect(reply.success or envelope["type"] != "memory:write", f"refused a golden example: {reply.message}")

    required = envelope["type"] in EXPECTED and name not in _OPTIONAL_WRITES
    return Check(f"golden: {name} is answered", run, required)


def checks() -> tuple[Check[Probe], ...]:
    """Give a check for each golden example of an event that asks Memory."""
    asked = {name: each for name, each in golden_envelopes().items() if issubclass(MODELS[each["type"]], Request)}
    return tuple(_check(name, envelope) for name, envelope in asked.items())
