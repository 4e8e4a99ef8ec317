"""The content of a message: a string, or a list of parts in the forms that OpenClaw, Anthropic and OpenAI have."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from openclaw_memory.markdown.text import clean
from openclaw_memory.transcripts.values import ToolCall

_TEXT = ("text", "input_text", "output_text")
_CALLS = ("toolCall", "tool_use", "tool_call", "toolUse", "functionCall")
_RESULTS = ("toolResult", "tool_result")
_IMAGES = ("image", "image_url", "input_image")
_UNSAID = ("thinking", "redacted_thinking", "reasoning")


@dataclass(frozen=True, slots=True)
class Result:
    """What a tool gave back, as a part of a message."""

    call_id: str | None
    text: str


@dataclass(frozen=True, slots=True)
class Content:
    """A content taken apart. What the model only thought is left out; an image or a part of another kind is named."""

    text: str
    calls: tuple[ToolCall, ...] = ()
    results: tuple[Result, ...] = ()


def read_content(content: Any) -> Content:
    """Read a content of any form; never raises. What is neither a string nor a list is taken as JSON."""
    if content is None:
        return Content("")
    if not isinstance(content, list):
        return Content(as_text(content))
    texts: list[str] = []
    calls: list[ToolCall] = []
    results: list[Result] = []
    for part in content:
        if not isinstance(part, Mapping):
            texts.append(as_text(part))
            continue
        kind = part.get("type")
        if kind in _TEXT or (kind is None and isinstance(part.get("text"), str)):
            texts.append(as_text(part.get("text", "")))
        elif kind in _CALLS:
            calls.append(read_call(part))
        elif kind in _RESULTS:
            answered = part.get("toolCallId", part.get("tool_use_id"))
            results.append(Result(word(answered), read_content(part.get("content", part.get("output"))).text))
        elif kind in _IMAGES:
            texts.append(f"[{word(part.get('mimeType')) or 'image'}]")
        elif kind not in _UNSAID:
            texts.append(f"[{word(kind) or 'part'}]")
    return Content("\n".join(text for text in texts if text), tuple(calls), tuple(results))


def read_calls(value: Mapping[str, Any]) -> tuple[ToolCall, ...]:
    """Read the calls that stand beside the content, as in OpenAI's form and in ours."""
    calls = value.get("toolCalls", value.get("tool_calls"))
    return tuple(read_call(call) for call in calls if isinstance(call, Mapping)) if isinstance(calls, list) else ()


def read_call(part: Mapping[str, Any]) -> ToolCall:
    """Read one call, whatever its form."""
    function = part.get("function")
    inner = function if isinstance(function, Mapping) else part
    arguments: Any = next((inner[name] for name in ("arguments", "input", "args") if name in inner), {})
    name = inner.get("name", inner.get("toolName"))
    identity = part.get("id", part.get("toolCallId", part.get("call_id")))
    return ToolCall(word(identity) or "", word(name) or "", as_text(arguments))


def as_text(value: Any) -> str:
    """Give a value as text: a string as it is, anything else as JSON. What no file can hold becomes U+FFFD."""
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
    return clean(text)[0]


def word(value: Any) -> str | None:
    """Give a value that names something; None when it is no string, or an empty one."""
    return clean(value)[0] if isinstance(value, str) and value else None
