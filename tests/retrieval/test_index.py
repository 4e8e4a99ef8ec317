"""The index in memory."""

from __future__ import annotations

import itertools
import sys
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from openclaw_memory.retrieval import Block, Hit, InMemoryIndex
from openclaw_memory.retrieval.terms import query_terms, terms

Make = Callable[..., Block]
WORDS = ["go", "rust", "tea", "coffee", "lake", "茶", "咖啡", "杭州"]


def found(index: InMemoryIndex, query: str, limit: int = 50) -> list[Hit]:
    return index.search(query_terms(query), limit=limit, allow=lambda _: True)


def state(index: InMemoryIndex) -> Any:
    """What must be the same for indexes that hold the same: every answer, with its scores."""
    return {word: sorted((hit.block.key, round(hit.score, 9)) for hit in found(index, word)) for word in WORDS}


def ticking() -> Callable[[], float]:
    """A clock that goes on by a second whenever it is read."""
    ticks = itertools.count()
    return lambda: float(next(ticks))


blocks = st.builds(
    lambda words, key, path, session: Block(
        key=f"{path}#{key}",
        layer="conversation",
        path=path,
        start_line=key,
        end_line=key,
        text=" ".join(words),
        time=None,
        session=session,
    ),
    words=st.lists(st.sampled_from(WORDS), max_size=6),
    key=st.integers(1, 8),
    path=st.sampled_from(["a.md", "b.md", "c.md"]),
    session=st.sampled_from([None, "s1", "s2"]),
)


@given(st.lists(blocks, max_size=20), st.lists(blocks, max_size=8))
@settings(max_examples=60, deadline=None)
def test_removal_is_exact(first: list[Block], second: list[Block]) -> None:
    """An index that had and lost blocks answers, to the last digit, like one that never had them."""
    kept = [block for block in first if block.path != "a.md"]
    churned, fresh = InMemoryIndex(), InMemoryIndex()
    churned.add(first)
    churned.replace("a.md", [block for block in second if block.path == "a.md"])
    churned.remove("a.md")
    fresh.add(kept)
    assert len(churned) == len(fresh)
    assert state(churned) == state(fresh)
    churned.remove("b.md")
    churned.remove("c.md")
    assert len(churned) == 0
    held = churned._held
    left = (held._postings, held._by_key, held._by_path, held._sequences, held.entries)
    assert not any(left)


@given(st.lists(blocks, max_size=20))
@settings(max_examples=60, deadline=None)
def test_one_by_one_or_together(many: list[Block]) -> None:
    """What is found does not depend on how the blocks arrived, as long as no key repeats."""
    unique = list({block.key: block for block in many}.values())
    together, single = InMemoryIndex(), InMemoryIndex()
    together.add(unique)
    for block in unique:
        single.add([block])
    assert state(together) == state(single)


def test_edited_block_is_found_by_its_new_words_only(block: Make) -> None:
    """An edited file answers to what it says now."""
    index = InMemoryIndex()
    index.add([block("I drink tea", "k")])
    index.replace("conversations/2026-05-04.md", [block("I drink coffee", "k")])
    assert found(index, "tea") == []
    assert [hit.block.text for hit in found(index, "coffee")] == ["I drink coffee"]


def test_known_key_is_replaced(block: Make) -> None:
    """Adding a block again does not double it."""
    index = InMemoryIndex()
    index.add([block("tea", "k")])
    index.add([block("tea", "k")])
    assert len(index) == 1


def test_repeated_key_in_one_file(block: Make) -> None:
    """Two fact lines with the same heading and key are both found."""
    index = InMemoryIndex()
    index.add([block("tea", "k", start_line=3), block("coffee", "k", start_line=9)])
    assert len(found(index, "tea")) == len(found(index, "coffee")) == 1


def test_hidden_block_takes_no_place(block: Make) -> None:
    """Blocks that may not be shown do not use up the number asked for."""
    index = InMemoryIndex()
    index.add([block("tea" + " x" * n, f"k{n}", visibility="shared" if n > 30 else "private") for n in range(40)])
    hits = index.search(["tea"], limit=2, allow=lambda one: one.visibility == "shared")
    assert [hit.block.key for hit in hits] == ["k31", "k32"]


def test_rare_word_counts_more_than_a_common_one(block: Make) -> None:
    """BM25: the term that few blocks have decides."""
    index = InMemoryIndex()
    index.add([block(f"tea number {n}") for n in range(9)] + [block("zanzibar number x")])
    assert found(index, "tea zanzibar")[0].block.text == "zanzibar number x"


