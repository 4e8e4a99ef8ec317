"""Patterns that are looked for only where one of their cues stands: a look for words costs far less than a pattern."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass

from openclaw_memory.glance import glance

_ODD = {"ı": "i", "İ": "i", "ſ": "s"}
"""What `re.IGNORECASE` takes for a letter of the alphabet, and `str.lower` does not."""

_LETTERS = bytes(code if chr(code).isalpha() and code < 128 else 32 for code in range(256))
"""For `bytes.translate`: letters of the alphabet, and spaces for the rest."""


@dataclass(frozen=True, slots=True)
class Cued:
    """A pattern, and cues of which each text that it matches holds one, in small letters."""

    pattern: re.Pattern[str]
    cues: tuple[str, ...]

    def may_match(self, small: str) -> bool:
        """Tell whether a text, given as `small` gives it, has a cue."""
        for cue in self.cues:  # noqa: SIM110  # a third of what `any` takes
            if cue in small:
                return True
        return False

    def search(self, text: str, letters: str | None = None) -> re.Match[str] | None:
        """Search a text. `letters`, the text as `small` gives it, where the caller has it."""
        return self.pattern.search(text) if self.may_match(small(text) if letters is None else letters) else None

    def match(self, text: str, letters: str) -> re.Match[str] | None:
        """Match the beginning of a text; `letters` as for `search`."""
        return self.pattern.match(text) if self.may_match(letters) else None

    def sub(self, new: str, text: str) -> str:
        """Replace what matches."""
        return self.pattern.sub(new, text) if self.may_match(small(text)) else text


def cued(cues: str, pattern: str, flags: re.RegexFlag = re.IGNORECASE) -> Cued:
    """Make one. `cues` are separated by `|`, as they are in a pattern."""
    return Cued(re.compile(pattern, flags), tuple(cues.split("|")))


def any_cue(patterns: Iterable[Cued]) -> Callable[[str], bool]:
    """Give what tells whether a text, given as `small` gives it, has a cue of any of some patterns, at one look."""
    cues = dict.fromkeys(cue for pattern in patterns for cue in pattern.cues)
    found = glance("|".join(map(re.escape, cues)))
    # As bytes: half of a character is none of ours, and what stands beside it is looked at.
    return lambda letters: found(letters if letters.isascii() else letters.encode("utf-8", "replace"))


def small(text: str) -> str:
    """Give a text in small letters, as a pattern that ignores case reads it."""
    if not text.isascii():
        for odd, plain in _ODD.items():
            if odd in text:
                text = text.replace(odd, plain)
    return text.lower()


def words_of(letters: str) -> list[bytes]:
    """Give the runs of letters of the alphabet in a text that `small` has given."""
    return letters.encode("utf-8", "replace").translate(_LETTERS).split()
