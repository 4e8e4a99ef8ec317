"""What is dropped first when a context is too long (seed 000 section 3.3)."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import UTC, datetime
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
import yaml
from hypothesis import given, settings
from hypothesis import strategies as st

from contracts.prompt import prompt_text
from contracts.reading import Citation, HistoryMessage, MemoryContext
from openclaw_memory.context.truncation import STEPS, Remains, remains_of, truncate
from openclaw_memory.context.turns import units_of

NOW = datetime(2026, 5, 4, 12, tzinfo=UTC)
ROLES = {"u": "user", "a": "assistant", "t": "tool", "s": "system"}
CASES = yaml.safe_load((Path(__file__).parent / "truncation.yaml").read_text(encoding="utf-8"))


@dataclass
class LineCounter:
    """Counts a token a line, and how often it was asked."""

    encoding: str = "lines"
    asked: list[int] = field(default_factory=list)

    def count(self, text: str) -> int:
        self.asked.append(len(text))
        return len(text.split("\n")) if text else 0


def context_of(
    facts: int = 0, summaries: int = 0, notes: int = 0, recalled: int = 0, history: str = ""
) -> MemoryContext:
    return MemoryContext(
        facts=tuple(f"fact {n}" for n in range(facts)),
        tasks=(),
        summaries=tuple(f"summary {n}" for n in range(summaries)),
        notes=tuple(f"note {n}" for n in range(notes)),
        recalled=tuple(f"piece {n}" for n in range(recalled)),
        citations=tuple(
            Citation(path=f"{n}.md", start_line=1, end_line=1, layer="fact", key=str(n), score=1.0)
            for n in range(recalled)
        ),
        history=tuple(
            HistoryMessage(role=ROLES[role], content=f"message {n}", timestamp=NOW, key=f"k{n}")
            for n, role in enumerate(history)
        ),
        degraded=False,
    )


def places(texts: tuple[str, ...]) -> list[int]:
    return [int(text.rpartition(" ")[2]) for text in texts]


@pytest.mark.parametrize("case", CASES, ids=[case["name"] for case in CASES])
def test_order_of_the_seed(case: dict[str, Any]) -> None:
    """Each case of the table: what stays within the limit."""
    given_parts = dict(case["given"])
    own = frozenset(given_parts.pop("own_session", ()))
    context = context_of(**given_parts)
    left, fits = truncate(context, case["limit"], LineCounter(), own_session=own)
    got = {
        "summaries": places(left.summaries),
        "notes": places(left.notes),
        "recalled": places(left.recalled),
        "history": [int(message.key[1:]) for message in left.history],
    }
    assert got == {"summaries": [], "notes": [], "recalled": [], "history": [], **case["left"]}
    assert fits == case.get("fits", True)
    assert left.facts == context.facts
    assert [citation.key for citation in left.citations] == [str(place) for place in got["recalled"]]
    assert left.truncated == (left != context)


def stepwise(context: MemoryContext, limit: int) -> MemoryContext:
    """Truncate as the seed's loop does, one step and one count at a time, over lists."""
    summaries, notes, history, recalled = (
        list(part) for part in (context.summaries, context.notes, context.history, context.recalled)
    )

    def now() -> MemoryContext:
        return context.model_copy(
            update={
                "summaries": tuple(summaries),
                "notes": tuple(notes),
                "history": tuple(history),
                "recalled": tuple(recalled),
                "citations": context.citations[: len(recalled)],
            }
        )

    while LineCounter().count(prompt_text(now())) > limit:
        if len(summaries) > 1:
            summaries.pop(0)
        elif len(notes) > 1:
            notes.pop(0)
        elif len(history) > 4:
            del history[2:4]
        elif recalled:
            recalled.clear()
        else:
            history[:] = history[-2:]
            break
    return now()


@given(
    st.integers(0, 3),
    st.integers(0, 6),
    st.integers(0, 4),
    st.integers(0, 4),
    st.text(alphabet="ua", max_size=24),
    st.integers(0, 40),
)
@settings(deadline=None, max_examples=300)
def test_as_the_seeds_loop(facts: int, summaries: int, notes: int, recalled: int, history: str, limit: int) -> None:
    """Without tools the result is that of the seed's loop, found with a logarithm of its counts."""
    context = context_of(facts, summaries, notes, recalled, history)
    counter = LineCounter()
    left, _ = truncate(context, limit, counter)
    assert left.model_copy(update={"truncated": False}) == stepwise(context, limit)
    assert len(counter.asked) <= 8


HISTORIES = st.text(alphabet="uats", max_size=20)


@given(HISTORIES, st.integers(0, 20))
@settings(deadline=None, max_examples=300)
def test_calls_and_results_are_never_parted(history: str, limit: int) -> None:
    """What is left are whole groups: each result is there with what stood before it."""
    left, fits = truncate(context_of(history=history), limit, LineCounter())
    kept = [int(message.key[1:]) for message in left.history]
    for unit in units_of([ROLES[role] for role in history]):
        assert set(unit) <= set(kept) or not set(unit) & set(kept)
    assert kept == sorted(kept)
    assert fits == (len(kept) <= limit)
    if len(history) > 2:
        assert len(kept) >= 2
        assert kept[-1] == len(history) - 1


@given(HISTORIES, st.integers(0, 5), st.integers(0, 5), st.integers(0, 5))
@settings(deadline=None, max_examples=150)
def test_each_step_leaves_less(history: str, summaries: int, notes: int, recalled: int) -> None:
    """Every step drops something and brings nothing back, so the first that fits can be found by halves."""
    units = tuple(tuple(unit) for unit in units_of([ROLES[role] for role in history]))
    whole = Remains(tuple(range(summaries)), tuple(range(notes)), units, tuple(range(recalled)))
    steps = list(remains_of(whole))
    for more, less in pairwise(steps):
        pairs = [(more.summaries, less.summaries), (more.notes, less.notes), (more.history, less.history)]
        pairs.append((more.recalled, less.recalled))
        assert all(set(smaller) <= set(larger) for larger, smaller in pairs)
        assert any(set(smaller) < set(larger) for larger, smaller in pairs)
    assert all(rule(steps[-1]) is None for rule in STEPS)


def test_long_history_is_halved_not_walked() -> None:
    """Ten thousand messages cost some fifteen counts."""
    counter = LineCounter()
    left, fits = truncate(context_of(history="ua" * 5_000), 100, counter)
    assert (len(left.history), fits) == (100, True)
    assert len(counter.asked) <= 16
