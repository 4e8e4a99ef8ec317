"""Build the context for one read: what goes in, in which order of worth, never above the budget.

Pieces are counted one by one and taken in order of worth; then the one string that counts (`prompt_text`) is counted as
a whole, since counts of parts do not add up. If it is above the budget, what was taken last is given back; if tokens
are left, more is taken. So a budget is kept whatever the text, and no loop counts everything for each piece.

Order of worth: the last round of messages, profile facts, active tasks, the latest summary; then each part within its
share (other facts and MEMORY.md 10 %, older summaries and notes 5 %, recalled what these leave, history 60 %); then
whatever is left goes to recalled pieces, and after them to older history.
"""

from __future__ import annotations

from datetime import tzinfo

from contracts.prompt import prompt_text
from contracts.reading import MemoryContext
from openclaw_memory.context.choice import Choice
from openclaw_memory.context.material import Material
from openclaw_memory.context.recalled import Language
from openclaw_memory.context.tokens import TokenCounter

WORTH_FILLING = 16
"""Fewer free tokens than these are left alone: filling them costs another count of the whole."""


def build_context(
    material: Material,
    max_tokens: int,
    counter: TokenCounter,
    *,
    tz: tzinfo | None = None,
    language: Language = "zh",
) -> MemoryContext:
    """Choose from the material what fits into `max_tokens`, counted by `counter` on `prompt_text` of the result.

    Pieces go in whole or not at all; only the last message, the latest summary and the best recalled piece are
    shortened when they are too big (at a line, sentence or grapheme border, marked `…`). `tz` is the time zone of the
    dates in recalled pieces (None: the system's). What was left out is counted in `notice`.
    """
    choice = Choice(material, max_tokens, counter, tz, language)
    choice.fill_by_worth()
    context = choice.context()
    real = counter.count(prompt_text(context))
    if max_tokens - real >= WORTH_FILLING and choice.has_more():
        # Single counts add up to more than the whole: fill what that left free.
        choice.filler.correct(real)
        choice.fill_rest()
        context = choice.context()
        real = counter.count(prompt_text(context))
    while real > max_tokens:
        choice.filler.drop(real - max_tokens)
        context = choice.context()
        real = counter.count(prompt_text(context))
    return choice.finished(context, real)
