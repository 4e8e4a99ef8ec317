"""Files of sessions, made by hand."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

HERE = Path(__file__).parent


def jsonl(*values: Any) -> bytes:
    """Write values as lines; bytes go in as they are."""
    return b"".join(
        value if isinstance(value, bytes) else json.dumps(value, ensure_ascii=False).encode() + b"\n"
        for value in values
    )


def message(identity: str, parent: str | None, role: str, content: Any, **more: Any) -> dict[str, Any]:
    """Make a line of the real OpenClaw's."""
    return {
        "type": "message",
        "id": identity,
        "parentId": parent,
        "timestamp": "2026-05-04T06:30:00.000Z",
        "message": {"role": role, "content": content, **more},
    }
