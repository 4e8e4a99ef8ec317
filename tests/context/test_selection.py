"""Which messages of a session are offered."""

from __future__ import annotations

from collections.abc import Callable

from contracts.reading import HistoryMessage
from openclaw_memory.context import select_history


def test_recent_important_and_relevant_in_order(message: Callable[..., HistoryMessage]) -> None:
    """The last ten, the marked, and the best three that match, each once, oldest first."""
    messages = [message(f"m{n}", n) for n in range(40)]
    chosen = select_history(
        messages, important=["c.md#m3", "c.md#m39"], relevant=["c.md#m20", "c.md#m7", "c.md#m31", "c.md#m9"]
    )
    assert [one.content for one in chosen] == ["m3", "m7", "m20", *(f"m{n}" for n in range(30, 40))]


def test_short_session_is_whole(message: Callable[..., HistoryMessage]) -> None:
    """A session of fewer messages is offered as it is."""
    messages = [message("a", 1), message("b", 2)]
    assert select_history(messages) == tuple(messages)
    assert select_history([]) == ()
