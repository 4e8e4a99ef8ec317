"""Whether a sentence states something that will still hold next month."""

from __future__ import annotations

from itertools import chain

from openclaw_memory.capture import statements_en, statements_zh
from openclaw_memory.capture.cued import small, words_of
from openclaw_memory.capture.reading import has_chinese
from openclaw_memory.capture.verdicts import Rule

_ENGLISH_WORDS = frozenset(
    b"i my we our team call calls always never stop don do when whenever every each any from going in as for".split()
)
"""One of these stands in every English statement: looked for first, since the rules cost far more."""


def find_statement(text: str) -> Rule | None:
    """Name the rule by which a sentence states something that lasts; None when it does not."""
    letters = small(text)
    rules = chain(
        statements_zh.RULES if has_chinese(text) else (),
        () if _ENGLISH_WORDS.isdisjoint(words_of(letters)) else statements_en.RULES,
    )
    return next((rule for rule, pattern in rules if pattern.search(text, letters)), None)
