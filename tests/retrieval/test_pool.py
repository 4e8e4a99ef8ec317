"""The quick ranking gives what the plain one gives, to the last digit."""

from __future__ import annotations

import importlib.util
import random
import sys
from collections.abc import Callable, Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from openclaw_memory.retrieval import Block, InMemoryIndex, Searcher
from openclaw_memory.retrieval.engines import open_index
from openclaw_memory.retrieval.neighbours import Neighbour
from openclaw_memory.retrieval.ranking import Ranking

_SPEC = importlib.util.spec_from_file_location("plain_ranking", Path(__file__).with_name("plain_ranking.py"))
assert _SPEC is not None
assert _SPEC.loader is not None
plain = importlib.util.module_from_spec(_SPEC)
sys.modules[_SPEC.name] = plain
_SPEC.loader.exec_module(plain)

NOW = datetime(2026, 5, 4, 12, tzinfo=UTC)
WORDS = ["tea", "lake", "rust", "go", "dec-0054", "茶", "西湖"]
COMMON = [f"common{number}" for number in range(20)]
QUESTIONS = [
    "tea lake",
    "茶 rust 西湖 tea",
    "dec-0054",
    "which lake? I like tea.",
    "when did I go",
    "rust last week",
    "tea yesterday",
]


def stored(seed: int, count: int, *, sessions: int, spread: timedelta) -> list[Block]:
    """Make memories: messages of some sessions, every one at another time, and some facts."""
    chance = random.Random(seed)
    blocks = []
    for number in range(count):
        fact = chance.random() < 0.1
        said = chance.choices(WORDS, k=chance.randint(0, 3)) + chance.choices(COMMON, k=chance.randint(1, 6))
        blocks.append(
            Block(
                key=f"k{number}",
                layer="fact" if fact else "conversation",
                path="facts/a.md" if fact else f"conversations/{number // 20}.md",
                start_line=4 * number + 1,
                end_line=4 * number + 3,
                text=" ".join(said),
                time=NOW - spread * ((count - number) / count + chance.random() / (2 * count)),
                session=None if fact else f"s{chance.randrange(sessions)}",
                role=None if fact else "user",
                important=chance.random() < 0.1,
                visibility=chance.choice(["private", "private", "private", "shared"]),
            )
        )
    return blocks


def private(block: Block) -> bool:
    return block.visibility == "private"


def everything(block: Block) -> bool:
    return True


class OutOfHand:
    """An index that never has a neighbour at hand."""

    def __init__(self, inner: InMemoryIndex) -> None:
        self._inner = inner
        self.search, self.find_many, self.spots_after = inner.search, inner.find_many, inner.spots_after
        self.lenders = 0

    def around_many(self, blocks: Sequence[Block], reach: int) -> list[list[Neighbour]]:
        self.lenders += len(blocks)
        return [[one._replace(block=None) for one in near] for near in self._inner.around_many(blocks, reach)]


class Table:
    """Vectors by text: two numbers that follow from it. It finds few, so that many are only beside what it finds."""

    def __init__(self, blocks: Sequence[Block]) -> None:
        self._blocks = blocks

    def nearest(self, query: Any, limit: int, allow: Callable[[Block], bool]) -> list[tuple[Block, float]]:
        shown = [block for block in self._blocks if allow(block)]
        return sorted(zip(shown, self.cosines(query, shown), strict=True), key=lambda one: -one[1])[: min(limit, 8)]

    def cosines(self, query: Any, blocks: Sequence[Block]) -> list[float]:
        return [random.Random(f"{query}{block.text}").uniform(-1, 1) for block in blocks]

    def vectors_of(self, blocks: Sequence[Block]) -> list[Any]:
        raise AssertionError("without a lens nobody asks for vectors")


rankings = st.builds(
    Ranking,
    fusion=st.sampled_from(["standardised", "weighted", "reciprocal_rank"]),
    neighbours=st.sampled_from([True, True, True, False]),
    times=st.booleans(),
    importance=st.booleans(),
    recency=st.sampled_from(["off", "steps", "exponential", "half_life"]),
    mmr=st.sampled_from([None, None, 0.7]),
    layer_limits=st.sampled_from([{}, {}, {"fact": 2}, {"conversation": 3}]),
)


