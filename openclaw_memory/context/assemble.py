"""Build the context for one read: what goes in, in which order of worth, never above the budget.

Pieces are counted one by one and taken in order of worth; then the one string that counts (`prompt_text`) is counted as
a whole, since counts of parts do not add up. If it is above the budget, what is worth least is given back; if tokens
are left, more is taken. So a budget is kept whatever the text, and no loop counts everything for each piece.

Order of worth: the last round of messages, profile facts, active tasks, the latest summary, each as a whole before
anything of the next. When little is left then, recalled pieces follow, and older history. When there is more, each part
has its share first (other facts and MEMORY.md 10 %, older summaries and notes 5 %, history 60 %, recalled what these
leave), and what is left goes to recalled pieces, after them to older history, then to the rest. What calls tools and
their results go in together or not at all.
"""

from __future__ import annotations

from datetime import tzinfo

from contracts.reading import MemoryContext
from openclaw_memory.context.choice import Choice
from openclaw_memory.context.material import Material
from openclaw_memory.context.recalled import Language
from openclaw_memory.context.tokens import TokenCounter

ROUNDS = 4
"""So often what single counts got wrong is put right by filling again; after that things are only given back."""


def build_context(
    material: Material,
    max_tokens: int,
    counter: TokenCounter,
    *,
    tz: tzinfo | None = None,
    language: Language = "zh",
) -> MemoryContext:
    """Choose from the material what fits into `max_tokens`, counted by `counter` on `prompt_text` of the result.

    Pieces go in whole or not at all; only the last round, the latest summary and the best recalled piece are
    shortened when they are too big (at a line, sentence or grapheme border, marked `…`). `tz` is the time zone of the
    dates in recalled pieces (None: the system's). What was left out is counted in `notice`.
    """
    choice = Choice(material, max_tokens, counter, tz, language)
    choice.fill_by_worth()
    real = choice.count()
    for _ in range(ROUNDS):
        before = choice.filler.version
        if real > max_tokens:
            choice.filler.drop(real - max_tokens)
            real = choice.count()
        if not choice.has_more() or (before == choice.filler.version and choice.filler.is_right(real)):
            break
        # Single counts add up to more than the whole, or what was given back left room for something smaller.
        choice.filler.correct(real)
        choice.fill_rest()
        if choice.filler.version == before:
            break
        real = choice.count()
    while real > max_tokens:
        choice.filler.drop(real - max_tokens)
        real = choice.count()
    return choice.finished(choice.context(), real)
