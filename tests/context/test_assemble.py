"""The context as a whole: never above the budget, and the right things left out."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime, timedelta

import pytest
import regex  # type: ignore[import-untyped]
from hypothesis import given, settings
from hypothesis import strategies as st

from contracts.prompt import prompt_parts, prompt_text
from contracts.reading import HistoryMessage, MemoryContext, Task
from openclaw_memory.context import EstimateCounter, Line, Material, TokenCounter, build_context
from openclaw_memory.retrieval import Block, Hit

NOW = datetime(2026, 5, 4, 12, tzinfo=UTC)
MakeHit = Callable[..., Hit]
MakeMessage = Callable[..., HistoryMessage]
MakeTask = Callable[..., Task]

SNIPPETS = [
    "I went hiking. ",
    "我喜欢喝茶，",
    "👩‍👩‍👧",
    "```\ncode\n```\n",
    "<|endoftext|>",
    "   ",
    "\n",
    "é",
    "DEC-0054 ",
    "x" * 40,
]
text = st.lists(st.sampled_from(SNIPPETS), min_size=1, max_size=8).map("".join)
lines = st.lists(st.builds(Line, text, st.just(""), st.booleans()), max_size=4).map(tuple)


def _task(title: str, number: int) -> Task:
    return Task(id=f"OPEN-{number:03}", title=title, state="pending", priority="high", created=NOW)


def _message(content: str, number: int, role: str) -> HistoryMessage:
    return HistoryMessage.model_validate(
        {"role": role, "content": content, "timestamp": NOW + timedelta(minutes=number), "key": f"m{number}"}
    )


def _hit(words: str, number: int, session: str, score: float) -> Hit:
    time = NOW + timedelta(minutes=number)
    block = Block(f"m{number}", "conversation", "c.md", number * 6 + 1, number * 6 + 5, words, time, session, "user")
    return Hit(block, score)


roles = st.sampled_from(["user", "assistant", "tool"])
materials = st.builds(
    Material,
    facts=lines,
    memory=lines,
    tasks=st.lists(st.builds(_task, text, st.integers(1, 99)), max_size=3).map(tuple),
    summaries=lines,
    notes=lines,
    recalled=st.lists(
        st.builds(_hit, text, st.integers(0, 12), st.sampled_from(["s1", "s2"]), st.floats(0, 1)), max_size=8
    ).map(tuple),
    history=st.lists(st.tuples(text, roles), max_size=8).map(
        lambda said: tuple(_message(content, number, role) for number, (content, role) in enumerate(said))
    ),
    important=st.sets(st.sampled_from(["m0", "m1", "m2"])).map(frozenset),
)


@given(material=materials, max_tokens=st.integers(1, 400), language=st.sampled_from(["zh", "en"]))
@settings(max_examples=150, deadline=None)
def test_budget_is_never_exceeded(cl100k: TokenCounter, material: Material, max_tokens: int, language: str) -> None:
    """Any mix, any language, any budget from 1: the one string that counts stays within it."""
    context = build_context(material, max_tokens, cl100k, tz=UTC, language="zh" if language == "zh" else "en")
    used = cl100k.count(prompt_text(context))
    assert used <= max_tokens
    assert context.tokens is not None
    assert context.tokens.used == used
    assert len(context.citations) == len(context.recalled)
    _assert_nothing_is_cut_or_twice(material, context)


def _assert_nothing_is_cut_or_twice(material: Material, context: MemoryContext) -> None:
    said = [message.key for message in context.history]
    assert len(set(said)) == len(said)
    contents = {message.key: message.content for message in material.history}
    for message in context.history:
        whole = contents[message.key]
        if message.content != whole:
            kept = message.content.removesuffix("…")
            borders = {0, *(match.end() for match in regex.finditer(r"\X", whole))}
            assert whole.startswith(kept)
            assert len(kept) in borders
    assert not {citation.key for citation in context.citations} & set(said)
    assert set(context.facts) <= {line.text for line in material.facts}
    assert context.truncated == (context.notice is not None)


@given(material=materials)
@settings(max_examples=40, deadline=None)
def test_ample_budget_holds_everything(material: Material) -> None:
    """With room enough nothing is left out and nothing is said about it."""
    context = build_context(material, 1_000_000, EstimateCounter(), tz=UTC)
    assert len(context.facts) == len(material.facts)
    assert len(context.tasks) == len(material.tasks)
    assert len(context.summaries) == len(material.summaries)
    assert context.history == material.history
    assert not context.truncated
    assert context.notice is None


@given(material=materials, max_tokens=st.integers(1, 200))
@settings(max_examples=40, deadline=None)
def test_estimated_budget_is_kept_too(material: Material, max_tokens: int) -> None:
    """The promise holds with the estimate as well, by its own count."""
    context = build_context(material, max_tokens, EstimateCounter(), tz=UTC)
    assert EstimateCounter().count(prompt_text(context)) <= max_tokens
    assert context.tokens is not None
    assert context.tokens.encoding == "estimate"


@given(material=materials, max_tokens=st.integers(1, 200))
@settings(max_examples=40, deadline=None)
def test_whole_that_costs_more_than_its_pieces(material: Material, max_tokens: int) -> None:
    """Counts of pieces may add up to less than the whole: the budget is kept all the same."""

    class Grows:
        encoding, exact = "grows", True

        def count(self, text: str) -> int:
            return len(text) // 4 + text.count("\n") ** 2

    context = build_context(material, max_tokens, Grows(), tz=UTC)
    assert Grows().count(prompt_text(context)) <= max_tokens


def test_pieces_that_cost_more_than_the_whole(hit: MakeHit) -> None:
    """Counts of pieces may add up to more than the whole: what that leaves free is filled."""
    hits = tuple(hit(f"number {n} of many things that were said about tea", n) for n in range(300))
    context = build_context(Material(recalled=hits), 2_000, EstimateCounter(), tz=UTC)
    assert context.tokens is not None
    assert context.tokens.used > 1_800


def test_order_of_worth(cl100k: TokenCounter, message: MakeMessage, hit: MakeHit, task: MakeTask) -> None:
    """As the budget grows, parts come in this order (each here is bigger than the one before it)."""
    material = Material(
        facts=(Line("- language: Go", essential=True),),
        tasks=(task(1),),
        summaries=(Line("Older summary of the week before."), Line("Latest summary: " + "work went on, " * 8)),
        recalled=(hit("the locker code is 4711 " * 8, 50, session="s0"),),
        history=tuple(message(f"message {n} " + "about things " * (40 if n < 4 else 1), n) for n in range(6)),
    )
    first: dict[str, int] = {}
    for budget in range(1, 300):
        context = build_context(material, budget, cl100k, tz=UTC, language="en")
        present = {
            "last": any(one.content == material.history[-1].content for one in context.history),
            "facts": bool(context.facts),
            "tasks": bool(context.tasks),
            "summary": material.summaries[-1].text in context.summaries,
            "recalled": bool(context.recalled),
            "older": len(context.history) > 2,
        }
        for part, there in present.items():
            if there:
                first.setdefault(part, budget)
    assert first["last"] < first["tasks"] < first["summary"] < first["recalled"] < first["older"]
    assert first["facts"] < first["tasks"]


def test_notice_counts_what_was_left_out(cl100k: TokenCounter, message: MakeMessage) -> None:
    """What is left out is counted for each part, in the user's language, after what went wrong before."""
    material = Material(
        facts=tuple(Line(f"- fact {n}: some value that takes tokens") for n in range(30)),
        history=(message("hi", 1),),
        degraded=True,
        notice="index is being rebuilt",
    )
    context = build_context(material, 60, cl100k, language="en")
    left = 30 - len(context.facts)
    assert context.notice == f"index is being rebuilt Left out for the budget: {left} facts."
    assert context.truncated
    assert context.degraded
    assert build_context(material, 60, cl100k).notice == f"index is being rebuilt 因预算未放入：{left} 条事实。"


