"""Of two notes about the same thing the newer one comes first, and both are found."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from contracts.fields import Layer
from openclaw_memory.retrieval import Block, Hit, InMemoryIndex, Searcher
from openclaw_memory.retrieval.newer import LOOKED_AT, newer_first
from openclaw_memory.retrieval.ranking import Ranking
from openclaw_memory.retrieval.terms import query_terms

START = datetime(2026, 5, 4, tzinfo=UTC)


def note(name: str, text: str, day: int, layer: Layer = "note") -> Block:
    return Block(f"{name}.md#L1", layer, f"{name}.md", 1, 1, text, START + timedelta(days=day))


def search(blocks: list[Block], query: str, **ranking: bool) -> list[str]:
    index = InMemoryIndex()
    index.add(blocks)
    hits = Searcher(index, Ranking(**ranking)).search(  # type: ignore[arg-type]
        query, now=START + timedelta(days=40), limit=50, allow=lambda block: True
    )
    return [hit.block.text for hit in hits]


@pytest.mark.parametrize(
    ("older", "newer", "query"),
    [
        (
            "Jonn Coal is known for his expertise in environmental science.",
            "Jonn Coal is known for his expertise in classical music composition.",
            "For which expertise in science is Jonn Coal known?",
        ),
        ("用户的工位在三楼靠窗,旁边是打印机", "用户的工位在五楼靠走廊", "用户的工位在几楼靠窗"),
    ],
)
def test_what_is_true_now_comes_first(older: str, newer: str, query: str) -> None:
    """Also where the question has more words of the older one, which is first without the step; both come back."""
    blocks = [note("a", older, 0), note("b", newer, 9), note("c", "nothing to do with 别的事情 it", 5)]
    assert search(blocks, query)[:2] == [newer, older]
    assert search(blocks, query, newer=False)[:2] == [older, newer]


@pytest.mark.parametrize(
    "newer",
    [
        note("b", "Jonn Coal bought a red bicycle in Oregon last spring and rides it to work.", 9),
        note("b", "Jonn Coal is known for his expertise in classical music composition.", 9, "conversation"),
        note("b", "Jonn Coal is known for his expertise in classical music composition.", -9),
    ],
)
def test_another_thing_stays_where_it_is(newer: Block) -> None:
    """Another subject, talk, and what is older."""
    older = note("a", "Jonn Coal is known for his expertise in environmental science.", 0)
    assert search([older, newer], "expertise of Jonn Coal in environmental science")[0] == older.text


@pytest.mark.parametrize("query", ["以前用户的工位在几楼靠窗", "2026-05-04 用户的工位在几楼靠窗"])
def test_a_question_about_the_past(query: str) -> None:
    """Is not answered better by what is newer."""
    older, newer = "用户的工位在三楼靠窗,旁边是打印机", "用户的工位在五楼靠走廊"
    assert search([note("a", older, 0), note("b", newer, 9)], query)[0] == older


TEXTS = st.lists(
    st.tuples(st.lists(st.sampled_from("abcdefgh"), min_size=1, max_size=5), st.integers(0, 9), st.floats(0.1, 9)),
    max_size=40,
)


@given(TEXTS, st.lists(st.sampled_from("abcdefgh"), max_size=4))
def test_nothing_is_lost_and_no_score_falls(told: list[tuple[list[str], int, float]], asked: list[str]) -> None:
    """The same hits, best first, none with less than it had; what is beyond the first ones is as it was."""
    words = {letter: f"word{letter}" for letter in "abcdefgh"}
    hits = [
        Hit(note(f"n{number}", " ".join(words[letter] for letter in letters), day), score)
        for number, (letters, day, score) in enumerate(told)
    ]
    hits.sort(key=lambda hit: -hit.score)
    after = list(newer_first(iter(hits), frozenset(query_terms(" ".join(words[letter] for letter in asked)))))
    before = {hit.block.key: hit.score for hit in hits}
    assert sorted(hit.block.key for hit in after) == sorted(before)
    assert all(hit.score >= before[hit.block.key] for hit in after)
    assert [hit.score for hit in after] == sorted((hit.score for hit in after), reverse=True)
    assert after[LOOKED_AT:] == hits[LOOKED_AT:]
