"""How a model's context window is divided (seed 000 section 3.2)."""

from __future__ import annotations

from dataclasses import FrozenInstanceError, astuple

import pytest
from hypothesis import given
from hypothesis import strategies as st

from openclaw_memory.context.allocation import TokenBudget, allocate_token_budget
from openclaw_memory.errors import Refused


def test_figures_of_the_seed() -> None:
    """Seed 000 section 3.2: 200,000 tokens, 10,000 reserved, 20 tools."""
    budget = allocate_token_budget(200_000, 10_000, 20)
    assert budget == TokenBudget(
        system_prompt=2_000,
        facts=18_400,
        tasks=9_200,
        summaries=9_200,
        history=110_400,
        current_message=18_400,
        tool_defs=4_000,
    )


def test_tools_are_capped() -> None:
    """Tool definitions cost 200 tokens each, and never more than 5,000."""
    assert [allocate_token_budget(200_000, 0, count).tool_defs for count in (0, 1, 25, 26, 9_999)] == [
        0,
        200,
        5_000,
        5_000,
        5_000,
    ]


def test_window_too_small() -> None:
    """A window that the fixed parts fill leaves nothing, and nothing negative."""
    assert astuple(allocate_token_budget(3_000, 2_000, 20)) == (2_000, 0, 0, 0, 0, 0, 4_000)


def test_frozen() -> None:
    """A budget is a value."""
    with pytest.raises(FrozenInstanceError):
        allocate_token_budget(8_000, 0, 0).facts = 1  # type: ignore[misc]


@pytest.mark.parametrize(
    ("arguments", "field"),
    [
        ((0, 0, 0), "context_window"),
        ((-1, 0, 0), "context_window"),
        ((10_000_001, 0, 0), "context_window"),
        ((1.5, 0, 0), "context_window"),
        (("8000", 0, 0), "context_window"),
        ((True, 0, 0), "context_window"),
        ((float("nan"), 0, 0), "context_window"),
        ((8_000, -1, 0), "reserved"),
        ((8_000, None, 0), "reserved"),
        ((8_000, 8_001, 0), "reserved"),
        ((8_000, 0, -1), "tool_count"),
        ((8_000, 0, 10_001), "tool_count"),
        ((8_000, 0, 2.0), "tool_count"),
    ],
)
def test_bad_input_is_refused_by_name(arguments: tuple[object, ...], field: str) -> None:
    """The argument is named, and its limits."""
    with pytest.raises(Refused, match=field) as caught:
        allocate_token_budget(*arguments)  # type: ignore[arg-type]
    assert caught.value.field == field


@given(st.integers(1, 10_000_000), st.integers(0, 10_000_000), st.integers(0, 10_000))
def test_parts_never_exceed_the_window(window: int, reserved: int, tools: int) -> None:
    """Where the fixed parts fit, all parts and the reserve together do; no part is negative."""
    reserved = min(reserved, window)
    parts = astuple(allocate_token_budget(window, reserved, tools))
    assert min(parts) >= 0
    if window - reserved >= parts[0] + parts[-1]:
        assert sum(parts) + reserved <= window
