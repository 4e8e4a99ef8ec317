"""What MEMORY.md was before memory itself changed it, so that it can be looked at and taken back.

`.state/memory-revisions.json` holds the text before each of the last changes that consolidation or promotion made, and
which entries they added and took out. It is written in the same record as the change.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from openclaw_memory.layers.curated import entries_in
from openclaw_memory.layers.state import CURATED, plan_state
from openclaw_memory.markdown.curated import Entry, digest_of, fold
from openclaw_memory.markdown.message_header import Language
from openclaw_memory.storage.documents import Draft
from openclaw_memory.storage.operations import Operation

REVISIONS = ".state/memory-revisions.json"

KEPT = 20
"""Changes whose text before is kept."""

KEPT_CHARS = 2_000_000
"""Characters of all texts that are kept; the newest one is kept whatever its length."""


@dataclass(frozen=True, slots=True)
class Line:
    """An entry, with the title of its section."""

    section: str
    text: str


@dataclass(frozen=True, slots=True)
class Change:
    """What is to become of MEMORY.md: entries to add, entries of ours to take out, entries of ours to reword.

    `reworded` has pairs of the old entry and the new text.
    """

    added: tuple[Line, ...] = ()
    removed: tuple[Entry, ...] = ()
    reworded: tuple[tuple[Entry, str], ...] = ()

    def __bool__(self) -> bool:
        return bool(self.added or self.removed or self.reworded)


@dataclass(frozen=True, slots=True)
class Revision:
    """A change that was made. `before` is the whole text before it; `added` and `removed` are entries."""

    name: str
    path: str
    by: str
    at: datetime
    before: str
    added: tuple[Line, ...]
    removed: tuple[Line, ...]
    undone: bool = False
    undone_by: str | None = None


def plan_change(
    draft: Draft, path: str, change: Change, *, by: str, now: datetime, language: Language
) -> tuple[str, ...]:
    """Change MEMORY.md and keep the text before, in one record; gives the addresses of what is new in it.

    Parameters: `path`, `REVISIONS` and `CURATED` are documents of the draft; `by`, what made the change.
    """
    before: str = draft.document(path).body
    held = {fold(entry.text) for entry in entries_in(draft.document(path))}
    if change.removed:
        draft.apply(Operation(path, "retire", {"digests": [entry.digest for entry in change.removed]}))
    for entry, text in change.reworded:
        arguments = {"section": entry.section, "text": text, "language": language, "old": entry.digest}
        draft.apply(Operation(path, "replace", arguments))
    for line in change.added:
        draft.apply(Operation(path, "add", _adding(line, language)))
    if draft.document(path).body == before:
        return ()
    there = {fold(entry.text) for entry in entries_in(draft.document(path))}
    new = [*change.added, *(Line(entry.section, text) for entry, text in change.reworded)]
    added = [line for line in new if fold(line.text) in there - held]
    old = [*change.removed, *(entry for entry, _ in change.reworded)]
    removed = [entry for entry in old if fold(entry.text) not in there]
    written = now.isoformat(timespec="seconds")
    plan_state(
        draft,
        CURATED,
        {digest_of(line.text): written for line in added},
        tuple(entry.digest for entry in removed),
    )
    _plan_kept(draft, path, before, by, now, added, [Line(entry.section, entry.text) for entry in removed])
    return tuple(f"{path}#{digest_of(line.text)}" for line in added)


def revisions(values: Mapping[str, Any]) -> list[Revision]:
    """Read the changes, the oldest first; what nobody can have written is left out."""
    found = []
    for name, value in values.items():
        try:
            found.append(
                Revision(
                    name,
                    value["path"],
                    value["by"],
                    datetime.fromisoformat(value["at"]),
                    value["before"],
                    tuple(Line(*line) for line in value["added"]),
                    tuple(Line(*line) for line in value["removed"]),
                    bool(value.get("undone")),
                    value.get("undone_by"),
                )
            )
        except (KeyError, TypeError, ValueError):
            continue
    return sorted(found, key=lambda one: one.name)


def plan_undo(
    draft: Draft, revision: Revision, *, now: datetime, language: Language, by: str | None = None
) -> tuple[tuple[Line, ...], tuple[Line, ...]]:
    """Take a change back: what it added goes, what it took out comes back; whatever a person did since stays.

    Gives what went, and what came back. What a person has edited since is no longer what was added, and stays; what
    they have put back themselves is theirs.
    """
    ours = draft.document(CURATED).values
    added = {fold(line.text) for line in revision.added}
    entries = entries_in(draft.document(revision.path))
    gone = [entry for entry in entries if fold(entry.text) in added and entry.digest in ours]
    if gone:
        draft.apply(Operation(revision.path, "retire", {"digests": [entry.digest for entry in gone]}))
    held = {fold(entry.text) for entry in entries_in(draft.document(revision.path))}
    for line in revision.removed:
        draft.apply(Operation(revision.path, "add", _adding(line, language)))
    there = {fold(entry.text) for entry in entries_in(draft.document(revision.path))}
    back = tuple(line for line in revision.removed if fold(line.text) in there - held)
    plan_state(
        draft,
        CURATED,
        {digest_of(line.text): now.isoformat(timespec="seconds") for line in back},
        tuple(entry.digest for entry in gone),
    )
    value = draft.document(REVISIONS).values[revision.name]
    plan_state(draft, REVISIONS, {revision.name: {**value, "undone": True, "undone_by": by}})
    return tuple(Line(entry.section, entry.text) for entry in gone), back


def _adding(line: Line, language: Language) -> dict[str, Any]:
    return {"section": line.section, "text": line.text, "language": language, "beside": None}


def _plan_kept(
    draft: Draft, path: str, before: str, by: str, now: datetime, added: Sequence[Line], removed: Sequence[Line]
) -> None:
    """Keep the text before, and let go of the oldest ones."""
    held = revisions(draft.document(REVISIONS).values)
    number = int(held[-1].name) + 1 if held and held[-1].name.isdecimal() else len(held) + 1
    room, gone = KEPT_CHARS - len(before), []
    for place, revision in enumerate(reversed(held), start=1):
        room -= len(revision.before)
        if place >= KEPT or room < 0:
            gone.append(revision.name)
    value = {
        "path": path,
        "by": by,
        "at": now.isoformat(),
        "before": before,
        "added": [[line.section, line.text] for line in added],
        "removed": [[line.section, line.text] for line in removed],
    }
    plan_state(draft, REVISIONS, {f"{number:06d}": value}, tuple(gone))
