"""How much of the evidence comes back, on real conversations where they are at hand."""

from __future__ import annotations

from pathlib import Path

import pytest

from benchmarks.bench_recall import THREE_YEARS, load, measure, ours, plain
from openclaw_memory.context import TokenCounter
from openclaw_memory.retrieval import InMemoryIndex

CONVERSATION = Path(__file__).parents[3] / "shared" / "data" / "locomo" / "conv-30.json"

pytestmark = pytest.mark.skipif(
    not CONVERSATION.exists(), reason=f"LoCoMo data are not part of the project and not at {CONVERSATION}"
)


def test_evidence_recall(cl100k: TokenCounter) -> None:
    """Within 2,000 tokens most of the evidence comes back, far more than by plain BM25, and no less years later."""
    talk = load(CONVERSATION)

    def recall(scores: dict[tuple[int, int], list[float]]) -> float:
        values = [one for (budget, _), many in scores.items() if budget == 2_000 for one in many]
        return sum(values) / len(values)

    now = recall(measure(talk, ours(talk, cl100k, InMemoryIndex()))[0])
    later = recall(measure(talk, ours(talk, cl100k, InMemoryIndex(), back=THREE_YEARS))[0])
    assert now > 0.88
    assert now > recall(measure(talk, plain(talk, cl100k))[0]) + 0.15
    assert later == pytest.approx(now, abs=0.01)
