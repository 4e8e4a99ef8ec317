"""Fusion, variety, limits: the steps by themselves."""

from __future__ import annotations

from collections.abc import Callable
from typing import get_args

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from openclaw_memory.retrieval import Block
from openclaw_memory.retrieval.fusion import fuse, standardised
from openclaw_memory.retrieval.mmr import LOOKED_AT, diversified
from openclaw_memory.retrieval.ranking import Fusion, Ranking, within_limits

scores = st.lists(st.tuples(st.floats(0, 50), st.floats(-4, 4)), min_size=1, max_size=20)


@pytest.mark.parametrize("name", get_args(Fusion))
@given(pairs=scores)
@settings(deadline=None)
def test_fusion_keeps_order(name: Fusion, pairs: list[tuple[float, float]]) -> None:
    """What is at least as good by words and by meaning is at least as good by both."""
    words, meaning = zip(*pairs, strict=True)
    by_words, by_meaning = fuse(name, words, meaning)
    fused = [one + other for one, other in zip(by_words, by_meaning, strict=True)]
    for one in range(len(pairs)):
        for other in range(len(pairs)):
            if words[one] >= words[other] and meaning[one] >= meaning[other]:
                assert fused[one] >= fused[other] - 1e-9


def test_weighted_is_seven_to_three() -> None:
    """The best by meaning alone gets 0.7, the best by words alone 0.3."""
    assert fuse("weighted", [0, 5], [1, 0]) == ([0.0, pytest.approx(0.3)], [0.7, 0.0])


def test_reciprocal_rank() -> None:
    """A place is worth 1 / (60 + place); equals share the better one."""
    assert fuse("reciprocal_rank", [9, 9, 1], [0, 0, 0])[0] == [1 / 61, 1 / 61, 1 / 63]


def test_standardised_scales_words_but_leaves_their_zero() -> None:
    """To hold no word stays nothing, whatever the others have."""
    words, meaning = fuse("standardised", [0, 2, 4], [0.5, -0.5, 0])
    assert words[0] == 0
    assert words[2] == 2 * words[1]
    assert meaning == [0.5, -0.5, 0]


def test_z_scores() -> None:
    """Mean 0, spread 1; unknown ones are the mean."""
    assert standardised([1, None, 3]) == [-1, 0, 1]
    assert standardised([None]) == [0]
    assert standardised([2, 2]) == [0, 0]
    assert standardised([]) == []


def test_repetition_comes_later() -> None:
    """The second of two alike gives way to one that says something else; with share 1 the order stays."""
    terms = [frozenset("abc"), frozenset("abc"), frozenset("xyz")]
    assert diversified([1.0, 0.95, 0.8], terms, 0.7) == [0, 2, 1]
    assert diversified([1.0, 0.95, 0.8], terms, 1.0) == [0, 1, 2]


@given(st.lists(st.floats(0, 1), max_size=LOOKED_AT + 9), st.floats(0, 1), st.data())
@settings(deadline=None, max_examples=40)
def test_variety_loses_nothing(worth: list[float], share: float, data: st.DataObject) -> None:
    """Every hit is still there, the best still first."""
    ordered = sorted(worth, reverse=True)
    terms = [data.draw(st.frozensets(st.sampled_from("abcd"))) for _ in ordered[:LOOKED_AT]]
    places = diversified(ordered, terms, share)
    assert sorted(places) == list(range(len(ordered)))
    assert share == 0 or not places or ordered[places[0]] == ordered[0]
    assert places[LOOKED_AT:] == list(range(LOOKED_AT, len(ordered)))


def test_limit_of_a_layer_puts_the_rest_last(block: Callable[..., Block]) -> None:
    """What is beyond a limit is still found, after everything else."""
    layers = ["fact", "fact", "note", "fact", "conversation"]
    blocks = [block(f"k{n}", layer=layer) for n, layer in enumerate(layers)]
    assert within_limits(blocks, {"fact": 1}) == [0, 2, 4, 1, 3]
    assert within_limits(blocks, {"fact": 0}) == [2, 4, 0, 1, 3]
    assert within_limits(blocks, {}) == [0, 1, 2, 3, 4]


@pytest.mark.parametrize(("setting", "named"), [({"mmr": 1.5}, "mmr"), ({"layer_limits": {"note": -1}}, "note")])
def test_settings_without_sense_are_refused(setting: dict[str, object], named: str) -> None:
    """The error names the setting."""
    with pytest.raises(ValueError, match=named):
        Ranking(**setting)  # type: ignore[arg-type]
