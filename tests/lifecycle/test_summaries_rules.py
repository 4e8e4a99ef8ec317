"""Choosing sentences without a model, and reading what a model answered."""

from __future__ import annotations

import json
import re
from datetime import UTC, date, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from openclaw_memory.lifecycle.summaries.answers import Line, NotUsableError, items_in
from openclaw_memory.lifecycle.summaries.extractive import Extractive
from openclaw_memory.lifecycle.summaries.model import shortened
from openclaw_memory.lifecycle.summaries.passages import Material, Passage, passages_in, passages_of
from openclaw_memory.lifecycle.summaries.sentences import MAX_SENTENCE_CHARS, sentences_of
from openclaw_memory.markdown.messages import Message
from openclaw_memory.markdown.summary_items import SummaryItem, SummaryItems, write_items
from openclaw_memory.retrieval.terms import is_identifier, terms

NOON = datetime(2026, 5, 4, 4, 0, tzinfo=UTC)


def count(text: str) -> int:
    """About a token a word, or a Chinese character."""
    return len(re.findall(r"[A-Za-z0-9]+|\S", text))


def material(*said: tuple[str, str], language: str = "zh", minutes: int = 1) -> Material:
    messages = [
        Message(f"m{number}", "s", role, NOON + timedelta(minutes=minutes * number), text)  # type: ignore[arg-type]
        for number, (role, text) in enumerate(said, 1)
    ]
    return Material("daily", "2026-05-04", language, passages_of(messages, date(2026, 5, 4)))  # type: ignore[arg-type]


def items(given_: Material, tokens: int) -> SummaryItems:
    fits = lambda items: count(write_items(items, language=given_.language)) <= tokens  # noqa: E731
    return Extractive(count).items(given_, fits, tokens)


def every(found: SummaryItems) -> list[SummaryItem]:
    return [one for part in (found.talks, found.facts, found.todos) for item in part for one in (item, *item.points)]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("我买了书。你呢？好！", ["我买了书。", "你呢？"]),
        ("Hey Mel! Good to see you! I bought a car.", ["Good to see you!", "I bought a car."]),
        ("版本是 v22.11.0，地址 https://a.b/c?d=1. Done.", ["版本是 v22.11.0，地址 https://a.b/c?d=1.", "Done."]),
        ("Dr. Smith met Mr. A. B. Jones at 5 p.m. It rained.", ["Dr. Smith met Mr. A. B. Jones at 5 p.m. It rained."]),
        ("步骤：1. 安装 2. 运行", ["步骤：1. 安装 2. 运行"]),
        ("- 一\n- 二\n\n## 三", ["一", "二", "三"]),
        ("看代码：\n```py\nprint('no')\n```\n就这样。", ["看代码：", "就这样。"]),
        ("> 别人说的\n我说的", ["我说的"]),
        ("开头\n```\n没有结束", ["开头"]),
        ("<!-- 藏着 -->露着", ["露着"]),
        ("“他说好。”我也说好。", ["“他说好。”", "我也说好。"]),
        ("……\n!!!\n👍", []),
        ("", []),
    ],
)
def test_sentences(text: str, expected: list[str]) -> None:
    """Of both languages; what nobody said is left out."""
    assert list(sentences_of(text)) == expected


@given(st.text(max_size=2_000))
@settings(max_examples=300)
def test_sentences_of_anything(text: str) -> None:
    """In one line each, none endless, nothing that was not there."""
    for sentence in sentences_of(text):
        assert "\n" not in sentence
        assert len(sentence) <= MAX_SENTENCE_CHARS


def test_what_tells_most_comes_first() -> None:
    """A decision with its identifier before chat, a question, and the same again."""
    talk = [("user", "哈哈哈，今天天气真不错呀。"), ("user", "你觉得怎么样呢？")] * 5
    found = items(material(*talk, ("user", "最终决定采用 PostgreSQL 16，编号 DEC-0054。"), *talk), 40)
    assert every(found)[0].text == "最终决定采用 PostgreSQL 16，编号 DEC-0054。"


