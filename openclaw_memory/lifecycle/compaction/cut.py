"""Where a history is cut: which messages stay as they are. Pure."""

from __future__ import annotations

from collections.abc import Sequence

from openclaw_memory.config import CompactionConfig
from openclaw_memory.context.turns import units_of


def threshold(window: int, rules: CompactionConfig) -> int:
    """Give the tokens above which a session is compacted: the window less the reserve for what is still to come.

    In a small window the reserve is half of it at most, or there would be no room left to talk in.
    """
    return window - min(rules.reserve_tokens, window // 2)


def first_kept(roles: Sequence[str], tokens: Sequence[int], rules: CompactionConfig, *, room: int | None) -> int:
    """Give the place of the first message that stays; 0 when all of them do.

    A fifth of the messages stay, at least four (seed 004 section 3.3), and of the newest as many as `keep_tokens` hold,
    or a quarter of the `room` where that is less. A tool's result stays with the call that it answers.

    Parameters: `roles` and `tokens` of the messages, oldest first; `room`, tokens that the session may have, None where
    that is not known: then what the tokens would keep is not asked for.
    """
    count = len(roles)
    kept = max(rules.keep_messages, int(count * rules.keep_share))
    start = max(0, count - kept)
    if room is not None:
        left = min(rules.keep_tokens, room // 4) - sum(tokens[start:])
        while start and (left := left - tokens[start - 1]) >= 0:
            start -= 1
    return unit_start(roles, start)


def unit_start(roles: Sequence[str], place: int) -> int:
    """Give the beginning of what must not be parted at a place: a call and its results."""
    return next((unit.start for unit in units_of(roles) if place in unit), len(roles)) if place < len(roles) else place
