"""Mask the secrets of a text."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from openclaw_memory.masking.cues import may_hold, may_name
from openclaw_memory.masking.forms import by_form
from openclaw_memory.masking.kinds import Kind, Language, one_name, placeholder
from openclaw_memory.masking.labels import kind_of_value
from openclaw_memory.masking.names import is_about
from openclaw_memory.masking.phrases import by_phrase
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
    by_name = (*by_phrase(text), *by_form(text)) if may_name(text) else ()
    return _apart([*by_shape(text), *by_name])


def mask_named(name: str, value: str, language: Language, *, within: Sequence[str] = ()) -> Masked:
    """Mask the secrets of a value that has a name, such as a fact: what is called a password is one.

    Parameters: `within`, what the name stands in, such as the section `WiFi 密码`; it counts unless the name is that of
    something told about secrets, such as `policy`.
    """
    kind = kind_of_value((name,), value) or (None if is_about(name) else kind_of_value(within, value, loose=True))
    return mask(value, language) if kind is None else Masked(placeholder(kind, language), (kind,))


def mask_name(name: str, language: Language) -> Masked:
    """Mask the secrets of a name, such as the key of a fact: what comes in has no colon, so what goes out has none."""
    found = mask(name, language)
    return Masked(one_name(found.text, language), found.kinds) if found.kinds else found


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
