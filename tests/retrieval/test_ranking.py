"""The pure steps of ranking."""

from __future__ import annotations

from collections.abc import Callable
from typing import get_args

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from openclaw_memory.retrieval import Block, Recency, recency
from openclaw_memory.retrieval.neighbours import neighbour
from openclaw_memory.retrieval.ranking import DAY, HOUR, MOST_RECENT, lent

NAMES: list[Recency] = list(get_args(Recency))


@pytest.mark.parametrize(
    ("age", "expected"),
    [
        (0, 2.0),
        (HOUR - 1, 2.0),
        (HOUR, 1.5),
        (DAY - 1, 1.5),
        (DAY, 1.2),
        (3 * DAY - 1, 1.2),
        (3 * DAY, 1.0),
        (7 * DAY - 1, 1.0),
        (7 * DAY, 0.5),
        (3_000 * DAY, 0.5),
    ],
)
def test_steps_of_the_seed(age: float, expected: float) -> None:
    """The table of seed 000 section 6.2, with its borders."""
    assert recency("steps", [age]) == [expected]


def test_exponential_and_half_life() -> None:
    """Ten days are exp(-1); a year is one half."""
    assert recency("exponential", [10 * DAY])[0] == pytest.approx(0.367879, abs=1e-6)
    assert recency("half_life", [365 * DAY]) == [0.5]
    assert recency("off", [0.0, 9_999 * DAY]) == [1.0, 1.0]


@pytest.mark.parametrize("name", NAMES)
@given(ages=st.lists(st.floats(-1e12, 1e12)))
@settings(deadline=None)
def test_recency_never_buries(name: Recency, ages: list[float]) -> None:
    """Every multiplier is positive, none grows with age, and an unknown age is neutral."""
    weights = recency(name, sorted(ages))
    assert all(weight > 0 for weight in weights)
    assert weights == sorted(weights, reverse=True)
    assert recency(name, [None]) == [1.0]
    assert recency(name, [-5.0]) == recency(name, [0.0])


@pytest.mark.parametrize("name", NAMES)
@given(age=st.floats(-1e12, 1e12))
@settings(deadline=None)
def test_no_recency_exceeds_its_most(name: Recency, age: float) -> None:
    """What is told as the largest multiplier is: neighbours are left out by it."""
    assert recency(name, [age])[0] <= MOST_RECENT[name]


def test_neighbours_lend_less_with_distance(block: Callable[..., Block]) -> None:
    """Near messages lend; those more than a day apart, or four places away, do not."""
    here = neighbour(block("a"))
    places = [neighbour(block("b"), distance) for distance in (-3, -2, -1, 1, 2, 3, 4)]
    assert lent(here, places) == list(zip((0.2, 0.3, 0.5, 0.5, 0.3, 0.2), places[:6], strict=True))
    far, timeless = neighbour(block("b", days=1.01), -1), neighbour(block("b", time=None), 1)
    assert lent(here, [far, timeless]) == [(0.5, timeless)]
    assert lent(timeless, [far]) == [(0.5, far)]
    assert lent(here, [neighbour(block("b", days=1), -1)])