def test_oversized_last_message_is_shortened(cl100k: TokenCounter, message: MakeMessage) -> None:
    """A last message bigger than the budget gives its beginning, and leaves room for the profile."""
    material = Material(
        facts=(Line("- language: Go", essential=True),), history=(message("All work and no play. " * 5_000, 1),)
    )
    context = build_context(material, 1_000, cl100k, language="en")
    assert context.facts == ("- language: Go",)
    assert context.history[0].content.endswith("play.…")
    assert context.tokens is not None
    assert context.tokens.used > 950
    assert context.notice == "Left out for the budget: 1 shortened."


def test_oversized_recalled_piece_is_shortened(cl100k: TokenCounter, hit: MakeHit) -> None:
    """When the best hit alone is too big, its beginning is given, with its address."""
    context = build_context(Material(recalled=(hit("the tea was good. " * 900, 1),)), 200, cl100k, tz=UTC)
    assert context.recalled[0].startswith("2026-05-04\n用户: the tea")
    assert context.recalled[0].endswith("…")
    assert len(context.citations) == 1


def test_same_message_is_not_said_twice(cl100k: TokenCounter, message: MakeMessage, hit: MakeHit) -> None:
    """A hit that stands in the history is not recalled again, nor a fact that is given as a fact."""
    material = Material(
        facts=(Line("- tea: oolong", key="facts/p.md#tea", essential=True),),
        recalled=(
            hit("oolong please", 3),
            hit("- tea: oolong", 8, layer="fact", key="facts/p.md#tea"),
            hit("yesterday's tea", 9, session="s0"),
        ),
        history=tuple(message(words, n) for n, words in enumerate(["a", "b", "c", "oolong please"])),
    )
    context = build_context(material, 1_000, cl100k, tz=UTC)
    assert context.recalled == ("2026-05-04\n用户: yesterday's tea",)
    assert not context.truncated


