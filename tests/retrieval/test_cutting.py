"""Where texts may be cut."""

from __future__ import annotations

import pytest
import regex  # type: ignore[import-untyped]
from hypothesis import given, settings
from hypothesis import strategies as st

from openclaw_memory.retrieval.cutting import safe_cut, snippet, trimmed_cut

CLUSTERS = ["a", "好", " ", "\r\n", "é", "👩‍👩‍👧", "🇨🇳", "👍🏽", "1️⃣", "각", "สวั"]


@given(st.lists(st.sampled_from(CLUSTERS), max_size=12), st.integers(-2, 60))
@settings(deadline=None)
def test_cut_is_a_grapheme_border(clusters: list[str], end: int) -> None:
    """The cut is the last border at or before the place asked for."""
    text = "".join(clusters)
    borders = [0, *(match.end() for match in regex.finditer(r"\X", text))]
    assert safe_cut(text, end) == max(border for border in borders if border <= max(0, end))


RUNS = ["🇨🇳🇫🇷", "e" + "\u0301" * 30, "👩‍👩‍👧", "！\ufe01", "\u0600 ", " \u0301", "각", "好人", "ab"]


@given(st.lists(st.tuples(st.sampled_from(RUNS), st.integers(1, 60)), max_size=4), st.floats(0, 1))
@settings(deadline=None)
def test_long_runs_are_cut_between_graphemes(runs: list[tuple[str, int]], part: float) -> None:
    """A row of a hundred flags, or a letter under thirty marks, is cut at a border too, with white space or without."""
    text = "".join(cluster * times for cluster, times in runs)
    borders = [0, *(match.end() for match in regex.finditer(r"\X", text))]
    end = int(len(text) * part)
    assert safe_cut(text, end) == max(border for border in borders if border <= end)
    trimmed = trimmed_cut(text, end)
    assert trimmed in borders
    assert trimmed <= end
    assert text[:trimmed] == text[:trimmed].rstrip()


@pytest.mark.parametrize("length", [1, 2, 3, 7, 8, 9, 30])
def test_snippet_is_short_enough_and_whole(length: int) -> None:
    """A snippet has at most its length, ends in the mark, and holds no half emoji."""
    text = "看👩‍👩‍👧这里 and there"
    short = snippet(text, length)
    assert len(short) <= length
    assert short == text if len(text) <= length else short.endswith("…")
    assert "\u200d…" not in short
