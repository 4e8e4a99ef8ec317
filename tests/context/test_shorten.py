"""Shortening to a number of tokens."""

from __future__ import annotations

from hypothesis import example, given, settings
from hypothesis import strategies as st

from openclaw_memory.context import EstimateCounter, TokenCounter
from openclaw_memory.context.shorten import MARK, bounded_count, shorten
from openclaw_memory.retrieval.cutting import safe_cut

TEXTS = st.lists(
    st.sampled_from(["word ", "好。", "👩‍👩‍👧", "line\n", "é", "x" * 30, " ", "\n", "<|endoftext|>"]), max_size=40
).map("".join)


@given(text=TEXTS, limit=st.integers(0, 60))
@example(text="👩‍👩‍👧" * 3, limit=12)
@settings(max_examples=150, deadline=None)
def test_shortened_text_fits_and_is_whole(text: str, limit: int) -> None:
    """What is kept fits, is the beginning of the text, ends in the mark, and cuts no grapheme."""
    counter = EstimateCounter()
    short = shorten(text, limit, counter, "user: ", "\n")
    if short is None:
        return
    assert counter.count(f"user: {short}\n") <= limit
    if short != text:
        kept = short.removesuffix(MARK)
        assert short.endswith(MARK)
        assert kept
        assert text.startswith(kept)
        assert safe_cut(text, len(kept)) == len(kept)


def test_cut_where_a_reader_would_stop(cl100k: TokenCounter) -> None:
    """A line's end comes before a sentence's, a sentence's before a word's, when it is near."""
    assert (
        shorten("The first line.\nThe second line. It goes on and on", 12, cl100k)
        == "The first line.\nThe second line.…"
    )
    assert shorten("one two three four five six seven eight nine", 5, cl100k) == "one two three four…"


def test_text_that_fits_is_kept(cl100k: TokenCounter) -> None:
    """Nothing is done to a text that fits."""
    assert shorten("short", 5, cl100k) == "short"
    assert shorten("", 1, cl100k) == ""


def test_no_room_at_all(cl100k: TokenCounter) -> None:
    """Where not even a grapheme and the mark fit, nothing is kept."""
    assert shorten("👩‍👩‍👧👩‍👩‍👧", 3, cl100k) is None
    assert shorten("word", 0, cl100k) is None


def test_giant_text_costs_no_more_than_what_is_used(cl100k: TokenCounter) -> None:
    """Of a text of ten million characters only a beginning is looked at."""

    class Watching:
        encoding, exact, seen = "watching", True, 0

        def count(self, text: str) -> int:
            self.seen += len(text)
            return cl100k.count(text)

    counter = Watching()
    assert bounded_count("some words " * 1_000_000, 100, counter) > 100
    assert shorten("some words " * 1_000_000, 100, counter) is not None
    assert counter.seen < 50_000