def test_a_day_of_greetings_has_nothing_to_tell() -> None:
    """Nor have questions of the agent that nobody answered."""
    assert not items(
        material(("user", "你好"), ("assistant", "你好！有什么可以帮你的吗？"), ("user", "ok"), ("user", "谢谢")), 500
    )


def test_nothing_is_said_twice() -> None:
    """However often it was said."""
    found = items(material(*[("user", "我的电话是 13800138000。")] * 20), 200)
    assert [item.text for item in every(found)] == ["我的电话是 13800138000。"]


def test_parts() -> None:
    """Things to be done, facts about the owner, talk; the agent's sentences are marked as its own."""
    found = items(
        material(
            ("user", "我住在杭州西湖区。"),
            ("user", "记得周五之前提交发票。"),
            ("assistant", "西湖区的报税点在文三路 90 号。"),
            ("user", "我们决定改用 pnpm。"),
        ),
        500,
    )
    assert [item.text for item in found.facts] == ["我住在杭州西湖区。"]
    assert [item.text for item in found.todos] == ["记得周五之前提交发票。"]
    assert [item.text for item in every(SummaryItems(found.talks))] == [
        "助手：西湖区的报税点在文三路 90 号。",
        "我们决定改用 pnpm。",
    ]


def test_a_pause_begins_another_talk() -> None:
    """Two hours later it is about something else."""
    said = [
        ("user", "早上讨论了部署方案 A1。"),
        ("user", "部署方案定为蓝绿发布。"),
        ("user", "晚上聊到电影《飞驰人生》。"),
    ]
    assert len(items(material(*said), 300).talks) == 1
    assert len(items(material(*said, minutes=120), 300).talks) == 3


def test_items_of_shorter_summaries_keep_their_part() -> None:
    """And what they rest on; something done counts less."""
    week = passages_in(
        SummaryItems(
            talks=(SummaryItem("讨论迁移", ("2026-05-04#m1",), (SummaryItem("先迁移用户模块", ("2026-05-04#m2",)),)),),
            facts=(SummaryItem("版本 v22", ("2026-05-04#m3",)),),
            todos=(SummaryItem("创建模板", ("2026-05-04#m4",)), SummaryItem("安装依赖", ("2026-05-04#m5",), done=True)),
        ),
        "daily/2026-05-04",
    )
    found = items(Material("weekly", "2026-w19", "zh", week), 300)
    assert found.talks == (
        SummaryItem("讨论迁移", ("2026-05-04#m1",), (SummaryItem("先迁移用户模块", ("2026-05-04#m2",)),)),
    )
    assert found.facts == (SummaryItem("版本 v22", ("2026-05-04#m3",)),)
    assert [(item.text, item.done) for item in found.todos] == [("创建模板", False), ("安装依赖", True)]


_words = st.lists(
    st.sampled_from(
        [
            "我们决定",
            "用",
            "v1.2.3",
            "DEC-0054",
            "记得",
            "the cat",
            "is",
            "5432",
            "。",
            "? ",
            "! ",
            "\n",
            "今天",
            "Zustand",
        ]
    ),
    max_size=40,
).map(" ".join)


@given(
    said=st.lists(st.tuples(st.sampled_from(["user", "assistant"]), _words), max_size=20), tokens=st.integers(0, 120)
)
@settings(max_examples=200, deadline=None)
def test_a_summary_says_only_what_was_said(said: list[tuple[str, str]], tokens: int) -> None:
    """It keeps within its tokens, each item rests on a message that says it, identifiers and numbers are exact."""
    given_ = material(*said)
    found = items(given_, tokens)
    assert count(write_items(found, language="zh")) <= tokens or not found
    texts = {passage.sources[0]: passage.text for passage in given_.passages}
    for item in every(found):
        held = set(terms(" ".join(texts[source] for source in item.sources)))
        assert item.sources
        assert {term for term in terms(item.text.removeprefix("助手：")) if is_identifier(term)} <= held


