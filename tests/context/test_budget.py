"""How memory's own budget is divided."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from openclaw_memory.context import divide


@given(st.integers(0, 10_000_000))
@settings(deadline=None)
def test_shares_add_up(max_tokens: int) -> None:
    """The parts of memory's own budget add up to it; recalled gets at least the fifth that the others leave."""
    parts = divide(max_tokens)
    assert sum(parts.values()) == max_tokens
    assert parts["recalled"] >= max_tokens * 0.2 - 1e-6
    assert all(tokens >= 0 for tokens in parts.values())
