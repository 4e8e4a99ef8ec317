"""Mask the secrets of a text."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from openclaw_memory.masking.cues import may_hold, may_name
from openclaw_memory.masking.kinds import Kind, Language, placeholder
from openclaw_memory.masking.phrases import by_phrase, is_secret, named
from openclaw_memory.masking.shapes import Span, by_shape


@dataclass(frozen=True, slots=True)
class Masked:
    """A text without its secrets, and what they were, in their order."""

    text: str
    kinds: tuple[Kind, ...] = ()


def mask(text: str, language: Language) -> Masked:
    """Put words in the places of the secrets of a text; every other character stays.

    Parameters: `language`, that of the words.
    """
    parts, at, kinds = [], 0, []
    for start, end, kind in spans_of(text):
        parts += [text[at:start], placeholder(kind, language)]
        kinds.append(kind)
        at = end
    return Masked("".join([*parts, text[at:]]), tuple(kinds)) if kinds else Masked(text)


def spans_of(text: str) -> list[Span]:
    """Find the secrets of a text: where each begins and ends, and what it is; in order, none within another."""
    if not may_hold(text):
        return []
    return _apart([*by_shape(text), *(by_phrase(text) if may_name(text) else ())])


def mask_named(name: str, value: str, language: Language) -> Masked:
    """Mask the secrets of a value that has a name, such as a fact: what is called a password is one."""
    kind = named(name)
    if kind is not None and len(value.split()) == 1 and is_secret(value.strip(), kind, explicit=True):
        return Masked(placeholder(kind, language), (kind,))
    return mask(value, language)


def _apart(spans: Iterable[Span]) -> list[Span]:
    """Order spans, and leave out those that lie within, or overlap, one before."""
    kept: list[Span] = []
    for start, end, kind in sorted(spans, key=lambda span: (span[0], -span[1])):
        if not kept or start >= kept[-1][1]:
            kept.append((start, end, kind))
        elif end > kept[-1][1]:
            # Two of them meet: neither may show.
            kept[-1] = (kept[-1][0], end, kept[-1][2])
    return kept