# -- answers of a model ----------------------------------------------------------------------------------------------

LINES = [
    Line("We use Node v22.11.0 and DEC-0054.", ("d#1",)),
    Line("Buy milk.", ("d#2",)),
    Line("Lunch at 12.", ("d#3",)),
]


def answer(**parts: Any) -> str:
    return json.dumps(parts)


def test_items_of_an_answer() -> None:
    """Numbers become addresses, repetitions go, a made-up number goes with its item."""
    found = items_in(
        answer(
            talks=[
                {"text": "Talked about Node v22.11.0", "from": [1, 1], "points": [{"text": "DEC-0054", "from": [1]}]}
            ],
            facts=[
                {"text": "Lunch at 12", "from": [3]},
                {"text": "lunch at 12", "from": [3]},
                {"text": "Lunch at 13", "from": [3]},
            ],
            todos=[{"text": "Buy\n  milk", "from": [2], "done": True}],
        ),
        LINES,
    )
    assert found == SummaryItems(
        (SummaryItem("Talked about Node v22.11.0", ("d#1",), (SummaryItem("DEC-0054", ("d#1",)),)),),
        (SummaryItem("Lunch at 12", ("d#3",)),),
        (SummaryItem("Buy milk", ("d#2",), done=True),),
    )


@given(
    st.recursive(
        st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
        lambda inner: (
            st.lists(inner)
            | st.dictionaries(st.sampled_from(["talks", "facts", "todos", "text", "from", "points", "done"]), inner)
        ),
    )
)
@settings(max_examples=100, deadline=None)
def test_any_json_is_items_or_a_reason(value: Any) -> None:
    """Nothing else is raised, and nothing gets in that is no item."""
    try:
        found = items_in(json.dumps(value), LINES)
    except NotUsableError:
        return
    assert all(item.text.strip() and item.sources for item in every(found))


def test_shortened_from_the_end() -> None:
    """Points first; until it fits, or nothing is left."""
    whole = SummaryItems(
        (SummaryItem("one", ("a",), (SummaryItem("p", ("a",)), SummaryItem("q", ("a",)))),),
        tuple(SummaryItem(f"fact {number}", ("a",)) for number in range(5)),
    )
    left = [shortened(whole, lambda items, most=most: len(every(items)) <= most) for most in range(9)]
    assert [len(every(items)) for items in left] == list(range(9))
    assert left[6].talks[0].points == ()
    assert left[0] == SummaryItems()


LOCOMO = Path(__file__).parents[3] / "shared/data/locomo"


@pytest.mark.skipif(not LOCOMO.is_dir(), reason="needs LoCoMo in ../shared/data")
def test_more_is_kept_than_by_its_peers() -> None:
    """Of the answers to questions about a long talk, at a tenth of its tokens."""
    from benchmarks.summaries.__main__ import kept_of, load, ways_of
    from openclaw_memory.context.tokens import make_counter

    conversation, asked = load(LOCOMO / "conv-30.json")
    said = [message for session in conversation.values() for message in session]
    counter = make_counter().count
    kept = {
        name: kept_of(asked, shorten(said, 1_500)) for name, shorten in ways_of(counter).items() if name != "TextRank"
    }
    assert kept["extractive"][2] > 1.2 * kept["first tokens"][2]


def test_a_passage_is_shown_whole_or_by_its_best_sentences() -> None:
    """What a model is asked about keeps within the tokens that the configuration allows."""
    rules = Extractive(count)
    talk = material(*[("user", f"第 {number} 件事是 ITEM-{number}，" + "说明" * 30 + "。") for number in range(50)])
    assert len(rules.lines(talk, 100_000)) == 50
    few = rules.lines(talk, 600)
    assert 0 < len(few) < 50
    assert sum(count(line.text) for line in few) <= 600
    assert all(isinstance(passage, Passage) for passage in talk.passages)
