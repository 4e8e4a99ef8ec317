"""Filling a budget."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from openclaw_memory.context.fill import most_words


@given(st.text(st.sampled_from("ab \n\t\u3000\u00a0")))
def test_no_text_has_more_words(text: str) -> None:
    """What is told without looking at a text is never below the number of its words."""
    assert len(text.split()) <= most_words(text)