def test_of_equals_the_newest_first(block: Make) -> None:
    """Ties are always broken alike."""
    index = InMemoryIndex()
    index.add([block("tea", "old", days=9), block("tea", "new", days=1), block("tea", "mid", days=5)])
    assert [hit.block.key for hit in found(index, "tea")] == ["new", "mid", "old"]


def test_heading_of_a_fact_is_searched(block: Make) -> None:
    """A fact line is found by the section that it stands in."""
    index = InMemoryIndex()
    index.add([block("- 主要语言: Go", layer="fact", section="技术栈")])
    assert found(index, "技术栈")


def test_around_keeps_to_the_session_and_the_order(block: Make) -> None:
    """Neighbours are those of the same session by time, whatever the order of arrival."""
    index = InMemoryIndex()
    index.add([block(f"m{n}", f"k{n}", days=-n, session="s1") for n in (2, 0, 3, 1, 4)])
    index.add([block("other", "x", days=-2, session="s2")])
    (near,) = index.around_many([block("m2", "k2", days=-2, session="s1")], 2)
    assert [(one.distance, one.key) for one in near] == [
        (-2, "k0"),
        (-1, "k1"),
        (1, "k3"),
        (2, "k4"),
    ]


def test_around_what_is_no_message(block: Make) -> None:
    """Facts, and blocks that are not in the index, have no neighbours."""
    index = InMemoryIndex()
    fact = block("- a: b", layer="fact")
    index.add([fact])
    assert index.around_many([fact, block("unknown")], 2) == [[], []]


def test_empty_index() -> None:
    """Nothing is found in nothing."""
    assert found(InMemoryIndex(), "tea") == []


@given(st.lists(blocks, max_size=20), st.lists(blocks, max_size=8), st.integers(0, 12))
@settings(max_examples=60, deadline=None)
def test_catching_up_changes_no_answer(first: list[Block], second: list[Block], steps: int) -> None:
    """Whether words are entered at once, bit by bit or by the search itself makes no difference to what is found."""
    eager, lazy, stepwise = InMemoryIndex(), InMemoryIndex(), InMemoryIndex(clock=ticking())
    for index in (eager, lazy, stepwise):
        for path in ("a.md", "b.md", "a.md"):
            index.add(first)
            index.replace(path, [block for block in second if block.path == path])
            if index is eager:
                assert index.catch_up(60)
            if index is stepwise:
                index.catch_up(steps)
    assert state(eager) == state(lazy) == state(stepwise)


def test_catch_up_keeps_to_its_time(block: Make) -> None:
    """It stops when its time is over, tells that more is left, and goes on where it stopped."""
    index = InMemoryIndex(clock=ticking())
    index.add([block(f"tea {number}", f"k{number}") for number in range(10)])
    assert not index.catch_up(4)
    assert index.catch_up(60)
    assert len(index.search(["tea"], limit=20, allow=lambda _: True)) == 10


def test_text_that_comes_back_is_not_read_again(block: Make, monkeypatch: pytest.MonkeyPatch) -> None:
    """A file whose messages move to another one costs no cutting into words."""
    index = InMemoryIndex()
    index.add([block(f"tea {number}", f"k{number}") for number in range(3)])
    assert index.catch_up(60)
    moved = [block(f"tea {number}", f"k{number}")._replace(path="conversations/part.md") for number in range(3)]
    read: list[str] = []
    monkeypatch.setattr("openclaw_memory.retrieval.postings.terms", lambda text: read.append(text) or terms(text))
    index.remove("no such file")
    index.replace("conversations/2026-05-04.md", [])
    index.replace("conversations/part.md", moved)
    hits = index.search(["tea"], limit=9, allow=lambda _: True)
    assert {hit.block.path for hit in hits} == {"conversations/part.md"}
    assert len(hits) == 3
    assert read == []


def test_backlog_is_bounded(block: Make) -> None:
    """However much is added without a pause, no more than so many blocks wait."""
    index = InMemoryIndex(clock=ticking(), most_waiting=5)
    index.add([block(f"tea {number}", f"k{number}") for number in range(100)])
    assert index.catch_up(6)


def test_threads_at_once() -> None:
    """Searches and additions side by side: nothing breaks, and all is found in the end."""
    index = InMemoryIndex()

    def work(worker: int) -> None:
        for number in range(100):
            path = f"conversations/2026-05-0{worker + 1}.md"
            text = f"word{number} common"
            index.add([Block(f"{path}#{number}", "conversation", path, number, number, text, None, session="s")])
            index.search(["common", f"word{number}"], limit=5, allow=lambda _: True)

    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    try:
        with ThreadPoolExecutor(4) as threads:
            list(threads.map(work, range(4)))
    finally:
        sys.setswitchinterval(before)
    assert len(index.search(["common"], limit=1_000, allow=lambda _: True)) == 400
