"""Tell what of a source memory has already. Pure."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace

from contracts.limits import MAX_CONTENT_CHARS
from openclaw_memory.markdown.curated import Entry, fold
from openclaw_memory.markdown.text import clean, decode
from openclaw_memory.moving.found import FoundMessage
from openclaw_memory.retrieval.cutting import safe_cut

Mask = Callable[[str], tuple[str, int]]
"""Gives a text without its secrets, and how many there were."""

PROMOTED = re.compile(r"\s*\[score=[^\]\n]*\bsource=[^\]\n]*\]\s*$")
"""What OpenClaw's promotion writes behind an entry."""


def folded(entries: Iterable[Entry]) -> set[str]:
    """Give the forms in which entries are compared: with what a promotion wrote behind one, and without."""
    return {fold(text) for entry in entries for text in (entry.text, PROMOTED.sub("", entry.text))}


def unknown(those: Sequence[FoundMessage], said: Sequence[str], mask: Mask) -> list[FoundMessage]:
    """Choose the messages of one session, role and time that memory does not have.

    Equal texts are paired first. What is left of ours was edited since: each stands for one of theirs.
    """
    left = Counter(said)
    rest = []
    for message in those:
        text = clean(message.text)[0]
        text = text if text in left else mask(text)[0]
        if left[text] > 0:
            left[text] -= 1
        else:
            rest.append(message)
    edited = sum(left.values())
    return rest[edited:]


def parts_of(message: FoundMessage) -> list[FoundMessage]:
    """Split a message that is longer than one may be; an emoji is not cut."""
    text, parts = message.text, []
    while len(text) > MAX_CONTENT_CHARS:
        cut = safe_cut(text, MAX_CONTENT_CHARS)
        parts.append(text[:cut])
        text = text[cut:]
    return [replace(message, text=part) for part in [*parts, text]] if parts else [message]


def holds(ours: bytes, theirs: bytes) -> bool:
    """Tell whether a file has every line of another: it was imported before, and went on since."""
    held, given = decode(ours), decode(theirs)
    if held.problem is not None or given.problem is not None:
        return False
    lines = {line.strip() for line in held.text.split("\n")}
    return all(line.strip() in lines for line in given.text.split("\n") if line.strip())
