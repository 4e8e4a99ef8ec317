"""A quick look at a message: may anything in it ask to be remembered? Most of what is said needs no further reading.

A cue says little by itself; what it comes to is the business of `capture.judge`. A message without any has no finding
there. Apart from `capture`, whose patterns take a while to be compiled.
"""

from __future__ import annotations

import unicodedata

from openclaw_memory.glance import glance

# fmt: off
_WORDS = frozenset({
    "i", "im", "me", "my", "mine", "myself", "we", "us", "our", "ours", "let", "lets", "remember", "remembers",
    "memory", "memories", "memorize", "memorise", "note", "noted", "forget", "remind", "reminder", "mind",
    "record", "jot", "log", "save", "store", "keep", "write", "add", "put", "always", "never", "usually", "from",
    "now", "forward", "henceforth", "anymore", "please", "call", "prefer", "prefers", "preferred", "preference",
    "no", "not", "don", "dont", "stop", "wrong", "again", "instead", "actually", "correct", "corrected",
    "correction", "decided", "decision", "default", "everyone", "every", "make", "sure", "fyi", "btw", "too",
    "shorter", "longer", "less", "more", "must", "should", "use", "quote",
})
# fmt: on
_CHINESE = (
    "[我咱俺你请记忘存写加叫别勿错改换定太点用]"
    "|以后|今后|往后|从现在|不要|不对|不是|不用|总是|永远|一律|必须|务必|喜欢|习惯|偏好|提醒|默认|统一"
)
_SIDE = r"(?-u:\b|[0-9_])"
"""Where a word ends: beside anything but a small letter."""
_has_cue = glance(f"{_CHINESE}|{_SIDE}(?:{'|'.join(sorted(_WORDS))}){_SIDE}")


def may_ask(message: str) -> bool:
    """Tell whether a message has any cue at all."""
    if message.isascii():
        return _has_cue(message.lower())
    # As bytes: half of a character is none of ours, and what stands beside it is looked at.
    return _has_cue(unicodedata.normalize("NFKC", message).lower().encode("utf-8", "replace"))
