"""Values whose names tell that they are secret: the value of a fact, the text below a title. Also several words."""

from __future__ import annotations

import re
from collections.abc import Iterable

from openclaw_memory.masking.kinds import PLACEHOLDER_BEGINS, Kind
from openclaw_memory.masking.names import named
from openclaw_memory.masking.values import NO_PASSWORDS, is_secret

MOST_WORDS = 8
"""Words of a passphrase; more are a sentence."""

MOST_SEED_WORDS = 24
"""Words of a recovery phrase (BIP 39)."""

# fmt: off
_FINE_IN_PHRASES = frozenset({
    # What is no password alone may be a word of a phrase: nouns and adjectives, as lists of words have.
    "correct", "long", "short", "easy", "hard", "simple", "open", "safe", "secret", "lost", "gone", "fine", "random",
    "number", "important", "public", "private", "wrong", "true", "string", "ready", "empty", "blank", "hidden", "field",
    "vault", "text", "secure", "strong", "weak", "limited", "visible", "working", "okay", "unique",
})
_IN_SENTENCES = frozenset({
    "a", "an", "is", "are", "was", "were", "by", "as", "under", "into", "then", "than", "until", "before", "after",
    "see", "ask", "asks", "asked", "keep", "keeps", "kept", "change", "changes", "stored", "stores", "rotates",
    "expires", "passwords", "passphrases", "must", "should", "can", "may", "will", "does", "do", "did", "no", "yes",
    "last", "every", "each", "week", "month", "year", "characters", "letters", "digits", "words", "minimum", "maximum",
})
# fmt: on
_SPEAKS = (NO_PASSWORDS - _FINE_IN_PHRASES) | _IN_SENTENCES
_WORD = re.compile(r"[!-~]{1,200}")
_SEEDS = re.compile(r"(?:recovery|seed) phrase|助记词", re.IGNORECASE)


def kind_of_value(names: Iterable[str], value: str, *, loose: bool = False) -> Kind | None:
    """Tell what kind of secret a whole value is, of which a name tells; None when it is none.

    `loose`: the names are not its own, but those of what it stands in. Then less counts as a secret.
    """
    value = value.strip()
    words = value.split()
    if loose and not (_WORD.fullmatch(value) if len(words) == 1 else value == value.lower()):
        return None
    for name in names:
        kind = named(name)
        if kind is not None and len(words) == 1 and is_secret(value, kind, explicit=True):
            return kind
        most = MOST_SEED_WORDS if _SEEDS.search(name) else MOST_WORDS
        if kind == "password" and len(words) > 1 and is_phrase(words, most):
            return kind
    return None


def is_phrase(words: list[str], most: int) -> bool:
    """Tell whether some words are a passphrase, and no sentence: the words that make one are in none.

    Two words are one only when a digit or sign is in them: `Face ID` is none.
    """
    if len(words) > most or not all(map(_WORD.fullmatch, words)) or words[0].startswith(PLACEHOLDER_BEGINS):
        return False
    plain = [word.strip(".,;:!?()'\"").lower() for word in words]
    if any(word in _SPEAKS for word in plain) or sum(map(len, words)) < 8:
        return False
    numbers = sum(word.isdecimal() for word in plain)
    return len(words) > 2 or (not numbers and any(is_secret(word, "password", explicit=False) for word in words))
