"""Our own lines: the seed's fields, and what else a message needs to be found again (seed 003 section 26.2.1)."""

from __future__ import annotations

import json
from typing import Any

from openclaw_memory.transcripts.values import SessionMessage


def format_line(message: SessionMessage) -> bytes:
    """Write a message as one line, with its end.

    Parameters: `message`, whose texts have gone through `text.clean`; a time must be aware.
    """
    said = "result" if message.role == "tool" else "content"
    calls = [{"id": call.id, "name": call.name, "arguments": call.arguments} for call in message.calls]
    value: dict[str, Any] = {
        "role": message.role,
        "name": message.name,
        said: message.text,
        "timestamp": None if message.time is None else message.time.isoformat(),
        "id": message.id,
        "toolCalls": calls or None,
        "toolCallId": message.call_id,
        "origin": message.origin,
        "important": message.important or None,
        "visibility": message.visibility,
    }
    kept = {name: item for name, item in value.items() if item is not None}
    return json.dumps(kept, ensure_ascii=False, separators=(",", ":")).encode() + b"\n"