@given(
    seed=st.integers(0, 10_000),
    count=st.sampled_from([5, 40, 120, 400]),
    sessions=st.sampled_from([1, 8, 60, 400]),
    days=st.sampled_from([0.5, 20, 900]),
    ranking=rankings,
    query=st.sampled_from(QUESTIONS),
    limit=st.sampled_from([1, 5, 30, 200, 300]),
    min_score=st.sampled_from([0.0, 0.0, 0.4]),
    allow=st.sampled_from([everything, private]),
    meaning=st.booleans(),
)
@settings(max_examples=100, deadline=None)
def test_as_the_plain_ranking(
    seed: int,
    count: int,
    sessions: int,
    days: float,
    ranking: Ranking,
    query: str,
    limit: int,
    min_score: float,
    allow: Callable[[Block], bool],
    meaning: bool,
) -> None:
    """Hits, scores and steps are the same whatever the store, the settings and the number asked for."""
    blocks = stored(seed, count, sessions=sessions, spread=timedelta(days=days))
    index = InMemoryIndex()
    index.add(blocks)
    how: dict[str, Any] = {"now": NOW, "limit": limit, "allow": allow, "min_score": min_score}
    table = Table(blocks) if meaning else None
    vector = [1.0, 0.0] if meaning else None
    expected = plain.search(index, blocks, ranking, query, vectors=table, vector=vector, **how)
    for one in (index, OutOfHand(index)):
        found = Searcher(one, ranking, table).search(query, vector=vector, explain=True, **how)  # type: ignore[arg-type]
        assert found == expected


@given(
    scores=st.lists(st.sampled_from([1, 2, 3, 5, 8]), min_size=2, max_size=70),
    recency=st.sampled_from(["off", "steps", "half_life"]),
    query=st.sampled_from(["tea", "tea yesterday"]),
    mmr=st.sampled_from([None, 0.7]),
    limit=st.sampled_from([1, 2, 3, 10]),
    seed=st.integers(0, 99),
)
@settings(max_examples=100, deadline=None)
def test_as_the_plain_ranking_where_neighbours_come_close(
    scores: list[int], recency: Any, query: str, mmr: float | None, limit: int, seed: int
) -> None:
    """A neighbour that time, recency or importance lift among the first is found there, although its hit is weak."""
    chance = random.Random(seed)
    blocks = []
    for number, score in enumerate(scores):
        when = NOW - timedelta(hours=chance.choice([0.5, 1.5, 20, 30, 2_000]))
        for place, text in enumerate(["tea " * score + "x " * (9 - score), "something else"]):
            blocks.append(
                Block(
                    key=f"k{number}-{place}",
                    layer="conversation",
                    path="a.md",
                    start_line=8 * number + 4 * place + 1,
                    end_line=8 * number + 4 * place + 3,
                    text=text,
                    time=when + timedelta(minutes=50 * place, seconds=number),
                    session=f"s{number}",
                    important=bool(place) and chance.random() < 0.5,
                )
            )
    index = InMemoryIndex()
    index.add(blocks)
    ranking = Ranking(recency=recency, mmr=mmr)
    how: dict[str, Any] = {"now": NOW, "limit": limit, "allow": everything}
    assert Searcher(index, ranking).search(query, explain=True, **how) == plain.search(
        index, blocks, ranking, query, **how
    )


@given(
    said=st.lists(st.tuples(st.sampled_from([0, 0, 0, 1, 2]), st.sampled_from([0, 1, 30])), min_size=4, max_size=60),
    sessions=st.sampled_from([1, 2]),
    limit=st.sampled_from([1, 2, 3, 10]),
    important=st.sampled_from([0.0, 0.6]),
)
@settings(max_examples=300, deadline=None)
def test_as_the_plain_ranking_where_hits_are_near_each_other(
    said: list[tuple[int, int]], sessions: int, limit: int, important: float
) -> None:
    """Weak hits lift each other, and the messages between them, whatever lies between; those far apart do not."""
    chance, when, blocks = random.Random(len(said)), NOW - timedelta(days=300), []
    for number, (score, hours) in enumerate(said):
        when += timedelta(hours=hours, seconds=number % 2)
        blocks.append(
            Block(
                key=f"k{number}",
                layer="conversation",
                path="a.md",
                start_line=4 * number + 1,
                end_line=4 * number + 3,
                text="tea " * score + "x " * (9 - score),
                time=when,
                session=f"s{number % sessions}",
                important=chance.random() < important,
            )
        )
    index = InMemoryIndex()
    index.add(blocks)
    how: dict[str, Any] = {"now": NOW, "limit": limit, "allow": everything}
    # Without the step that always looks at twenty, few hits tell what is shown.
    ranking = Ranking(newer=False)
    expected = plain.search(index, blocks, ranking, "tea", **how)
    for one in (index, OutOfHand(index)):
        assert Searcher(one, ranking).search("tea", explain=True, **how) == expected  # type: ignore[arg-type]


