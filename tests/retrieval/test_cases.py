"""Faults that people report, as data."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime
from pathlib import Path
from typing import Any, get_args

import pytest
import yaml

from openclaw_memory.retrieval import Block, InMemoryIndex, Recency, Searcher

CASES: list[dict[str, Any]] = yaml.safe_load((Path(__file__).parent / "cases.yaml").read_text(encoding="utf-8"))


class Untouchable(InMemoryIndex):
    """An index that nobody may change once `closed` is set."""

    closed = False

    def add(self, blocks: Any) -> None:
        assert not self.closed, "a search changed the index"
        super().add(blocks)

    def replace(self, path: str, blocks: Any, record: Any = None) -> None:
        raise AssertionError("a search rebuilt a file")


@pytest.mark.parametrize("case", CASES, ids=lambda case: case["fault"])
@pytest.mark.parametrize("recency", get_args(Recency))
def test_right_memory_first(case: dict[str, Any], recency: Recency, block: Callable[..., Block], now: datetime) -> None:
    """With every kind of recency the memory that answers is first, for one hit as for many, and no search rebuilds."""
    index = Untouchable()
    index.add(block(text, f"k{n}", days=days, session=f"s{n}") for n, (days, text) in enumerate(case["memories"]))
    index.closed = True
    for limit in (1, 50):
        hits = Searcher(index).search(case["question"], now=now, limit=limit, min_score=0.9, recency=recency)
        assert case["first"] in hits[0].block.text
