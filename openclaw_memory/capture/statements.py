"""Whether a sentence states something that will still hold next month."""

from __future__ import annotations

import re
from itertools import chain

from openclaw_memory.capture import statements_en, statements_zh
from openclaw_memory.capture.reading import has_chinese
from openclaw_memory.capture.verdicts import Rule

_ENGLISH_CUE = re.compile(
    r"\b(?:i|my|we|our|team|calls?|always|never|stop|don't|do not|when|whenever|every|each|any|from|going|in|as|for)\b",
    re.IGNORECASE,
)
"""What every English statement holds: looked for first, since the rules cost far more."""


def find_statement(text: str) -> Rule | None:
    """Name the rule by which a sentence states something that lasts; None when it does not."""
    rules = chain(
        statements_zh.RULES if has_chinese(text) else (),
        statements_en.RULES if _ENGLISH_CUE.search(text) else (),
    )
    return next((rule for rule, pattern in rules if pattern.search(text)), None)
