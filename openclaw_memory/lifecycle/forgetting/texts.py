"""Does a text say this? Compared folded, and through every way in which our files escape what they hold. Pure."""

from __future__ import annotations

import codecs
import re
import unicodedata
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cache
from itertools import accumulate, pairwise
from urllib.parse import unquote

from openclaw_memory.markdown.items import matching
from openclaw_memory.markdown.text import decode

LEAST_CHARS = 2
"""Letters and digits that a text to forget has at least: a single one stands in nearly everything."""

_CHUNK = 200_000
"""Bytes, or characters, that are looked at at a time; a thread that takes more would hold up all others."""
_LONGEST = 4
"""A character may be written as so many more by the ways of escaping (`%E4%BD%A0`, `\\u4f60`); times the needle."""
_TEXT_BYTES = 8_388_608
"""A larger file is looked through as UTF-8 alone: documents in other encodings are never larger."""
_HEAD = 8_192
"""So many bytes of a file tell whether it is a text."""

_WHITE = rb"(?:\s|\xe3\x80\x80|\\)+"
_FULL_WIDTH = 0xFEE0
"""From an ASCII character to the one of full width."""
_GONE = dict.fromkeys(map(ord, "\\\u200b\u200c\u200d\ufeff\u00ad"))
_AS_BREAKS = {ord("⏎"): " ", ord("␍"): " "}
_QUOTED = re.compile(r'"((?:[^"\\]|\\.)*)"')
_ESCAPES = re.compile(r"\\+(?:u([0-9a-fA-F]{4})|([nrtbf]))")


def folded(text: str) -> str:
    """Give the form in which texts are compared.

    NFKC, case folded; white space of any kind and length is one space, backslashes and what can't be seen do not count.
    """
    if text.isascii():
        plain = text.lower().replace("\\", "")
    else:
        plain = unicodedata.normalize("NFKC", unicodedata.normalize("NFKC", text).casefold())
        plain = plain.translate(_GONE).translate(_AS_BREAKS)
    return " ".join(plain.split())


def unescaped(text: str) -> str:
    """Read what JSON writes with a backslash, in whatever depth of JSON within JSON."""

    def plain(match: re.Match[str]) -> str:
        return chr(int(match[1], 16)) if match[1] else " "

    read = _ESCAPES.sub(plain, text)
    # Two halves of a character belong together.
    return read.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")


def significant(text: str) -> int:
    """Count the letters and digits of a text, as it is compared."""
    return sum(map(str.isalnum, folded(text)))


@dataclass(frozen=True, slots=True)
class Needle:
    """A text that is looked for: folded, and as it was given."""

    text: str
    given: str = field(default="", compare=False)

    @classmethod
    def of(cls, text: str) -> Needle:
        return cls(folded(text), " ".join(text.split()))

    def within(self, text: str) -> bool:
        """Tell whether a text says it, also as an escaped text would."""
        if self.text in folded(text):
            return True
        if "\\" in text and self.text in folded(unescaped(text)):
            return True
        return "%" in text and self.text in folded(unquote(text))

    def lines(self, lines: Sequence[str]) -> set[int]:
        """Give the numbers of the lines, from 1, that say it, also where it goes on over several of them."""
        parts = [folded(line) for line in lines]
        numbers = [number for number, part in enumerate(parts, start=1) if part]
        kept = [part for part in parts if part]
        ends = list(accumulate(len(part) + 1 for part in kept))
        whole = " ".join(kept)
        found: set[int] = set()
        at, place = whole.find(self.text), 0
        while at >= 0:
            while ends[place] <= at:
                place += 1
            last = place
            while ends[last] < at + len(self.text):
                last += 1
            found.update(numbers[place : last + 1])
            at = whole.find(self.text, at + 1)
        return found

    def in_bytes(self, data: bytes) -> bool:
        """Tell whether a file says it, whatever it is: text in any encoding that is kept, JSON, a database."""
        overlap = _LONGEST * 6 * len(self.text) + 256
        if any(self._in_part(part) for part in parts(data, overlap)):
            return True
        text = _in_another_encoding(data)
        return text is not None and any(
            self.within(text[at : at + _CHUNK + overlap]) for at in range(0, len(text), _CHUNK)
        )

    def _in_part(self, part: bytes) -> bool:
        if b"\0" not in part:
            return self.within(part.decode("utf-8", "ignore"))
        # A database, where texts stand as they are, between what is none: to fold that would take ten times as long.
        return _in_database(self.text, self.given or self.text).search(part) is not None


@cache
def _in_database(text: str, given: str) -> re.Pattern[bytes]:
    """Make what finds a text, folded or as given, among bytes: of any case and width, with any white space."""
    ways = dict.fromkeys([text, given])
    return re.compile(b"|".join(b"".join(_WHITE if char == " " else _forms(char) for char in way) for way in ways))


def _forms(char: str) -> bytes:
    forms = {char, char.upper(), char.title()}
    if char.isascii() and char != " ":
        forms |= {chr(ord(form) + _FULL_WIDTH) for form in forms if "!" <= form <= "~"}
    encoded = [re.escape(form.encode()) for form in sorted(forms)]
    return encoded[0] if len(encoded) == 1 else b"(?:" + b"|".join(encoded) + b")"


def parts(data: bytes, overlap: int) -> Iterator[bytes]:
    """Give a file in parts that overlap by so many bytes: a call over all of it would hold up all other threads."""
    for at in range(0, max(1, len(data)), _CHUNK):
        yield data[at : at + _CHUNK + overlap]


def _in_another_encoding(data: bytes) -> str | None:
    """Give the text of a file that is not UTF-8, as editors save some; None for what is none, or a database."""
    marked = data.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE))
    if len(data) > _TEXT_BYTES or (b"\0" in data[:_HEAD] and not marked):
        return None
    found = decode(data)
    return None if found.encoding == "utf-8" else found.text


def texts_in(data: bytes) -> Iterator[str]:
    """Give the texts of a file that may be damaged: lines, also unescaped, what is quoted in them, facts as said."""
    for line in decode(data).text.splitlines():
        yield line
        if '"' not in line:
            continue
        plain = unescaped(line)
        yield plain
        quoted = [unescaped(match[1]) for match in _QUOTED.finditer(line)]
        yield from quoted
        fields = dict(pairwise(quoted))
        if {"section", "key", "value"} <= fields.keys():
            yield f"{matching(fields['section'])}/{matching(fields['key'])}: {fields['value']}"


def strings(value: object, each: Callable[[str], bool]) -> bool:
    """Tell whether any text in a JSON value, names included, is such a one."""
    if isinstance(value, str):
        return each(value)
    if isinstance(value, dict):
        return any(each(name) or strings(inner, each) for name, inner in value.items())
    if isinstance(value, list | tuple):
        return any(strings(inner, each) for inner in value)
    return False