def test_what_was_recalled_does_not_come_back_in_its_own_part(cl100k: TokenCounter, hit: MakeHit) -> None:
    """With little left recalled pieces come first; a fact or an entry of MEMORY.md that is one of them is said once."""
    material = Material(
        facts=(Line("- tea: oolong", key="facts/p.md#tea"),),
        memory=(Line("- the tea is kept on otter", key="MEMORY.md#1"), Line("- another entry", key="MEMORY.md#2")),
        recalled=(
            hit("- tea: oolong", 1, layer="fact", key="facts/p.md#tea", role=None),
            hit("the tea is kept on otter", 2, layer="memory", key="MEMORY.md#1", role=None),
        ),
    )
    context = build_context(material, 200, cl100k, tz=UTC)
    assert prompt_text(context).count("oolong") == prompt_text(context).count("otter") == 1
    assert context.memory == ("- another entry",)
    assert not context.truncated


def test_recalled_message_does_not_come_back_as_history(
    cl100k: TokenCounter, message: MakeMessage, hit: MakeHit
) -> None:
    """An older message that was recalled is not given once more when tokens are left for older history."""
    history = tuple(message(f"message {n} with a number of words in it that take their tokens", n) for n in range(20))
    hits = (hit(history[0].content, 0), hit(history[1].content, 1))
    context = build_context(Material(recalled=hits, history=history), 380, cl100k, tz=UTC, language="en")
    assert context.recalled[0].count("User: ") == 2
    assert [one.key for one in context.history] == [one.key for one in history[-len(context.history) :]]
    assert 15 < len(context.history) <= 18


def test_unused_shares_go_to_recalled(cl100k: TokenCounter, hit: MakeHit) -> None:
    """Without history and facts the whole budget is recalled."""
    hits = tuple(hit(f"number {n} of many things that were said about tea", n) for n in range(300))
    context = build_context(Material(recalled=hits), 2_000, cl100k, tz=UTC)
    assert context.tokens is not None
    assert context.tokens.used > 1_950


