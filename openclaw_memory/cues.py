"""A quick look at a message: may anything in it ask to be remembered? Most of what is said needs no further reading.

A cue says little by itself; what it comes to is the business of `capture.judge`. A message without any has no finding
there. Apart from `capture`, whose patterns take a while to be compiled.
"""

from __future__ import annotations

import re
import unicodedata

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
_CHINESE = re.compile(
    "[我咱俺你请记忘存写加叫别勿错改换定太点用]"
    "|以后|今后|往后|从现在|不要|不对|不是|不用|总是|永远|一律|必须|务必|喜欢|习惯|偏好|提醒|默认|统一"
)
_WORD = re.compile("[a-z]+")
_ASCII_WORDS = frozenset(word.encode() for word in _WORDS)
_LETTERS = bytes(ord(chr(code).lower()) if chr(code).isalpha() and code < 128 else 32 for code in range(256))
"""For `bytes.translate`: small letters of letters, and spaces for the rest."""


def may_ask(message: str) -> bool:
    """Tell whether a message has any cue at all."""
    if message.isascii():
        # Every message waits for this look; a search for words takes ten times as long.
        return not _ASCII_WORDS.isdisjoint(message.encode().translate(_LETTERS).split())
    plain = unicodedata.normalize("NFKC", message)
    return _CHINESE.search(plain) is not None or not _WORDS.isdisjoint(_WORD.findall(plain.lower()))
