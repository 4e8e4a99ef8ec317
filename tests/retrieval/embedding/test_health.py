"""Pauses that grow with failures and end with a success."""

from __future__ import annotations

from datetime import UTC, datetime

from openclaw_memory.clock import ManualClock
from openclaw_memory.retrieval.embedding.health import LONGEST_PAUSE_SECONDS, Health


def test_pauses_double_up_to_five_minutes() -> None:
    clock = ManualClock(datetime(2026, 5, 4, tzinfo=UTC))
    health = Health(clock)
    pauses = []
    for _ in range(2_000):
        assert health.pause_left() == 0
        health.failed(OSError("no route"))
        pauses.append(health.pause_left())
        clock.advance(pauses[-1])
    assert pauses[:5] == [1, 2, 4, 8, 16]
    assert set(pauses[9:]) == {LONGEST_PAUSE_SECONDS}
    health.failed(OSError(""))
    assert health.last_error == "OSError('')", "an error without words is told by its kind"
    health.succeeded()
    assert health.pause_left() == 0
    health.failed(OSError("again"))
    assert health.pause_left() == 1
