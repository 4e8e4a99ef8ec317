"""What goes out for what comes in: never more than a quarter, never what others wrote."""

from __future__ import annotations

from datetime import UTC, date, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from openclaw_memory.config import PromotionConfig
from openclaw_memory.layers.recalls import Recall, name_of
from openclaw_memory.lifecycle.promotion.likeness import Known
from openclaw_memory.lifecycle.promotion.planning import plan
from openclaw_memory.lifecycle.promotion.scoring import Piece, candidate, may_pass
from openclaw_memory.markdown.curated import parse_curated

NOW = datetime(2026, 5, 20, 6, 30, tzinfo=UTC)
RULES = PromotionConfig()


def piece(number: int) -> Piece:
    text = f"subject{number} lives at address{number} with colour{number}"
    days = tuple(date(2026, 5, day) for day in range(10, 20))
    return Piece(name_of(text), text, f"k#{number}", Recall("k", 9, ("a", "b", "c", "d"), days, NOW))


@given(entries=st.integers(0, 30), ours=st.integers(0, 30), new=st.integers(0, 15), budget=st.integers(1, 400))
def test_at_most_a_quarter_goes(entries: int, ours: int, new: int, budget: int) -> None:
    held = parse_curated("".join(f"- entry{number} says thing{number}\n" for number in range(entries)))
    promoted = {entry.digest: "x" for entry in held[:ours]}
    known = Known([entry.text for entry in held], ())
    judged = [candidate(piece(number), known, RULES, NOW, UTC) for number in range(new)]

    def count(text: str) -> int:
        return len(text.split()) + 1

    tokens = sum(count(f"- {entry.text}\n") for entry in held)
    made = plan(judged, held, promoted, {}, RULES, tokens=tokens, budget=budget, count=count)
    assert len(made.change.removed) <= len(held) / 4
    assert {entry.digest for entry in made.change.removed} <= promoted.keys()
    assert len(made.change.added) <= RULES.most_entries
    assert len(made.verdicts) == new
    if made.change.added:
        assert made.tokens <= budget
    else:
        assert not made.change.removed


def test_the_least_worth_goes_first() -> None:
    """What was recalled lately stays longer than what never was."""
    held = parse_curated("".join(f"- entry{number} says thing{number}\n" for number in range(8)))
    recent = Recall("k", 3, ("a",), (date(2026, 5, 19),), NOW)
    recalls = {name_of(entry.text): recent for entry in held if entry.text != "entry5 says thing5"}
    judged = [candidate(piece(1), Known([], ()), RULES, NOW, UTC)]
    promoted = {entry.digest: "x" for entry in held}
    made = plan(judged, held, promoted, recalls, RULES, tokens=100, budget=100, count=lambda text: 10)
    assert [entry.text for entry in made.change.removed] == ["entry5 says thing5"]


@given(
    count=st.integers(1, 6),
    questions=st.integers(1, 4),
    days=st.integers(1, 4),
    ago=st.floats(-1, 40),
    promoted=st.booleans(),
)
def test_what_may_not_pass_does_not(count: int, questions: int, days: int, ago: float, promoted: bool) -> None:
    """The quick look of a night's run leaves nothing out that would be promoted."""
    on = tuple(date(2026, 5, day) for day in range(1, days + 1))
    recall = Recall("k", count, tuple(map(str, range(questions))), on, NOW - timedelta(days=ago))
    one = Piece("n", piece(1).text, "k#1", recall)
    known = Known([], {"n"} if promoted else ())
    assert may_pass("n", recall, known, RULES, NOW) or not candidate(one, known, RULES, NOW, UTC).passes


@pytest.mark.parametrize("text", ["OPENAI_API_KEY=[已隐去: API 密钥]", "the door's code is [masked: password]"])
def test_what_a_secret_was_masked_in_is_no_entry(text: str) -> None:
    one = Piece("n", text, "k#1", piece(1).recall)
    judged = candidate(one, Known([], ()), RULES, NOW, UTC)
    assert [gate.name for gate in judged.gates if not gate.passed] == ["whole"]
