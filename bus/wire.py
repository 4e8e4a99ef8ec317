"""Reading an event from JSON: what is wrong is told field by field."""

from __future__ import annotations

import datetime
import json
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from pydantic import ValidationError

from bus.events import SPEC_VERSION, LinkedEvent, Origin
from bus.payload import Payload

Wire = bytes | bytearray | str | Mapping[str, Any]

KEPT_TEXT = 2_000
"""Characters of each text that a `bus:rejected` quotes."""
KEPT_ITEMS = 50
"""Items of each list that it quotes."""

_SURROGATES = re.compile("[\ud800-\udfff]")
_ESCAPED_SURROGATE = re.compile(r"\\u[dD][89a-fA-F]")
_REQUIRED = ("specversion", "id", "source", "type")
_OPTIONAL = ("time", "datacontenttype", "correlationid", "causationid")


@dataclass(frozen=True, slots=True)
class Refusal:
    """Why JSON from outside is no event: the text or object, the fields, and a line for each."""

    wire: dict[str, Any] | str
    fields: tuple[str, ...]
    error: str


def parse(wire: Wire, type_named: Callable[[str], type[Payload] | None]) -> LinkedEvent[Any] | Refusal:
    """Read a CloudEvents JSON object.

    `type_named` finds the payload class of an event type. A lone surrogate, which no UTF-8 can hold, becomes U+FFFD in
    the envelope; in the payload it is left to the payload's own class.
    Unknown attributes and fields are ignored.
    """
    try:
        envelope = _read(wire)
    except (ValueError, RecursionError, TypeError) as error:
        return Refusal(_quote(wire), (), f"no JSON object: {str(error) or type(error).__name__}")
    faults = _envelope_faults(envelope)
    payload_type = None
    if "type" not in faults and (payload_type := type_named(envelope["type"])) is None:
        faults["type"] = f"{envelope['type']!r:.200} is not known here; register its payload class"
    payload = None
    if payload_type is not None and "data" not in faults:
        try:
            payload = _payload(payload_type, envelope.get("data") or {})
        except ValidationError as error:
            faults.update(_payload_faults(error))
    if faults or payload is None:
        told = "; ".join(f"{name}: {why}" for name, why in faults.items())
        return Refusal(_shortened(envelope), tuple(faults), told)
    return LinkedEvent(
        payload,
        envelope["id"],
        Origin(envelope["source"], ""),
        _moment(envelope.get("time")),
        envelope.get("causationid"),
        envelope.get("correlationid"),
    )


def _read(wire: Wire) -> dict[str, Any]:
    if isinstance(wire, Mapping):
        wire = json.dumps(dict(wire), allow_nan=False)
    value = json.loads(wire, parse_constant=_refuse_constant)
    if not isinstance(value, dict):
        raise ValueError(f"an object is needed, not {type(value).__name__}")
    return {
        _without_surrogates(name): item if name == "data" else _without_surrogates(item) for name, item in value.items()
    }


def _payload(payload_type: type[Payload], data: Any) -> Payload:
    """Validate as JSON; text that no UTF-8 can hold goes to the model as it is, which decides what becomes of it."""
    text = json.dumps(data)
    if _ESCAPED_SURROGATE.search(text) and _without_surrogates(data) != data:
        return payload_type.model_validate(data)
    return payload_type.model_validate_json(text)


def _refuse_constant(name: str) -> Any:
    raise ValueError(f"{name} is not JSON")


def _without_surrogates(value: Any) -> Any:
    if isinstance(value, str):
        return value if value.isascii() else _SURROGATES.sub("\ufffd", value)
    if isinstance(value, dict):
        return {_without_surrogates(key): _without_surrogates(item) for key, item in value.items()}
    if isinstance(value, list):
        return [_without_surrogates(item) for item in value]
    return value


def _envelope_faults(envelope: dict[str, Any]) -> dict[str, str]:
    faults = {}
    for name in _REQUIRED:
        value = envelope.get(name)
        if not isinstance(value, str) or not value:
            faults[name] = "required, a text that is not empty" if value in (None, "") else "must be a text"
    for name in _OPTIONAL:
        if not isinstance(envelope.get(name), str | None):
            faults[name] = "must be a text"
    if "specversion" not in faults and envelope["specversion"] != SPEC_VERSION:
        faults["specversion"] = f"must be {SPEC_VERSION!r}, not {envelope['specversion']!r:.40}"
    if "time" not in faults:
        try:
            _moment(envelope.get("time"))
        except ValueError:
            faults["time"] = "must be ISO 8601 with an offset"
    content_type = envelope.get("datacontenttype") or "json"
    if "datacontenttype" not in faults and "json" not in content_type.lower():
        faults["datacontenttype"] = f"must be JSON, not {content_type!r:.100}"
    if "data_base64" in envelope:
        faults["data_base64"] = "binary data is not understood; give `data` as a JSON object"
    if not isinstance(envelope.get("data"), dict | None):
        faults["data"] = "must be an object"
    return faults


def _payload_faults(error: ValidationError) -> dict[str, str]:
    faults: dict[str, str] = {}
    for fault in error.errors(include_url=False, include_context=False, include_input=False):
        name = ".".join(str(step) for step in ("data", *fault["loc"]))
        faults.setdefault(name, fault["msg"])
    return faults


def _shortened(value: Any) -> Any:
    """Cut long texts, and replace what no UTF-8 can hold: a refusal must not carry 10 MB, nor fail to be written."""
    if isinstance(value, str):
        text = _SURROGATES.sub("\ufffd", value[:KEPT_TEXT])
        return text if len(value) <= KEPT_TEXT else f"{text}… ({len(value)} characters)"
    if isinstance(value, dict):
        return {_shortened(key): _shortened(item) for key, item in value.items()}
    if isinstance(value, list):
        kept = [_shortened(item) for item in value[:KEPT_ITEMS]]
        return kept if len(value) <= KEPT_ITEMS else [*kept, f"… ({len(value)} items)"]
    return value


def _moment(text: str | None) -> datetime.datetime:
    if text is None:
        return datetime.datetime.now(datetime.UTC)
    moment = datetime.datetime.fromisoformat(text)
    if moment.tzinfo is None:
        raise ValueError("an offset is needed")
    return moment


def _quote(wire: Any) -> str:
    text = bytes(wire[:KEPT_TEXT]).decode("utf-8", "replace") if isinstance(wire, bytes | bytearray) else str(wire)
    return _SURROGATES.sub("\ufffd", text[:KEPT_TEXT])
