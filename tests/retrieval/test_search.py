"""From a question to hits."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime
from pathlib import Path
from typing import get_args

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from openclaw_memory.retrieval import Block, InMemoryIndex, Recency, Searcher
from openclaw_memory.retrieval.ranking import Ranking

Make = Callable[..., Block]
FIXTURE = (Path(__file__).parent / "fixtures" / "queries.md").read_text(encoding="utf-8")
MEMORIES = FIXTURE.split("## memories\n")[1].split("\n\n")[0].splitlines()
QUESTIONS = [tuple(line.rsplit(" | ", 1)) for line in FIXTURE.split("## questions\n")[1].splitlines()]
WORDS = ["go", "tea", "lake", "rust", "茶", "杭州"]


def searcher(*blocks: Block) -> Searcher:
    index = InMemoryIndex()
    index.add(blocks)
    return Searcher(index)


def test_every_question_of_the_file_is_read() -> None:
    """No case of the fixture is lost to a slip of form."""
    assert len(MEMORIES) == 15
    assert len(QUESTIONS) == 28


@pytest.mark.parametrize(("question", "expected"), QUESTIONS)
def test_question_finds(question: str, expected: str, block: Make, now: datetime) -> None:
    """The memory that the case file names comes first; where it names none, nothing is found."""
    store = searcher(*(block(text, f"k{n}", session=f"s{n}") for n, text in enumerate(MEMORIES)))
    hits = store.search(question, now=now)
    if expected == "-":
        assert hits == []
    else:
        assert expected in hits[0].block.text


def test_three_years_old_is_found(block: Make, now: datetime) -> None:
    """The one message that answers is first however old it is, with every kind of recency."""
    old = block("my locker code is 4711", days=1_100)
    store = searcher(old, *(block(f"good morning {n}", f"k{n}", days=n / 100) for n in range(300)))
    for name in get_args(Recency):
        assert store.search("what is my locker code?", now=now, recency=name)[0].block == old


texts = st.lists(st.lists(st.sampled_from(WORDS), min_size=1, max_size=5).map(" ".join), min_size=1, max_size=30)


@given(
    texts=texts, query=st.lists(st.sampled_from(WORDS), min_size=1, max_size=3).map(" ".join), days=st.integers(0, 9)
)
@settings(max_examples=60, deadline=None)
def test_shorter_answer_begins_the_longer(texts: list[str], query: str, days: int) -> None:
    """The best hits do not change with the number asked for, also beyond the pool."""
    now = datetime.fromisoformat("2026-05-04T12:00:00+00:00")
    store = searcher(*(_message(number, text) for number, text in enumerate(texts)))
    every = store.search(query, now=now, limit=1_000, recency="steps")
    for limit in (1, 2, 5, 10):
        assert store.search(query, now=now, limit=limit, recency="steps") == every[:limit]
    assert [hit.score for hit in every] == sorted((hit.score for hit in every), reverse=True)
    assert len({hit.block.identity for hit in every}) == len(every)


@given(texts=texts, query=st.sampled_from(WORDS), least=st.floats(0, 100))
@settings(max_examples=60, deadline=None)
def test_exact_hit_is_never_dropped(texts: list[str], query: str, least: float) -> None:
    """Whatever the minimum score, a block that holds every word of the question is a hit."""
    now = datetime.fromisoformat("2026-05-04T12:00:00+00:00")
    store = searcher(*(_message(number, text) for number, text in enumerate(texts)))
    kept = {hit.block.text for hit in store.search(query, now=now, limit=100, min_score=least)}
    assert {text for text in texts if query in text.split()} <= kept


def _message(number: int, text: str) -> Block:
    return Block(
        key=f"k{number}",
        layer="conversation",
        path="c.md",
        start_line=number,
        end_line=number,
        text=text,
        time=None,
        session=f"s{number % 3}",
    )


def test_beyond_the_pool(block: Make, now: datetime) -> None:
    """More hits than the pool holds are all found, each once, in falling order."""
    store = searcher(*(block(f"tea {n}", f"k{n}", session=f"s{n}") for n in range(450)))
    hits = store.search("tea", now=now, limit=1_000)
    assert len({hit.block.key for hit in hits}) == len(hits) == 450
    assert store.search("tea", now=now, limit=1)[0] == hits[0]


def test_minimum_score_drops_the_merely_near(block: Make, now: datetime) -> None:
    """A neighbour that holds no word of the question goes below the minimum; without one it stays."""
    messages = [
        block(text, session="s", start_line=n, days=-n / 10_000)
        for n, text in enumerate(["so?", "my tea is oolong", "ok"])
    ]
    store = searcher(*messages)
    assert len(store.search("oolong", now=now)) == 3
    assert [hit.block.text for hit in store.search("oolong", now=now, min_score=0.6)] == ["my tea is oolong"]


def test_named_identifier_is_an_exact_hit(block: Make, now: datetime) -> None:
    """The block that holds the identifier stays although it holds nothing else of the question."""
    store = searcher(block("DEC-0054"), block("what did we decide about the database migration plan"))
    kept = store.search("what did DEC-0054 decide about the database migration plan", now=now, min_score=5)
    assert [hit.block.text for hit in kept] == ["DEC-0054"]


def test_answer_beside_the_question(block: Make, now: datetime) -> None:
    """A message that shares no word with the question is found through the one it answers."""
    talk = ["What is your favourite drink?", "Oolong, always.", "Nice"]
    store = searcher(*(block(text, session="s", start_line=n, days=-n / 10_000) for n, text in enumerate(talk)))
    assert "Oolong, always." in [hit.block.text for hit in store.search("favourite drink", now=now)[:2]]


def test_hidden_neighbour_stays_hidden(block: Make, now: datetime) -> None:
    """What may not be shown is not shown for its neighbours' sake either."""
    store = searcher(
        block("favourite drink?", session="s"), block("oolong", session="s", days=-0.0001, visibility="group")
    )
    hits = store.search("favourite drink", now=now, allow=lambda one: one.visibility == "private")
    assert [hit.block.text for hit in hits] == ["favourite drink?"]


