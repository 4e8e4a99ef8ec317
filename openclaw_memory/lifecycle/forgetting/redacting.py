"""Take what a line says out of it and leave its place in the tree: for files that another program writes. Pure."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from typing import Any

FORGOTTEN = "[forgotten]"
"""Stands where something was said."""

_STRUCTURE = frozenset(
    {"id", "parentId", "targetId", "firstKeptEntryId", "type", "customType", "role", "timestamp", "version", "api"}
    | {"provider", "model", "modelId", "stopReason", "toolCallId", "tool_call_id", "thinkingLevel", "usage"}
)
"""Fields that hold a file's lines together and say nothing."""


def redacted(value: Mapping[str, Any], says: Callable[[str], bool] | None) -> str:
    """Write a line anew without those of its texts that say something; without `says`, without all of them."""
    return json.dumps(_without(dict(value), says), ensure_ascii=False, separators=(",", ":"))


def _without(value: Any, says: Callable[[str], bool] | None) -> Any:
    if isinstance(value, dict):
        return {
            name: inner if name in _STRUCTURE else _without(inner, says)
            for name, inner in value.items()
            if says is None or not says(name)
        }
    if isinstance(value, list):
        return [_without(inner, says) for inner in value]
    if isinstance(value, str) and value and (says is None or says(value)):
        return FORGOTTEN
    return value
