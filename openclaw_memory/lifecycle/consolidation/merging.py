"""What a model's new text of MEMORY.md may change in it. Pure."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from openclaw_memory.layers.revisions import Change, Line
from openclaw_memory.lifecycle.consolidation.errors import UnusableAnswerError
from openclaw_memory.markdown.curated import Entry, digest_of, fold, one_line, parse_curated
from openclaw_memory.markdown.errors import UnwritableValueError
from openclaw_memory.retrieval.terms import terms

MOST_LOST = 0.25
"""Share of the entries that a change may drop (case 27)."""

SAME_SUBJECT = 0.4
"""Share of the terms of two entries that both have, above which one is the other in new words."""

MOST_ADDED = 100
"""Entries that one update may add."""


def merged(current: str, seen: Collection[str], ours: Collection[str], update: str) -> Change:
    """Compare what a model made of MEMORY.md with what is there, and give what is to change.

    Entries that a person wrote stay whatever the model says. One of ours that is not in the update is taken out, unless
    something new has most of its words: then that takes its place.

    Parameters: `current`, the text of MEMORY.md now; `seen`, digests of the entries that the model was shown, the only
    ones that it can have meant to drop; `ours`, digests of the entries that memory wrote; `update`, the model's text.

    Raises: `UnusableAnswerError` when it would drop more than a quarter of the entries, or one can't be written.
    """
    entries = parse_curated(current)
    said = lines_of(update)
    wanted = {fold(line.text) for line in said}
    # What a person wrote beside the entries is shown to the model as well, and comes back.
    there = {*(fold(entry.text) for entry in entries), *map(fold, current.split("\n"))}
    # What the model was shown and is gone since, somebody took out while it thought.
    new = [line for line in said if fold(line.text) not in there and digest_of(line.text) not in seen]
    gone = [entry for entry in entries if entry.digest in seen and fold(entry.text) not in wanted]
    if len(new) > MOST_ADDED:
        raise UnusableAnswerError(f"memory_update adds {len(new)} entries, {MOST_ADDED} is the most")
    pairs = _pairs(gone, new)
    dropped = [entry for entry in gone if entry not in pairs]
    if len(dropped) > MOST_LOST * len([entry for entry in entries if entry.digest in seen]):
        raise UnusableAnswerError(
            f"memory_update would drop {len(dropped)} of {len(entries)} entries; at most a quarter may go, and those "
            "that still hold must be repeated word for word"
        )
    own = [entry for entry in gone if entry.digest in ours]
    reworded = tuple((entry, pairs[entry].text) for entry in own if entry in pairs)
    taken = {text for _, text in reworded}
    return Change(
        added=tuple(line for line in new if line.text not in taken),
        removed=tuple(entry for entry in own if entry not in pairs),
        reworded=reworded,
    )


def lines_of(update: str) -> list[Line]:
    """Read the entries of a text, and the paragraphs that are no list items as entries too, each once.

    Raises: `UnusableAnswerError` when one can't be an entry.
    """
    found: dict[str, Line] = {}
    entries = parse_curated(update)
    taken = {number for entry in entries for number in range(entry.start_line, entry.end_line + 1)}
    pieces = [(entry.start_line, entry.section, entry.text) for entry in entries]
    section = ""
    for number, line in enumerate(update.split("\n"), start=1):
        text = line.strip()
        if text.startswith("#"):
            section = text.lstrip("#").strip()
        elif number not in taken and text and not text.startswith(("```", "~~~", "<!--", ">", "---")):
            pieces.append((number, section, text))
    for _, title, text in sorted(pieces):
        try:
            whole = one_line(text)
        except UnwritableValueError as error:
            raise UnusableAnswerError(f"memory_update has an entry that can't be written: {error.reason}") from error
        found.setdefault(fold(whole), Line(title, whole))
    return list(found.values())


def _pairs(gone: Sequence[Entry], new: Sequence[Line]) -> dict[Entry, Line]:
    """Find, for entries that are gone, the new ones that say the same in other words."""
    words = [(line, set(terms(line.text))) for line in new]
    found: dict[Entry, Line] = {}
    for entry in gone:
        own = set(terms(entry.text))
        rated = [(len(own & theirs) / (len(own | theirs) or 1), line) for line, theirs in words]
        best = max(rated, key=lambda one: one[0], default=None)
        if best is not None and best[0] >= SAME_SUBJECT and best[1] not in found.values():
            found[entry] = best[1]
    return found
