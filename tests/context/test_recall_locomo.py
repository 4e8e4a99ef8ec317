"""How much of the evidence comes back, on real conversations where they are at hand."""

from __future__ import annotations

from pathlib import Path

import pytest

from benchmarks.recall.__main__ import THREE_YEARS
from benchmarks.recall.datasets import Store, load
from benchmarks.recall.measure import measure
from benchmarks.recall.systems import systems
from openclaw_memory.context import TokenCounter

CONVERSATION = Path(__file__).parents[3] / "shared" / "data" / "locomo" / "conv-30.json"

pytestmark = pytest.mark.skipif(
    not CONVERSATION.exists(), reason=f"LoCoMo data are not part of the project and not at {CONVERSATION}"
)


def test_evidence_recall(cl100k: TokenCounter) -> None:
    """Within 2,000 tokens most of the evidence comes back, far more than by plain BM25, and no less years later."""
    (talk,) = load("locomo", [CONVERSATION])
    known = {system.name: system for system in systems(None)}

    def recall(name: str, store: Store) -> float:
        return measure(name, store, known[name].prepare(store), cl100k).mean("within 2000")

    now = recall("words", talk)
    assert now > 0.88
    assert now > recall("bm25s, bigrams", talk) + 0.15
    assert recall("words", talk.moved_back(THREE_YEARS)) == pytest.approx(now, abs=0.01)
