"""Which messages of a session are worth offering (seed 000 section 2.1)."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Protocol, TypeVar

from openclaw_memory.context.turns import units_of

RECENT_MESSAGES = 10
RELEVANT_MESSAGES = 3


class Said(Protocol):
    """A message, as far as its selection depends on it."""

    @property
    def role(self) -> str | None: ...

    @property
    def key(self) -> str: ...


Message = TypeVar("Message", bound=Said)


def select_history(
    messages: Sequence[Message],
    *,
    important: Collection[str] = (),
    relevant: Sequence[str] = (),
    recent: int = RECENT_MESSAGES,
) -> tuple[Message, ...]:
    """Select the last messages, those marked important, and the best of those that match the query, in order.

    `messages` are one session's, oldest first. `important` and `relevant` hold keys of messages; `relevant` is best
    first, of which the first three count. No message is selected twice. A tool's result comes with what called it, and
    with the call come all its results, so there may be some more than were asked for.
    """
    start = max(0, len(messages) - recent)
    wanted = {*important, *relevant[:RELEVANT_MESSAGES]}
    return tuple(
        messages[place]
        for unit in units_of([message.role for message in messages])
        if unit.stop > start or any(messages[place].key in wanted for place in unit)
        for place in unit
    )
