"""Search by words and meaning, with vectors made by hand."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import datetime

import numpy as np
import pytest

from openclaw_memory.retrieval import Block, InMemoryIndex, Searcher
from openclaw_memory.retrieval.lens import LEAST_SAMPLE, Lens
from openclaw_memory.retrieval.ranking import Ranking

Make = Callable[..., Block]


class Table:
    """Vectors by text."""

    def __init__(self, vectors: dict[str, Sequence[float]], blocks: Sequence[Block]) -> None:
        self._of = {text: np.asarray(one, dtype=float) / np.linalg.norm(one) for text, one in vectors.items()}
        self._blocks = blocks

    def nearest(self, query: Sequence[float], limit: int, allow: Callable[[Block], bool]) -> list[tuple[Block, float]]:
        scored = [
            (block, cosine)
            for block, cosine in zip(self._blocks, self.cosines(query, self._blocks), strict=True)
            if cosine is not None and allow(block)
        ]
        return sorted(scored, key=lambda one: -one[1])[:limit]

    def cosines(self, query: Sequence[float], blocks: Sequence[Block]) -> list[float | None]:
        return [None if one is None else float(one @ np.asarray(query)) for one in self.vectors_of(blocks)]

    def vectors_of(self, blocks: Sequence[Block]) -> list[np.ndarray | None]:
        return [self._of.get(block.text) for block in blocks]


def searcher(blocks: Sequence[Block], vectors: dict[str, Sequence[float]], **settings: object) -> Searcher:
    index = InMemoryIndex()
    index.add(blocks)
    return Searcher(index, Ranking(**settings), Table(vectors, blocks))  # type: ignore[arg-type]


def test_found_by_meaning_alone(block: Make, now: datetime) -> None:
    """A memory that shares no word with the question is found by its vector, and `explain` says so."""
    blocks = [block("oolong", session="a"), block("bicycle", session="b"), block("rain", session="c")]
    store = searcher(blocks, {"oolong": [1, 0, 0], "bicycle": [0, 1, 0], "rain": [0, 0, 1]})
    assert store.search("drink", now=now) == []
    best = store.search("drink", now=now, vector=[1, 0.1, 0.1], explain=True)[0]
    assert best.block.text == "oolong"
    assert [step.split()[0] for step in best.steps] == ["keywords", "meaning"]


def test_hidden_blocks_are_not_found_by_meaning(block: Make, now: datetime) -> None:
    """What the asker may not see is no hit by meaning either."""
    blocks = [block("oolong", session="a"), block("rain", session="b")]
    store = searcher(blocks, {"oolong": [1, 0], "rain": [0, 1]})
    hits = store.search("drink", now=now, vector=[1, 0], allow=lambda one: one.text != "oolong")
    assert [hit.block.text for hit in hits] == ["rain"]


def test_block_without_a_vector_yet_is_found_by_words(block: Make, now: datetime) -> None:
    """What is not embedded yet counts as the mean, and comes back."""
    blocks = [block("green tea", session="a"), block("rain", session="b"), block("snow", session="c")]
    store = searcher(blocks, {"rain": [1, 0], "snow": [0, 1]})
    assert "green tea" in [hit.block.text for hit in store.search("tea", now=now, vector=[1, 0])]


@pytest.mark.parametrize("fusion", ["standardised", "weighted", "reciprocal_rank"])
def test_best_by_both_is_first(fusion: str, block: Make, now: datetime) -> None:
    """Every kind of fusion puts first what is first by words and by meaning; a smaller limit changes nothing."""
    blocks = [block(text, session=text) for text in ("green tea", "tea pot shop round the corner", "rain")]
    store = searcher(blocks, {blocks[0].text: [1, 0], blocks[1].text: [0.5, 1], "rain": [0, 1]}, fusion=fusion)
    every = store.search("green tea", now=now, vector=[1, 0], limit=50)
    assert every[0].block.text == "green tea"
    assert every[0].score == 1.0
    assert store.search("green tea", now=now, vector=[1, 0], limit=1) == every[:1]
    assert len(every) == 3


def usual(rows: int = 200, dimensions: int = 8) -> np.ndarray:
    """Vectors that all lean one way, and vary most in what tells nothing."""
    noise = np.random.default_rng(7).normal(size=(rows, dimensions)) * ([4.0] + [0.5] * (dimensions - 1))
    table = noise + np.array([0, 6.0, *([0] * (dimensions - 2))])
    return table / np.linalg.norm(table, axis=1, keepdims=True)


def test_lens_standardises() -> None:
    """Along any question the memory's scores have the mean 0."""
    table = usual()
    direction = Lens(table).question(table[3])
    scores = [direction.score(float(one @ direction.vector)) for one in table]
    assert np.mean(scores) == pytest.approx(0, abs=1e-5)
    assert direction.score(None) == 0


def test_lens_takes_down_what_all_differ_in() -> None:
    """The direction of greatest variance counts less in the question than it did."""
    table = usual()
    question = table[3]
    seen = Lens(table).question(question).vector
    assert abs(seen[0]) / np.linalg.norm(seen[2:]) < 0.8 * abs(question[0]) / np.linalg.norm(question[2:])


def test_feedback_turns_towards_the_best() -> None:
    """What is like the best hits gains."""
    table = usual()
    lens = Lens(table)
    before = lens.question(table[3])
    after = lens.more_like(before, [table[5]])
    assert after.score(float(table[5] @ after.vector)) > before.score(float(table[5] @ before.vector))
    assert lens.more_like(before, []) is before


@pytest.mark.parametrize("shape", [(LEAST_SAMPLE - 1, 8), (40,), (0, 0)])
def test_lens_needs_a_sample(shape: tuple[int, ...]) -> None:
    """Too few vectors are refused by number."""
    with pytest.raises(ValueError, match="sample"):
        Lens(np.ones(shape))


def test_lens_of_vectors_all_alike() -> None:
    """Nothing to tell apart gives scores of 0, not errors."""
    table = np.tile([1.0, 0, 0, 0], (LEAST_SAMPLE, 1))
    direction = Lens(table).question([1.0, 0, 0, 0])
    assert direction.score(1.0) == pytest.approx(0, abs=1e-6)


def test_steps_of_a_search_by_meaning(block: Make, now: datetime) -> None:
    """The lens and the feedback change a search; what the best hits are like gains by feedback."""
    table = usual(40)
    blocks = [block(f"memory {n}", f"k{n}", session=f"s{n}") for n in range(40)]
    vectors = Table({one.text: row for one, row in zip(blocks, table, strict=True)}, blocks)
    index = InMemoryIndex()
    index.add(blocks)

    def answer(lens: Lens | None, **settings: bool) -> dict[str, float]:
        searcher = Searcher(index, Ranking(**settings), vectors, lens)
        hits = searcher.search("drink", now=now, vector=table[3], limit=40)
        return {hit.block.key: hit.score for hit in hits}

    plain, seen, turned = answer(None), answer(Lens(table), feedback=False), answer(Lens(table))
    assert len({tuple(one.items()) for one in (plain, seen, turned)}) == 3
    assert next(iter(turned)) == "k3"
    second, third = list(turned)[1:3]
    assert turned[second] + turned[third] > seen[second] + seen[third]
