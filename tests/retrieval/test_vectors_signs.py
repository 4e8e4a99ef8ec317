"""Signs: counted right, whatever the number of dimensions."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from openclaw_memory.retrieval.vectors.signs import cosines, differing, fewest, signs, unit, words

COUNTS = st.lists(st.integers(0, 50), max_size=200)


@pytest.mark.parametrize("dimensions", [1, 7, 63, 64, 65, 384, 1_000, 3_072])
def test_as_many_differ_as_do(dimensions: int) -> None:
    random = np.random.default_rng(dimensions)
    vectors = random.normal(size=(40, dimensions)).astype(np.float32)
    centre = random.normal(size=dimensions).astype(np.float32)
    query = random.normal(size=(1, dimensions)).astype(np.float32)
    bits = signs(vectors, centre)
    assert bits.shape == (words(dimensions), 40)
    chunks = [np.ascontiguousarray(bits[:, :20]), np.ascontiguousarray(bits[:, 20:])]
    expected = ((vectors > centre) != (query > centre)).sum(axis=1)
    assert differing(chunks, signs(query, centre)).tolist() == expected.tolist()


@given(counts=COUNTS, wanted=st.integers(-1, 250))
def test_the_fewest_are_the_fewest(counts: list[int], wanted: int) -> None:
    given_counts = np.array(counts, dtype=np.uint16)
    found = fewest(given_counts, wanted)
    expected = sorted(counts)[: max(0, wanted)]
    assert sorted(given_counts[found].tolist()) == expected
    assert len(set(found.tolist())) == len(expected)


def test_nothing_differs_in_nothing() -> None:
    assert differing([], np.zeros((1, 1), dtype=np.uint64)).tolist() == []


@given(number=st.integers(0, 600))
def test_cosines_are_cosines_for_any_number_of_rows(number: int) -> None:
    random = np.random.default_rng(number)
    vectors = random.normal(size=(number, 16)).astype(np.float32)
    query = unit(random.normal(size=(1, 16)).astype(np.float32))
    expected = (vectors @ query[0]) / np.linalg.norm(vectors, axis=1)
    assert np.allclose(cosines(vectors, query), expected, atol=1e-5)


def test_zeros_stay_zeros() -> None:
    nothing = np.zeros((2, 8), dtype=np.float32)
    assert unit(nothing).tolist() == nothing.tolist()
    assert cosines(nothing, unit(np.ones((1, 8), dtype=np.float32))).tolist() == [0, 0]