def test_layers_and_tags_narrow(block: Make, now: datetime) -> None:
    """Only the layers asked for; of several tags one is enough, whatever its case."""
    store = searcher(
        block("tea a", layer="fact", tags=("Home",)), block("tea b", layer="note", tags=("work",)), block("tea c")
    )
    assert [hit.block.text for hit in store.search("tea", now=now, layers=["note"])] == ["tea b"]
    assert {hit.block.text for hit in store.search("tea", now=now, tags=["home", "work"])} == {"tea a", "tea b"}
    assert store.search("tea", now=now, tags=["none"]) == []


def test_important_comes_before_its_equal(block: Make, now: datetime) -> None:
    """What is marked important wins among equals, also over a newer one."""
    store = searcher(block("tea", "plain", session="a"), block("tea", "marked", session="b", important=True, days=3))
    assert [hit.block.key for hit in store.search("tea", now=now)] == ["marked", "plain"]


def test_explain_tells_each_step(block: Make, now: datetime) -> None:
    """With `explain` a hit says how its score came about; without, nothing."""
    store = searcher(block("tea", session="s", important=True), block("tea too", session="s", days=-0.0001))
    best = store.search("tea", now=now, recency="steps", explain=True)[0]
    assert [step.split()[0] for step in best.steps] == ["keywords", "neighbours", "recency", "important"]
    assert store.search("tea", now=now)[0].steps == ()


def test_limit_of_nothing(block: Make, now: datetime) -> None:
    """No hits asked for, none given."""
    assert searcher(block("tea")).search("tea", now=now, limit=0) == []


def test_sentence_that_asks_counts_twice(block: Make, now: datetime) -> None:
    """What was said before a question does not outweigh it."""
    index = InMemoryIndex()
    index.add([block("rain and wind all day", session="a"), block("my tent is green", session="b")])
    query = "So much rain and wind today. Which colour is the tent?"
    focused, plain = (Searcher(index, Ranking(focus=on)).search(query, now=now) for on in (True, False))
    assert focused[0].block.text == "my tent is green"
    assert plain[0].block.text == "rain and wind all day"


def test_variety_and_limits_are_taken(block: Make, now: datetime) -> None:
    """Both steps change the order, lose nothing, and leave scores falling."""
    index = InMemoryIndex()
    texts = ["green tea pot", "green tea pot", "green tea at the harbour with Ada", "green"]
    index.add(block(text, f"k{n}", session=f"s{n}", layer="note" if n < 2 else "fact") for n, text in enumerate(texts))

    def keys(ranking: Ranking) -> list[str]:
        hits = Searcher(index, ranking).search("green tea pot", now=now)
        assert [hit.score for hit in hits] == sorted((hit.score for hit in hits), reverse=True)
        assert len(hits) == len(texts)
        return [hit.block.key for hit in hits]

    assert keys(Ranking())[:2] == ["k0", "k1"]
    assert keys(Ranking(mmr=0.3))[1] != "k1"
    assert keys(Ranking(layer_limits={"note": 1}))[-1] == "k1"
