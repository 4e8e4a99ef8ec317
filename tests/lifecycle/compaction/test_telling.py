"""What a summary says, and what it never loses."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from openclaw_memory.config import CompactionConfig
from openclaw_memory.context.tokens import EstimateCounter
from openclaw_memory.context.turns import units_of
from openclaw_memory.lifecycle.compaction.asking import usable
from openclaw_memory.lifecycle.compaction.cut import first_kept, threshold, unit_start
from openclaw_memory.lifecycle.compaction.essentials import identifiers, open_questions
from openclaw_memory.lifecycle.compaction.telling import SENTENCES, main_sentences, summary
from tests.lifecycle.hostile import hostile_answers

COUNTER = EstimateCounter()


@dataclass(frozen=True, slots=True)
class Line:
    role: str
    text: str


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("见 DEC-0054 和 PR #142。", ["DEC-0054", "#142"]),
        ("open src/app/main.py, then ./run.sh and /etc/hosts", ["src/app/main.py", "./run.sh", "/etc/hosts"]),
        ("https://example.org/a?b=1。", ["https://example.org/a?b=1"]),
        ("commit 3f2a91c on 10.0.0.7:8080", ["3f2a91c", "10.0.0.7:8080"]),
        ("mail ada@example.org about v2.3.1", ["ada@example.org", "v2.3.1"]),
        ("gpt-4 and `rm -rf x` and build_index", ["gpt-4", "rm -rf x", "build_index"]),
        ("订单 20931047 的 Q1-2026-sales.xlsx", ["20931047", "Q1-2026-sales.xlsx"]),
        ("id 123e4567-e89b-12d3-a456-426614174000", ["123e4567-e89b-12d3-a456-426614174000"]),
        ("just words, e.g. these, and 12 of them; well-known too", []),
    ],
)
def test_identifiers(text: str, found: list[str]) -> None:
    """To the letter, each once; ordinary words are none."""
    assert identifiers(text) == found
    assert identifiers(f"{text} {text}") == found


@pytest.mark.parametrize(
    ("lines", "found"),
    [
        ([("user", "用哪个库?"), ("assistant", "用 A。")], []),
        ([("user", "用哪个库?"), ("user", "先看看别的。")], ["用哪个库?"]),
        ([("user", "好。"), ("assistant", "Which one do you want?")], ["Which one do you want?"]),
        ([("user", "The schema is TBD."), ("assistant", "ok")], ["The schema is TBD."]),
        ([("tool", "really?"), ("assistant", "done")], []),
    ],
)
def test_open_questions(lines: list[tuple[str, str]], found: list[str]) -> None:
    """Nobody else has spoken since, or it was said to be undecided."""
    assert open_questions([Line(*line) for line in lines]) == found


NAMES = st.lists(st.from_regex(r"[a-z]{2,6}_[a-z]{2,6}|[A-Z]{2,4}-[0-9]{1,5}", fullmatch=True), max_size=6, unique=True)
TALK = st.lists(st.tuples(st.sampled_from(["user", "assistant", "tool"]), st.text(max_size=60), NAMES), max_size=20)


@settings(max_examples=40)
@given(TALK, TALK, st.integers(0, 20))
def test_no_name_is_lost(told: list[Any], after: list[Any], new: int) -> None:
    """A summary of whatever was said holds every new name that what follows does not say, or there is none."""
    dropped = [Line(role, f"{text} {' '.join(names)}") for role, text, names in told]
    kept = [Line(role, f"{text} {' '.join(names)}") for role, text, names in after]
    sentences = main_sentences(dropped)
    assert len(sentences) <= SENTENCES
    new = min(new, len(dropped))
    text = summary(dropped, sentences=sentences, new=new, kept=kept, language="zh", counter=COUNTER, limit=600)
    if text is None:
        return
    assert COUNTER.count(text) <= 600
    there = "\n".join(line.text for line in kept)
    for line in dropped[new:]:
        if line.role != "tool":
            assert all(name in text or name in there for name in identifiers(line.text))


ROLES = st.lists(st.sampled_from(["user", "assistant", "tool"]), max_size=60)


@given(ROLES, st.integers(1, 3000), st.one_of(st.none(), st.integers(0, 100_000)))
def test_the_cut_parts_no_call_from_its_results(roles: list[str], each: int, room: int | None) -> None:
    """At least four stay, and the cut lies at the beginning of what belongs together."""
    rules = CompactionConfig()
    place = first_kept(roles, [each] * len(roles), rules, room=room)
    assert 0 <= place <= len(roles)
    assert len(roles) - place >= min(len(roles), max(rules.keep_messages, int(len(roles) * rules.keep_share)))
    assert place == len(roles) or place in [unit.start for unit in units_of(roles)]
    assert unit_start(roles, place) == place


@pytest.mark.parametrize(("window", "begins"), [(200_000, 183_616), (20_000, 10_000), (1, 1)])
def test_threshold(window: int, begins: int) -> None:
    """Window less reserve, which is at most half of it."""
    assert threshold(window, CompactionConfig()) == begins


@pytest.mark.parametrize(
    "text",
    ["", "  \n", "ok", "<html>x</html>", '{"summary": "x"}', "```\nx\n```", "[1, 2]", "一。" * 9, None, 7, "x" * 5000],
)
def test_what_a_model_may_not_say(text: object) -> None:
    assert usable(text) is None


@pytest.mark.parametrize(
    "text", ["用户要拆分报表服务。接口已经看过。缓存放哪里还没有定。", "One. Two is done.\nThree is open."]
)
def test_three_sentences(text: str) -> None:
    assert usable(text) == " ".join(text.split())


def test_hostile_answers_never_raise() -> None:
    """Whatever comes, it is a line of text or nothing."""
    for case in hostile_answers():
        line = usable(getattr(case.value, "text", case.value))
        assert line is None or ("\n" not in line and len(line) <= 2_000)
