"""Counters and material for the tests of this room."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from contracts.reading import HistoryMessage, Task
from openclaw_memory.context import TokenCounter, make_counter
from openclaw_memory.retrieval import Block, Hit

NOW = datetime(2026, 5, 4, 12, tzinfo=UTC)


@pytest.fixture(scope="session")
def cl100k() -> TokenCounter:
    """The default encoding; loading it takes half a second, so once."""
    return make_counter("cl100k_base")


@pytest.fixture
def message() -> Callable[..., HistoryMessage]:
    def make(content: str, number: int, role: str = "user") -> HistoryMessage:
        return HistoryMessage.model_validate(
            {"role": role, "content": content, "timestamp": NOW + timedelta(minutes=number), "key": f"c.md#m{number}"}
        )

    return make


@pytest.fixture
def task() -> Callable[..., Task]:
    def make(number: int, title: str = "Ship the release") -> Task:
        return Task(id=f"OPEN-{number:03}", title=title, state="pending", priority="medium", created=NOW)

    return make


@pytest.fixture
def hit() -> Callable[..., Hit]:
    """Make a hit; lines follow the number, so that 1 and 2 are neighbours and 1 and 9 are not."""

    def make(text: str, number: int, score: float = 1.0, **fields: Any) -> Hit:
        values: dict[str, Any] = {
            "key": f"c.md#m{number}",
            "layer": "conversation",
            "path": "conversations/2026-05-04.md",
            "start_line": number * 6 + 1,
            "end_line": number * 6 + 5,
            "text": text,
            "time": NOW + timedelta(minutes=number),
            "session": "s1",
            "role": "user",
        }
        return Hit(Block(**{**values, **fields}), score)

    return make
