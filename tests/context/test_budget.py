"""How budgets are divided."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from openclaw_memory.context import TokenBudget, allocate_token_budget, divide


def test_figures_of_the_seed() -> None:
    """Seed 000 section 3.2: 200,000 tokens, 10,000 reserved, 20 tools."""
    assert allocate_token_budget(200_000, 10_000, 20) == TokenBudget(
        system_prompt=2_000,
        facts=18_400,
        tasks=9_200,
        summaries=9_200,
        history=110_400,
        current_message=18_400,
        tool_defs=4_000,
    )


def test_tools_are_capped() -> None:
    """Tool definitions never count for more than 5,000 tokens."""
    assert allocate_token_budget(200_000, 0, 25).tool_defs == 5_000
    assert allocate_token_budget(200_000, 0, 9_999).tool_defs == 5_000


def test_window_too_small() -> None:
    """A window that the fixed parts fill leaves nothing, and nothing negative."""
    budget = allocate_token_budget(3_000, 2_000, 20)
    assert (budget.facts, budget.tasks, budget.summaries, budget.history, budget.current_message) == (0, 0, 0, 0, 0)


@given(st.integers(0, 10_000_000))
@settings(deadline=None)
def test_shares_add_up(max_tokens: int) -> None:
    """The parts of memory's own budget add up to it; recalled gets at least the fifth that the others leave."""
    parts = divide(max_tokens)
    assert sum(parts.values()) == max_tokens
    assert parts["recalled"] >= max_tokens * 0.2 - 1e-6
    assert all(tokens >= 0 for tokens in parts.values())
