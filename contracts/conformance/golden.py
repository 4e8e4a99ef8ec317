"""The golden examples, as they are shipped."""

from __future__ import annotations

import json
from importlib.resources import files
from typing import Any

from bus import Payload
from contracts.schema import ALL_EVENTS

MODELS: dict[str, type[Payload]] = {model.event_type: model for model in ALL_EVENTS}


def golden_envelopes() -> dict[str, dict[str, Any]]:
    """Give the CloudEvents envelopes of all golden examples by name, such as `memory.write.fact`."""
    folder = files("contracts").joinpath("golden")
    found = sorted((entry for entry in folder.iterdir() if entry.name.endswith(".json")), key=lambda entry: entry.name)
    return {entry.name.removesuffix(".json"): json.loads(entry.read_text(encoding="utf-8")) for entry in found}


def payload_of(envelope: dict[str, Any]) -> Payload:
    """Read the payload of an envelope."""
    return MODELS[envelope["type"]].model_validate(envelope["data"])