def test_neighbours_come_before_hits_that_are_stale() -> None:
    """What passed with its day is worth less than it seems; a neighbour that comes before it is not left out."""
    passed = f"today I must finish the tea {'tea ' * 2} {'lorem ipsum dolor sit amet ' * 3}"
    notes = [
        Block(f"n{at}", "note", "n.md", at, at, f"{passed} w{at}", NOW - timedelta(days=60, seconds=at))
        for at in range(22)
    ]
    said = [
        Block(
            f"k{number}-{at}",
            "conversation",
            "a.md",
            100 * number + at,
            100 * number + at,
            "tea tea tea tea" if at == 4 else "something else here",
            NOW - timedelta(hours=5, minutes=-at),
            f"s{number}",
        )
        for number in range(3)
        for at in range(9)
    ]
    index = InMemoryIndex()
    index.add([*notes, *said])
    found = Searcher(index).search("tea", now=NOW, limit=300)
    assert {hit.block.layer for hit in found[:9]} == {"conversation"}
    for limit in range(1, 10):
        assert Searcher(index).search("tea", now=NOW, limit=limit) == found[:limit]


@pytest.mark.parametrize("apart", range(1, 9))
@pytest.mark.parametrize(
    ("one", "other", "rest"),
    [("tea tea x", "tea tea x", "tea x x"), ("tea x x x x", "tea tea tea tea", "tea x x x x x x x x x x")],
    ids=["two weak ones", "a weak and a strong one"],
)
def test_two_hits_lift_what_is_between_them(apart: int, one: str, other: str, rest: str) -> None:
    """What neither could bring before the rest alone, an important message between them, both do together."""
    for marked in range(20):
        long = [{6: one, 6 + apart: other}.get(at, "x x x") for at in range(20)]
        said = [*((text, "long") for text in long), *((rest, f"s{number}") for number in range(8))]
        blocks = [
            Block(
                key=f"k{at}",
                layer="conversation",
                path="a.md",
                start_line=at,
                end_line=at,
                text=text,
                time=NOW - timedelta(hours=40 - at),
                session=session,
                important=at == marked,
            )
            for at, (text, session) in enumerate(said)
        ]
        index = InMemoryIndex()
        index.add(blocks)
        ranking = Ranking(newer=False)
        how: dict[str, Any] = {"now": NOW, "limit": 8, "allow": everything}
        expected = plain.search(index, blocks, ranking, "tea", **how)
        assert Searcher(index, ranking).search("tea", explain=True, **how) == expected


@pytest.mark.parametrize("engine", ["tantivy", "sqlite"])
def test_as_the_plain_ranking_from_the_disk(engine: Any, tmp_path: Path) -> None:
    """So it is when some of the memories are on the disk, others wait, and some took the place of earlier ones."""
    blocks = stored(1, 300, sessions=40, spread=timedelta(days=30))
    # Every ninth stood elsewhere: its old row has to make room for the message after it.
    old = [block._replace(text="tea lake") for block in blocks[::9]]
    blocks[::9] = [block._replace(session="another") for block in blocks[::9]]
    plainly = InMemoryIndex()
    plainly.add(blocks)
    index = open_index(tmp_path, "a", engine)
    index.add([*old, *(block for at, block in enumerate(blocks[:290]) if at % 9)])
    index.commit()
    index.add([*(block for at, block in enumerate(blocks) if at >= 290 or not at % 9)])
    for _ in ("waiting", "committed"):
        for query in QUESTIONS:
            for limit in (3, 50, 300):
                how: dict[str, Any] = {"now": NOW, "limit": limit, "allow": private}
                found = Searcher(index).search(query, explain=True, **how)
                expected = plain.search(plainly, blocks, Ranking(), query, **how)
                assert [(hit.block, hit.steps) for hit in found] == [(hit.block, hit.steps) for hit in expected]
                assert [hit.score for hit in found] == pytest.approx([hit.score for hit in expected])
        assert index.commit()
    index.close()


