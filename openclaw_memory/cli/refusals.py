"""What memory refuses, in the language of the terminal; the events, and so programs and models, have it in English."""

from __future__ import annotations

import os
import re

from openclaw_memory.cli.words import language_of

_FIELD = r"(?:(?P<field>[\w.\[\]]+): )?"


def refusal(text: str) -> str:
    """Give the words of a refusal in the language of the terminal; words that are not known stay as they are."""
    if language_of(os.environ) != "zh":
        return text
    # Only now: the patterns take some milliseconds.
    from openclaw_memory.cli.zh_refusals import REFUSALS

    for english, chinese in REFUSALS.items():
        found = re.fullmatch(_FIELD + "(.+)".join(map(re.escape, english.split("{}"))), text, re.DOTALL)
        if found is not None:
            field, *values = found.groups()
            said = chinese.format(*values)
            return f"{field}: {said}" if field else said
    return text
