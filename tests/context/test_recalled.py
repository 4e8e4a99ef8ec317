"""How recalled pieces are written."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC
from zoneinfo import ZoneInfo

from openclaw_memory.context import recalled_text
from openclaw_memory.context.recalled import line_of, pieces_of
from openclaw_memory.retrieval import Hit

MakeHit = Callable[..., Hit]


def written(*hits: Hit) -> list[str]:
    lines = {hit.block.identity: line_of(hit.block, "en") for hit in hits}
    return [piece.text for piece in pieces_of(hits, lines, UTC)]


def test_date_once_then_the_lines(hit: MakeHit) -> None:
    """A message with its neighbours: the day once, the messages in the order in which they were said."""
    first, second = hit("What drink?", 1), hit("Oolong", 2, role="assistant")
    assert recalled_text(second.block, [first.block], UTC, "en") == "2026-05-04\nUser: What drink?\nAgent: Oolong"
    assert recalled_text(first.block, [], UTC, "zh") == "2026-05-04\n用户: What drink?"


def test_neighbouring_hits_are_one_piece(hit: MakeHit) -> None:
    """Hits of one session and day are merged under one date, in order; a gap is marked."""
    assert written(hit("b", 2), hit("a", 1), hit("z", 9)) == ["2026-05-04\nUser: a\nUser: b\n…\nUser: z"]


def test_sessions_and_days_stay_apart(hit: MakeHit) -> None:
    """Other sessions are other pieces, in the order of their best hits."""
    assert written(hit("b", 2, session="s2"), hit("a", 1), hit("c", 3, session="s2")) == [
        "2026-05-04\nUser: b\nUser: c",
        "2026-05-04\nUser: a",
    ]


def test_day_is_the_users(hit: MakeHit) -> None:
    """The date is that of the user's time zone."""
    late = hit("late", 60 * 6)
    assert recalled_text(late.block, [], ZoneInfo("Asia/Shanghai"), "en").startswith("2026-05-05\n")


def test_fact_says_where_it_stands(hit: MakeHit) -> None:
    """What is no message carries its file and section."""
    fact = hit("- 语言: Go", 1, layer="fact", path="facts/stack.md", section="技术栈", role=None, time=None)
    assert recalled_text(fact.block, [], UTC, "en") == "facts/stack.md 技术栈\n- 语言: Go"


def test_citation_spans_the_piece(hit: MakeHit) -> None:
    """The address is the best hit's, from the piece's first line to its last."""
    hits = [hit("b", 3, 0.9), hit("a", 1, 0.5)]
    (piece,) = pieces_of(hits, {one.block.identity: one.block.text for one in hits}, UTC)
    assert (piece.citation.key, piece.citation.score) == ("c.md#m3", 0.9)
    assert (piece.citation.start_line, piece.citation.end_line) == (7, 23)
