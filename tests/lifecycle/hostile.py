"""Answers that a language model should not give, from `hostile.yaml`."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

from openclaw_memory.completion import Completion, CompletionError, ToolUse

FILE = Path(__file__).with_name("hostile.yaml")


@dataclass(frozen=True, slots=True)
class Hostile:
    """One answer: `value` is what `complete` returns, or raises where it is an error."""

    name: str
    value: Any


def hostile_answers() -> list[Hostile]:
    """Read all answers of the file."""
    return [Hostile(one["name"], _value(one)) for one in yaml.safe_load(FILE.read_text(encoding="utf-8"))]


def _value(one: Mapping[str, Any]) -> Any:
    if "raises" in one:
        return {"completion": CompletionError("model", "HTTP 500"), "timeout": TimeoutError("too slow")}.get(
            one["raises"], ValueError(one["raises"])
        )
    if "returns" in one:
        return one["returns"]
    text = one.get("text", "") * one.get("times", 1)
    if "json" in one:
        text = json.dumps(one["json"], ensure_ascii=False)
    if "before" in one or "after" in one:
        text = one.get("before", "") + text + one.get("after", "")
    tools = tuple(
        ToolUse(use["name"], use["arguments"] if isinstance(use["arguments"], str) else json.dumps(use["arguments"]))
        for use in one.get("tools", ())
    )
    return Completion(text, tools, one.get("input_tokens", 100), one.get("output_tokens", 10))
