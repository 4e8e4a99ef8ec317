"""Vectors belong to texts, hits are blocks: who may see few still finds them."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import numpy as np
import pytest

from openclaw_memory.retrieval import Block
from openclaw_memory.retrieval.embedding import Model, passage, text_id
from openclaw_memory.retrieval.scope import Audience
from openclaw_memory.retrieval.vectors.blocks import BlockVectors
from openclaw_memory.retrieval.vectors.store import VectorStore

MakeBlock = Callable[..., Block]


class ByText:
    def __init__(self, blocks: Sequence[Block]) -> None:
        self.held: dict[bytes, list[Block]] = defaultdict(list)
        for block in blocks:
            self.held[text_id(passage(block))].append(block)
        self.asked = 0
        self.few: list[Block] | None = None
        """What the audience that is asked for may see."""

    def blocks_of_texts(self, ids: Sequence[bytes]) -> list[list[Block]]:
        self.asked += len(ids)
        return [self.held.get(text, []) for text in ids]

    def within(self, audiences: Sequence[Audience], most: int) -> list[Block] | None:
        return self.few if audiences and self.few is not None and len(self.few) <= most else None


def angle(number: float) -> np.ndarray:
    return np.array([np.cos(number), np.sin(number)])


@pytest.fixture
def search(tmp_path: Path) -> Iterator[Callable[[Sequence[Block]], tuple[BlockVectors, ByText]]]:
    """Give each text `n` the direction n hundredths of a radian away from the question at 0."""
    store = VectorStore(tmp_path / "v.sqlite")
    store.use(Model("angles", 2), angle(0))

    def make(blocks: Sequence[Block]) -> tuple[BlockVectors, ByText]:
        texts = {passage(block) for block in blocks}
        store.put([(text_id(text), angle(float(text) / 100)) for text in texts])
        held = ByText(blocks)
        return BlockVectors(store, held), held

    make.narrow = lambda held, audiences: BlockVectors(store, held, audiences)
    yield make
    store.close()


def everyone(block: Block) -> bool:
    return True


def test_the_nearest_come_first(search: Callable, block: MakeBlock) -> None:
    vectors, _ = search([block(str(number)) for number in range(0, 300, 3)])
    found = vectors.nearest(angle(0.6), 3, everyone)
    assert found[0][0].text == "60"
    assert {one.text for one, _ in found[1:]} == {"57", "63"}
    assert found[0][1] == pytest.approx(1, abs=1e-4)
    assert vectors.nearest(angle(0.2), 0, everyone) == []


def test_equal_texts_share_a_vector_and_all_are_found_newest_first(search: Callable, block: MakeBlock) -> None:
    twins = [block("7", "old", days=9), block("7", "new", days=1), block("7", "undated", time=None)]
    vectors, _ = search([*twins, block("300")])
    assert [one.key for one, _ in vectors.nearest(angle(0), 3, everyone)] == ["new", "old", "undated"]
    assert [one.key for one, _ in vectors.nearest(angle(0), 1, everyone)] == ["new"]


def test_whoever_may_see_only_far_ones_finds_them(search: Callable, block: MakeBlock) -> None:
    blocks = [block(str(number), session="group" if number > 280 else "private") for number in range(0, 310, 3)]
    vectors, _ = search(blocks)
    found = vectors.nearest(angle(0), 5, lambda one: one.session == "group")
    assert [one.text for one, _ in found] == ["282", "285", "288", "291", "294"]
    assert vectors.nearest(angle(0), 5, lambda one: False) == []


def test_among_few_only_these_are_compared(search: Callable, block: MakeBlock) -> None:
    blocks = [block(str(number)) for number in range(0, 300, 3)]
    _, held = search(blocks)
    few = search.narrow(held, [Audience(sessions=frozenset({"s1"}))])
    held.few = blocks[90:]
    found = few.nearest(angle(0), 2, lambda one: one.text != "273")
    assert [one.text for one, _ in found] == ["270", "276"]
    assert held.asked == 0
    held.few = None
    assert [one.text for one, _ in few.nearest(angle(0), 1, lambda one: one.text != "273")] == ["0"]


def test_texts_that_no_block_has_any_more_are_passed_over(search: Callable, block: MakeBlock) -> None:
    vectors, held = search([block(str(number)) for number in range(0, 300, 3)])
    for number in range(0, 150, 3):
        del held.held[text_id(str(number))]
    assert [one.text for one, _ in vectors.nearest(angle(0), 2, everyone)] == ["150", "153"]


def test_cosines_of_what_has_no_vector_are_none(search: Callable, block: MakeBlock) -> None:
    vectors, _ = search([block("0"), block("50")])
    cosines = vectors.cosines(angle(0), [block("50"), block("nothing"), block("0"), block("0")])
    assert cosines[1] is None
    assert cosines[0] == pytest.approx(np.cos(0.5), abs=0.01)
    assert cosines[2] == cosines[3] == pytest.approx(1, abs=1e-4)


def test_vectors_of_blocks_are_of_length_one(search: Callable, block: MakeBlock) -> None:
    vectors, _ = search([block("0"), block("50")])
    first, none, second = vectors.vectors_of([block("50"), block("nothing"), block("0")])
    assert none is None
    assert first == pytest.approx([np.cos(0.5), np.sin(0.5)], abs=0.01)
    assert second == pytest.approx([1, 0], abs=0.01)
    assert np.linalg.norm(first) == pytest.approx(1, abs=1e-5)


def test_a_hit_has_the_heading_in_its_passage(block: MakeBlock) -> None:
    assert passage(block("editor: vim", section="Tools")) == "Tools\neditor: vim"
