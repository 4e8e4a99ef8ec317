"""Cut text into the terms that it can be found by.

Indexing and asking use the same cut (`terms`), so whatever stands in a text can be asked for. Stop words are indexed
like any other word; they are left out of a *question* (`query_terms`), and only as long as something else is left
of it. So "what is it" still finds the message that says just that: a stop list must never make a memory unfindable.
"""

from __future__ import annotations

import re
import unicodedata
from functools import lru_cache
from operator import add

from openclaw_memory.retrieval.stopwords import OPERATORS, STOP_WORDS

# Scripts that are written without spaces: Han, kana, Hangul (spaced, but with endings glued on), Thai, Lao, Myanmar,
# Khmer. Each run of them is cut into single characters and bigrams.
_RUN = (
    "\u3005-\u3007\u3041-\u3096\u3099\u309a\u309d\u309e\u30a1-\u30fa\u30fc-\u30ff\u31f0-\u31ff"
    "\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003ffff"
    "\u1100-\u11ff\u3131-\u318e\uac00-\ud7af"
    "\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff"
)
_WORD = f"[^\\W_{_RUN}]+"
_TOKEN = re.compile(
    f"(?P<run>[{_RUN}]+)"
    f"|(?P<word>{_WORD}(?:[-_.:/@+]{_WORD})*(?:\\+\\+|\\#(?!\\w))?)"
)  # fmt: skip
_ASCII_TOKEN = re.compile(r"[A-Za-z0-9]+(?:[-_.:/@+][A-Za-z0-9]+)*(?:\+\+|\#(?!\w))?")
"""What `_TOKEN` comes to in a text that has nothing but ASCII."""
_PART = re.compile(r"[^\W\d_]+|\d+")
_JOINT = re.compile(r"[-_.:/@+#]+")
_HUMP = re.compile(r"(?<=[a-z0-9])(?=[A-Z])")
_THOUSANDS = re.compile(r"(?<=\d),(?=\d{3}(?!\d))")


# Every suffix that one of the stemmer's steps looks for ends in one of these (Porter 2, as of Snowball 3.1).
_ENDINGS = (
    *("s", "y", "e", "ed", "ing", "er", "al", "ic", "ant", "ent", "sion", "tion", "ful", "ism", "ogist", "ator", "ll"),
    *("li", "nci", "ogi", "iti"),
)

LONGEST_WORD = 100
"""A longer "word" is a long address or a blob: it is found by its parts, not as a whole."""


def fold(text: str) -> str:
    """Bring text to the form in which it is compared: NFKC, then case folded."""
    return unicodedata.normalize("NFKC", text).casefold()


def terms(text: str) -> list[str]:
    """Give every term of a text, in order, repeated as often as it occurs.

    Runs of Chinese, Japanese and Korean give each character and each pair of neighbours. Words are stemmed (English).
    Identifiers are given whole and in parts: `DEC-0054`, `gpt-4`, `C#`, `v22.11.0`, `foo_bar`, `MemoryWrite`. Digits
    give a term with the character that follows (`5月`). Punctuation, emoji and white space give nothing.
    """
    found: list[str] = []
    if text.isascii():
        for word in _ASCII_TOKEN.findall(_THOUSANDS.sub("", text) if "," in text else text):
            found += _word_terms(word) if len(word) <= LONGEST_WORD else _long_word_terms(word)
        return found
    # NFKC without case folding first: the humps of `camelCase` are parts.
    plain = unicodedata.normalize("NFKC", text)
    if "," in plain:
        plain = _THOUSANDS.sub("", plain)
    digits_end, digits = -1, ""
    for match in _TOKEN.finditer(plain):
        if match.lastgroup == "run":
            run = match.group()
            if match.start() == digits_end:
                found.append(digits + run[0])
            found += run
            found += map(add, run, run[1:])
            continue
        word = match.group()
        found += _word_terms(word) if len(word) <= LONGEST_WORD else _long_word_terms(word)
        digits = word if word.isdigit() else ""
        digits_end = match.end() if digits else -1
    return found


def query_terms(text: str) -> list[str]:
    """Give the different terms of a question, in order, without stop words unless it has nothing else.

    A question of nothing but search syntax in capitals (`NOT`) asks for nothing, like one of punctuation.
    """
    if all(word in OPERATORS for word in re.findall(r"\w+", text)):
        return []
    every = list(dict.fromkeys(terms(text)))
    telling = [term for term in every if term not in STOP_WORDS]
    return telling or every


def is_identifier(term: str) -> bool:
    """Tell whether a term is a name or number that is asked for exactly (`dec-0054`, `c#`, `v22.11.0`, `5432`)."""
    return len(term) > 1 and any(char.isdigit() or char in "-_.:/@+#" for char in term)


@lru_cache(maxsize=65_536)
def _word_terms(word: str) -> tuple[str, ...]:
    """Give the terms of one word or identifier: whole, then its parts."""
    if word.isascii() and word.isalpha() and (word.islower() or word.istitle() or word.isupper()):
        # Most words are in one piece.
        return (_stem(word.lower()),)
    return _identifier_terms(word)


def _identifier_terms(word: str) -> tuple[str, ...]:
    whole = word.casefold()
    parts = _parts(word)
    given = [_stem(part) for part in parts]
    if len(parts) > 1 or whole not in parts:
        given.insert(0, whole)
        # A word in one piece is found by the whole as well when only humps or digits part it (`gpt4`, `MemoryWrite`).
    given += [part.lstrip("0") for part in parts if part.startswith("0") and part.strip("0")]
    bare = _without_accents(whole)
    if bare != whole:
        given.append(_stem(bare))
    return tuple(given)


def _long_word_terms(word: str) -> list[str]:
    """Give the terms of a word's parts; those that are too long themselves as they are."""
    return [term for part in _parts(word) for term in (_word_terms(part) if len(part) <= LONGEST_WORD else (part,))]


def _parts(word: str) -> list[str]:
    """Split an identifier at its joints and humps, and between letters and digits."""
    return [
        piece.casefold()
        for joined in _JOINT.split(word)
        for hump in _HUMP.split(joined)
        for piece in _PART.findall(hump)
    ]


def _without_accents(word: str) -> str:
    if word.isascii():
        return word
    return "".join(char for char in unicodedata.normalize("NFKD", word) if not unicodedata.combining(char))


@lru_cache(maxsize=65_536)
def _stem(word: str) -> str:
    """Cut the English ending off a word; other words, and stop words, stay as they are."""
    if not word.endswith(_ENDINGS):
        # The stemmer takes thirty microseconds to find that out.
        return word
    if len(word) < 3 or not word.isascii() or not word.isalpha() or word in STOP_WORDS:
        return word
    # Imported here: the package loads the stemmers of thirty languages. A new stemmer a word, since it holds state
    # and searches may run in threads; that costs half a microsecond.
    from snowballstemmer.english_stemmer import EnglishStemmer  # type: ignore[import-untyped]

    stemmed: str = EnglishStemmer().stemWord(word)
    return stemmed
