"""Times in questions."""

from __future__ import annotations

from datetime import UTC, date, datetime
from pathlib import Path

import pytest
import yaml
from hypothesis import given, settings
from hypothesis import strategies as st

from openclaw_memory.retrieval.questions import asks_about_past, focus
from openclaw_memory.retrieval.times import spans

ASKED = datetime(2026, 5, 6, 12, tzinfo=UTC)
CASES: list[tuple[str, list[date] | None]] = [
    tuple(case) for case in yaml.safe_load((Path(__file__).parent / "times.yaml").read_text(encoding="utf-8"))
]


@pytest.mark.parametrize(("question", "expected"), CASES)
def test_span_of_a_question(question: str, expected: list[date] | None) -> None:
    """A question gives the days of the case file, or none."""
    assert [[span.first, span.last] for span in spans(question, ASKED)] == ([expected] if expected else [])


words = (
    st.sampled_from([case[0] for case in CASES])
    | st.text(max_size=12)
    | st.sampled_from(["999 years ago", "in", "0月"])
)


@given(st.lists(words, max_size=4).map(" ".join), st.datetimes(timezones=st.just(UTC)))
@settings(deadline=None)
def test_any_text_at_any_time_is_read(text: str, now: datetime) -> None:
    """Nothing raises, and no span ends before it begins."""
    assert all(span.first <= span.last for span in spans(text, now))


@pytest.mark.parametrize(
    ("text", "past"),
    [
        ("When did I move?", True),
        ("去年去了哪里", True),
        ("what was said in 2023", True),
        ("how long ago was it", True),
        ("who is my doctor", False),
        ("我的猫叫什么", False),
    ],
)
def test_question_about_the_past(text: str, past: bool) -> None:
    """Words of the past are told in both languages."""
    assert asks_about_past(text) is past


@pytest.mark.parametrize(
    ("text", "asked"),
    [
        ("What is my cat called?", None),
        ("Nice day. What is my cat called? I forgot.", "What is my cat called?"),
        ("今天很累。昨晚没睡好。", "昨晚没睡好。"),
        ("天气真好。我住的小区怎么样？", "我住的小区怎么样？"),
        ("version 2.1 is out", None),
        ("", None),
    ],
)
def test_sentence_that_asks(text: str, asked: str | None) -> None:
    """Of several sentences the last that asks counts, else the last."""
    assert focus(text) == asked
