"""What memory itself put into each session's last context: said again by the user, it is nothing new (fault 17)."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Sequence

from contracts import MemoryContext
from openclaw_memory.markdown.log_lines import is_in_prompt

SESSIONS = 256
"""Sessions whose last context is remembered; a program seldom has more going on at once."""


class Supplied:
    """The texts of each session's last context that are memory's own words, not the conversation's."""

    def __init__(self) -> None:
        self._texts: OrderedDict[str, tuple[str, ...]] = OrderedDict()

    def note(self, session: str, context: MemoryContext) -> None:
        """Take note of what a session has just been given."""
        self._texts[session] = _texts_of(context)
        self._texts.move_to_end(session)
        if len(self._texts) > SESSIONS:
            self._texts.popitem(last=False)

    def of(self, session: str | None) -> Sequence[str]:
        """Give what a session was given last."""
        return self._texts.get(session or "", ())


def _texts_of(context: MemoryContext) -> tuple[str, ...]:
    """Leave out what people said: who asks once more for the same thing to be remembered means it."""
    recalled = [
        text
        for text, citation in zip(context.recalled, context.citations, strict=False)
        if not citation.path.startswith("conversations/")
    ]
    noted = [text for text in context.notes if not is_in_prompt(text)]
    return (*context.facts, *context.memory, *noted, *context.summaries, *recalled)