def test_recalled_keeps_its_fifth_beside_a_long_history(
    cl100k: TokenCounter, message: MakeMessage, hit: MakeHit
) -> None:
    """A long history and many hits share: history about 60 %, recalled what is left."""
    hits = tuple(
        hit(f"number {n} of many things that were said about tea", 1_000 + n, session="s0") for n in range(300)
    )
    history = tuple(message(f"message {n} with a number of words in it", n) for n in range(500))
    context = build_context(Material(recalled=hits, history=history), 2_000, cl100k, tz=UTC)
    assert context.tokens is not None
    used = {part.name: part.used for part in context.tokens.parts}
    assert 1_100 < used["history"] < 1_230
    assert used["recalled"] > 700
    assert [one.key for one in context.history] == [one.key for one in history[-len(context.history) :]]


def test_recalled_comes_before_older_history_when_little_is_left(
    cl100k: TokenCounter, message: MakeMessage, hit: MakeHit
) -> None:
    """A big profile takes its due; of the rest recalled pieces have their share first, older history what remains."""
    profile = tuple(Line(f"- preference {n}: something that was said once", essential=True) for n in range(45))
    hits = tuple(hit(f"number {n} of many things that were said about tea", 1_000 + n, session="s0") for n in range(99))
    history = tuple(message(f"message {n} with a number of words in it", n) for n in range(99))
    context = build_context(Material(facts=profile, recalled=hits, history=history), 900, cl100k, tz=UTC)
    assert context.tokens is not None
    used = {part.name: part.used for part in context.tokens.parts}
    assert len(context.facts) == len(profile)
    assert used["recalled"] >= 170
    assert len(context.history) >= 2


def test_important_message_outlives_older_ones(cl100k: TokenCounter, message: MakeMessage) -> None:
    """A marked message is kept where its neighbours are dropped."""
    history = tuple(message(f"message {n} with a number of words in it", n) for n in range(200))
    material = Material(history=history, important=frozenset({history[3].key}))
    kept = [one.key for one in build_context(material, 600, cl100k).history]
    assert kept[0] == history[3].key
    assert history[4].key not in kept


def test_parts_report_what_they_used(cl100k: TokenCounter, message: MakeMessage) -> None:
    """Each part's tokens are those of its own text."""
    material = Material(facts=(Line("- a: b"),), notes=(Line("walked"),), history=(message("hi", 1),))
    context = build_context(material, 500, cl100k)
    assert context.tokens is not None
    texts = prompt_parts(context)
    assert {part.name: part.used for part in context.tokens.parts} == {
        name: cl100k.count("\n".join(pieces)) for name, pieces in texts.items()
    }
    assert {part.name: part.planned for part in context.tokens.parts if part.planned} == {
        "facts": 50,
        "tasks": 25,
        "summaries": 25,
        "recalled": 100,
        "history": 300,
    }


def test_nothing_to_say(cl100k: TokenCounter) -> None:
    """An empty memory gives an empty context."""
    context = build_context(Material(), 1, cl100k)
    assert prompt_text(context) == ""
    assert not context.truncated


@pytest.mark.parametrize("budget", [1, 2, 3])
def test_smallest_budgets(cl100k: TokenCounter, message: MakeMessage, budget: int) -> None:
    """Where nothing fits, nothing is given, and it is said."""
    context = build_context(Material(history=(message("👩‍👩‍👧" * 9, 1),)), budget, cl100k)
    assert prompt_text(context) == ""
    assert context.notice == "因预算未放入：1 条消息。"


def test_whole_is_not_counted_for_each_piece(hit: MakeHit) -> None:
    """Counting grows with the text, not with its square: the whole is counted a few times, pieces once."""

    class Letters:
        encoding, exact, seen = "letters", True, 0

        def count(self, text: str) -> int:
            self.seen += len(text)
            return len(text)

    counter = Letters()
    hits = tuple(hit(f"number {n} of many things that were said about tea", n) for n in range(500))
    build_context(Material(recalled=hits), 20_000, counter, tz=UTC)
    assert counter.seen < 8 * 20_000