def test_neighbour_may_have_the_least_of_all() -> None:
    """Scores are shifted by the least that is shown, even of a message beside a hit; what is hidden has no part."""
    texts = ["far", "two", "one", "disliked", "liked"]
    blocks = [
        Block(
            key=text,
            layer="conversation",
            path="a.md",
            start_line=4 * number + 1,
            end_line=4 * number + 3,
            text=text,
            time=NOW + timedelta(minutes=number),
            session="s",
        )
        for number, text in enumerate(texts)
    ]
    scores = {"disliked": -1.0, "liked": 4.0}

    class Few(Table):
        def nearest(self, query: Any, limit: int, allow: Callable[[Block], bool]) -> list[tuple[Block, float]]:
            return [(block, scores[block.text]) for block in blocks if block.text in scores]

        def cosines(self, query: Any, blocks: Sequence[Block]) -> list[float]:
            return [scores[block.text] for block in blocks]

    class Clear:
        """A lens that changes nothing."""

        vector = None

        def question(self, vector: Any) -> Clear:
            return self

        def score(self, cosine: float) -> float:
            return cosine

    index = InMemoryIndex()
    index.add(blocks)
    store = Searcher(index, Ranking(feedback=False), Few(blocks), Clear())  # type: ignore[arg-type]
    total = {"far": -0.2, "two": -0.3 + 0.8, "one": -0.5 + 1.2, "disliked": -1 + 2.0, "liked": 4 - 0.5}
    for shown in (texts, texts[1:]):
        hits = store.search("x", now=NOW, vector=[1.0], allow=lambda block, shown=shown: block.text in shown)
        least = min(0.0, *(total[text] for text in shown))
        assert {hit.block.text: hit.score for hit in hits} == pytest.approx(
            {text: (total[text] - least) / (total["liked"] - least) for text in shown}
        )


def test_neighbours_that_nobody_comes_to_are_not_asked_for() -> None:
    """A hit alone in its session, whose neighbours could never be among the first, is not looked beside."""
    blocks = stored(3, 400, sessions=400, spread=timedelta(days=900))
    index = InMemoryIndex()
    index.add(blocks)
    for limit, all_of_them in ((1, False), (300, True)):
        counting = OutOfHand(index)
        Searcher(counting).search("tea lake", now=NOW, limit=limit)  # type: ignore[arg-type]
        hits = len(index.search(["tea", "lake"], limit=200, allow=everything))
        assert (counting.lenders == hits) is all_of_them
        assert counting.lenders > 0


def test_hits_far_apart_in_a_session_are_as_good_as_alone() -> None:
    """Of one long session only those are looked beside that have another within six places."""
    saying = {3, 20, 23, 40, 47, 60, 66}
    long = [f"{'tea' if at in saying else 'x'} and so on" for at in range(80)]
    better = [("tea tea", f"s{number}") for number in range(30)]
    said = [*((text, "long") for text in long), *better]
    index = InMemoryIndex()
    index.add(
        Block(f"k{at}", "conversation", "a.md", at, at, text, NOW - timedelta(hours=9 - at / 99), session)
        for at, (text, session) in enumerate(said)
    )
    counting = OutOfHand(index)
    Searcher(counting).search("tea", now=NOW, limit=1)  # type: ignore[arg-type]
    # 20 and 23, 60 and 66; 40 and 47 are one place too far apart.
    assert counting.lenders == 4


def test_neighbour_that_has_gone_is_left_out() -> None:
    """What was taken out between two looks is not shown; what was moved is shown where it is now."""
    blocks = stored(5, 40, sessions=1, spread=timedelta(hours=2))
    index = InMemoryIndex()
    index.add(blocks)
    shown = Searcher(index).search("tea", now=NOW, limit=40)
    beside = [hit.block for hit in shown if "tea" not in hit.block.text]
    gone, moved = beside[0], beside[1]._replace(path="conversations/x.md", start_line=9_999)

    class Changing(OutOfHand):
        def around_many(self, blocks: Sequence[Block], reach: int) -> list[list[Neighbour]]:
            near = super().around_many(blocks, reach)
            index.replace(gone.path, [one for one in index.blocks_of(gone.path) if one != gone])
            index.add([moved])
            return near

    found = [hit.block for hit in Searcher(Changing(index)).search("tea", now=NOW, limit=40)]  # type: ignore[arg-type]
    assert gone not in found
    assert moved in found
    assert beside[1] not in found
