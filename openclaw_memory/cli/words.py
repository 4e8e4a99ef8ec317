"""What the commands say, in the language of the terminal.

The English words stand where they are said; `zh.py` has the Chinese ones, by the English. A dictionary and no gettext:
its catalogues are compiled files that a change of a word leaves behind, and a test holds a dictionary in step.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Any, Literal

from openclaw_memory.cli.zh import SAID

Language = Literal["zh", "en"]


def language_of(environ: Mapping[str, str]) -> Language:
    """Give the language that the environment asks for, by the rules of POSIX; English where it asks for another."""
    for name in ("LC_ALL", "LC_MESSAGES", "LANG"):
        if environ.get(name):
            return "zh" if environ[name].lower().startswith("zh") else "en"
    return "en"


def say(english: str, /, **values: Any) -> str:
    """Give a sentence in the language of the terminal, with values in its places (`{name}`)."""
    text = SAID.get(english, english) if language_of(os.environ) == "zh" else english
    return text.format(**values) if values else text
