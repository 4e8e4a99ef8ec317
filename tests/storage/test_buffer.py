"""When documents are rewritten: after 2 seconds, at 50 entries of one, at 500 of all (seed 000 section 5.2).

A file that was just rewritten is left alone by its own count for four times what that took.
"""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from openclaw_memory.storage.buffer import FlushLimits, Waiting, is_sooner, next_flush, plan_flush

LIMITS = FlushLimits(interval=2.0, per_document=50, in_all=500)


def waiting_with(entries: st.SearchStrategy[int]) -> st.SearchStrategy[Waiting]:
    return st.builds(Waiting, entries, st.floats(0, 29), st.floats(0, 29), st.floats(0, 2))


@pytest.mark.parametrize(
    ("waiting", "now", "expected"),
    [
        ({}, 10.0, []),
        ({"a": Waiting(1, 9.0)}, 10.0, []),
        ({"a": Waiting(1, 8.0)}, 10.0, ["a"]),
        ({"a": Waiting(50, 10.0), "b": Waiting(49, 10.0)}, 10.0, ["a"]),
        ({str(n): Waiting(45, 10.0 - n / 100) for n in range(12)}, 10.0, [str(n) for n in reversed(range(12))]),
        ({"a": Waiting(50, 10.0, written=9.8, took=0.1)}, 10.0, []),
        ({"a": Waiting(50, 10.0, written=9.5, took=0.1)}, 10.0, ["a"]),
        ({"a": Waiting(50, 8.0, written=8.0, took=5.0)}, 10.0, ["a"]),
        ({"a": Waiting(500, 10.0, written=10.0, took=5.0)}, 10.0, ["a"]),
    ],
    ids=[
        "empty",
        "too-soon",
        "interval",
        "entries-of-one",
        "entries-of-all",
        "just-rewritten",
        "rewritten-before",
        "rewritten-slowly",
        "rewritten-slowly-and-all",
    ],
)
def test_what_is_due(waiting: dict[str, Waiting], now: float, expected: list[str]) -> None:
    """The longest waiting first."""
    assert plan_flush(waiting, now, LIMITS) == expected


@given(
    st.dictionaries(st.text("abc"), waiting_with(st.integers(1, 60)), max_size=8),
    st.floats(20, 30),
)
def test_next_flush_is_when_something_becomes_due(waiting: dict[str, Waiting], now: float) -> None:
    """Asked at the time that `next_flush` tells, `plan_flush` has something to do; never is it told too late."""
    at = next_flush(waiting, LIMITS)
    assert (at is None) == (not waiting)
    if at is not None:
        assert plan_flush(waiting, at + 1e-9, LIMITS)
        due = {path for path in waiting if waiting[path].since + LIMITS.interval < now}
        assert due <= set(plan_flush(waiting, now, LIMITS))


@given(
    st.dictionaries(st.text("abc"), waiting_with(st.integers(0, 55)), max_size=6),
    st.sampled_from("abc"),
    st.integers(1, 5),
    st.floats(20, 30),
)
def test_an_addition_that_is_not_sooner_changes_nothing_until_then(
    waiting: dict[str, Waiting], path: str, added: int, now: float
) -> None:
    """Who sleeps on, since `is_sooner` said so, misses no rewrite."""
    before = {name: one for name, one in waiting.items() if one.entries}
    at = next_flush(before, LIMITS)
    if plan_flush(before, now, LIMITS):
        return
    old = before.get(path, Waiting(0, now))
    after = {**before, path: replace(old, entries=old.entries + added)}
    in_all = sum(one.entries for one in after.values())
    if not is_sooner([after[path]], in_all, at, LIMITS):
        assert plan_flush(after, now, LIMITS) == []
        assert next_flush(after, LIMITS) == at


@given(st.dictionaries(st.text("abc"), waiting_with(st.integers(1, 200)), max_size=6), st.floats(29, 40))
def test_a_pause_delays_no_file_beyond_the_interval(waiting: dict[str, Waiting], now: float) -> None:
    """Nor beyond four times what its rewrite took, nor at all where there are 500 entries; nothing comes sooner."""
    due, without = (
        set(plan_flush(all_of, now, LIMITS))
        for all_of in (waiting, {path: replace(one, took=0.0) for path, one in waiting.items()})
    )
    assert due <= without
    for path in without - due:
        one = waiting[path]
        assert now < one.since + LIMITS.interval
        assert now < one.written + 4 * one.took
        assert sum(other.entries for other in waiting.values()) < LIMITS.in_all
