"""Base of the models inside a payload: frozen and spelled like the payloads themselves."""

from __future__ import annotations

from typing import Any

from pydantic import BaseModel

from bus.payload import Payload


class Part(BaseModel):
    """A piece of a payload. Frozen; lists are tuples, so that a payload is frozen all the way down."""

    model_config = Payload.model_config


def given(*fields: str) -> dict[str, Any]:
    """Write as JSON Schema that these optional fields are there and not null."""
    return {"required": list(fields), "properties": {field: {"not": {"type": "null"}} for field in fields}}
