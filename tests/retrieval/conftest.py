"""Blocks for the tests of this room."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from openclaw_memory.retrieval import Block

NOW = datetime(2026, 5, 4, 12, tzinfo=UTC)


@pytest.fixture
def now() -> datetime:
    return NOW


@pytest.fixture
def block() -> Callable[..., Block]:
    """Make a block; `days` old, everything else by name."""

    def make(text: str, key: str = "", *, days: float = 0.0, **fields: Any) -> Block:
        values: dict[str, Any] = {
            "key": key or text,
            "layer": "conversation",
            "path": "conversations/2026-05-04.md",
            "start_line": 1,
            "end_line": 1,
            "text": text,
            "time": NOW - timedelta(days=days),
        }
        return Block(**{**values, **fields})

    return make
