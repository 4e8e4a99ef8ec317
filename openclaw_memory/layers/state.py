"""What can't be derived from the Markdown files: counters, times, keys seen. JSON under `.state/`."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from types import MappingProxyType
from typing import Any

from openclaw_memory.errors import Refused, UnreadableDocumentError
from openclaw_memory.storage.documents import Document, Draft
from openclaw_memory.storage.operations import Operation

TASKS = ".state/tasks.json"
FACT_TIMES = ".state/fact-times.json"
IDEMPOTENCY = ".state/idempotency.json"
CURATED = ".state/curated.json"
"""Digests of the entries of MEMORY.md that we wrote, with the time: only these may be replaced."""

IDEMPOTENCY_DAYS = 7
"""How long the same idempotency key is known again."""


@dataclass(frozen=True, slots=True)
class StateDocument(Document):
    """A JSON object. `version` is the hash of the file that it was read from or written to."""

    values: Mapping[str, Any] = field(default_factory=lambda: MappingProxyType({}))
    version: str | None = None


class StateFormat:
    """How a state file is read, changed and written."""

    def new(self, path: str) -> StateDocument:
        return StateDocument(path)

    def parse(self, path: str, data: bytes) -> StateDocument:
        try:
            values = json.loads(data)
        except (ValueError, RecursionError) as error:
            raise UnreadableDocumentError(path, f"no JSON: {error}") from error
        if not isinstance(values, dict):
            raise UnreadableDocumentError(path, "no JSON object")
        return StateDocument(path, MappingProxyType(values), hashlib.sha256(data).hexdigest())

    def apply(self, document: StateDocument, operation: Operation) -> StateDocument:
        values = dict(document.values)
        for key in operation.arguments.get("remove", ()):
            values.pop(key, None)
        values.update(operation.arguments.get("set", {}))
        if values == document.values:
            return document
        return StateDocument(document.path, MappingProxyType(values), document.version)

    def joined(self, operations: Sequence[Operation]) -> Sequence[Operation]:
        return operations

    def collision(self, document: StateDocument, operation: Operation) -> None:
        return None

    def render(self, document: StateDocument) -> tuple[bytes, StateDocument]:
        # Half of a character, which JSON can name and UTF-8 can't hold, is written as JSON names it.
        data = indented(dict(document.values)).encode("utf-8", "backslashreplace") + b"\n"
        return data, StateDocument(document.path, document.values, hashlib.sha256(data).hexdigest())

    def flushed(self, document: StateDocument, rendered: StateDocument) -> StateDocument:
        return StateDocument(document.path, document.values, rendered.version)

    def fits(self, document: StateDocument) -> bool:
        # JSON that can be read is taken as it is; there is no room in it for a checksum that a person could keep.
        return True

    def salvage(self, path: str, data: bytes) -> StateDocument:
        return StateDocument(path)

    def version(self, document: StateDocument) -> str | None:
        return document.version


def indented(value: Any, depth: int = 0) -> str:
    """Write JSON as `json.dumps(value, ensure_ascii=False, indent=1, sort_keys=True)` does, several times as fast.

    What indents is written in Python there; here the innermost lists and objects are left to the encoder in C.
    """
    if not isinstance(value, dict | list | tuple) or not value:
        return json.dumps(value, ensure_ascii=False)
    between = f",\n{' ' * (depth + 1)}"
    inner = value.values() if isinstance(value, dict) else value
    if not any(isinstance(item, dict | list | tuple) for item in inner):
        text = json.dumps(value, ensure_ascii=False, sort_keys=True, separators=(between, ": "))
        return f"{text[0]}{between[1:]}{text[1:-1]}{between[1:-1]}{text[-1]}"
    if isinstance(value, dict):
        keys = (json.dumps({key: 0}, ensure_ascii=False)[1:-4] for key in sorted(value))
        items = (indented(value[key], depth + 1) for key in sorted(value))
        parts, ends = [f"{key}: {item}" for key, item in zip(keys, items, strict=True)], "{}"
    else:
        parts, ends = [indented(item, depth + 1) for item in value], "[]"
    return f"{ends[0]}{between[1:]}{between.join(parts)}{between[1:-1]}{ends[1]}"


def plan_state(draft: Draft, path: str, values: Mapping[str, Any], remove: tuple[str, ...] = ()) -> None:
    """Set and remove keys of a state file."""
    draft.apply(Operation(path, "change", {"set": dict(values), "remove": list(remove)}))


def known_keys(draft: Draft, idempotency_key: str, digest: str, now: datetime) -> list[str] | None:
    """Give the addresses that an earlier write with this idempotency key had; None when there was none.

    `digest` stands for what is to be written. Raises: `Refused` when the key was used for something else.
    """
    seen = draft.document(IDEMPOTENCY).values.get(idempotency_key)
    at = _written_at(seen)
    if at is None or at < now - timedelta(days=IDEMPOTENCY_DAYS):
        return None
    if seen["digest"] != digest:
        raise Refused("idempotencyKey", "it was used for another write of this session; give each write its own")
    return list(seen["keys"])


def plan_known_key(draft: Draft, idempotency_key: str, digest: str, keys: list[str], now: datetime) -> None:
    """Remember an idempotency key, and let go of those that are too old."""
    oldest = now - timedelta(days=IDEMPOTENCY_DAYS)
    times = {key: _written_at(seen) for key, seen in draft.document(IDEMPOTENCY).values.items()}
    old = tuple(key for key, at in times.items() if at is not None and at < oldest)
    plan_state(draft, IDEMPOTENCY, {idempotency_key: {"keys": keys, "digest": digest, "at": now.isoformat()}}, old)


def _written_at(seen: Any) -> datetime | None:
    """Tell when an idempotency key was used; None for what is no record of ours, whoever put it into the file."""
    match seen:
        case {"at": str(at), "digest": str(), "keys": [*keys]} if all(isinstance(key, str) for key in keys):
            try:
                time = datetime.fromisoformat(at)
            except ValueError:
                return None
            return time if time.tzinfo is not None else None
    return None
