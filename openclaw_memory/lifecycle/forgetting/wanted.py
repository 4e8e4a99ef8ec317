"""What is to be forgotten: a selector, understood, and what follows from what was found with it. Pure."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Self

from contracts import Selector
from openclaw_memory.errors import Refused
from openclaw_memory.layers import facts
from openclaw_memory.layers.rooms import room_of
from openclaw_memory.lifecycle.forgetting.texts import LEAST_CHARS, Needle, folded, significant
from openclaw_memory.markdown.items import matching
from openclaw_memory.markdown.text import clean

MEMORY_PREFIX = "memory/"
"""Paths in a selector may be given from the root, as people see them, or from the memory folder, as addresses are."""

LONG_ID_CHARS = 20
"""An id so long is nobody's word: where it stands, the message is meant."""


@dataclass(frozen=True, slots=True)
class Wanted:
    """What is asked for, and what goes with it.

    `needle`, `section` with `key`, `task`, `session`, `after` with `before`, `path` are the ways to name something.
    `ids` are messages, `archived` facts by file, section and key, whose copies and earlier values go too. `known` tells
    of a text whether it was forgotten, where only that is left to go by: after a crash.
    """

    needle: Needle | None = None
    section: str | None = None
    key: str | None = None
    task: str | None = None
    session: str | None = None
    after: datetime | None = None
    before: datetime | None = None
    path: str | None = None
    ids: frozenset[str] = frozenset()
    archived: frozenset[tuple[str, str, str]] = frozenset()
    known: Callable[[str], bool] | None = field(default=None, compare=False)

    def with_more(self, ids: set[str], archived: set[tuple[str, str, str]]) -> Self:
        """Add what follows from what was found."""
        return replace(self, ids=self.ids | ids, archived=self.archived | archived)

    @property
    def spans(self) -> bool:
        """Whether a time is what is asked for."""
        return self.after is not None or self.before is not None

    def is_within(self, since: datetime | None, until: datetime | None) -> bool:
        """Tell whether something that is of this time lies wholly within the span that is asked for."""
        if not self.spans or since is None or until is None:
            return False
        return (self.after is None or since > self.after) and (self.before is None or until < self.before)

    def is_all_of(self, path: str) -> bool:
        """Tell whether a whole document is meant."""
        if self.path is None:
            return False
        return path == self.path or (_is_topic(self.path) and path == facts.archive_path(self.path))

    def says(self, *texts: str | None) -> bool:
        """Tell whether one of these texts is, or says, what is meant."""
        given = [text for text in texts if text]
        if self.needle is not None and any(map(self.needle.within, given)):
            return True
        return self.known is not None and any(map(self.known, given))


def wanted_of(selector: Selector, exists: Callable[[str], bool]) -> Wanted:
    """Understand a selector.

    Parameters: `exists`, which tells whether there is a document with a path.

    Raises: `Refused`, with the field, the limit and what to do.
    """
    if selector.text is not None:
        text = clean(selector.text)[0]
        if (count := significant(text)) < LEAST_CHARS:
            raise Refused(
                "selector.text",
                f"{text.strip()!r} has {count} letters or digits, at least {LEAST_CHARS} are needed: it stands in "
                "nearly everything; give more of the text, or name what is meant by path, session or time",
            )
        return Wanted(needle=Needle.of(text))
    if selector.topic is not None:
        return Wanted(path=facts.topic_path(selector.topic))
    if selector.path is not None:
        return Wanted(path=_document(selector.path, exists))
    return Wanted(
        section=None if selector.section is None else matching(selector.section),
        key=None if selector.key is None else matching(selector.key),
        task=selector.task_id,
        session=selector.session_id,
        after=selector.after,
        before=selector.before,
    )


def _document(given: str, exists: Callable[[str], bool]) -> str:
    """Find the document that a path means.

    Raises: `Refused` when no document of memory can have it.
    """
    for path in dict.fromkeys([given, given.removeprefix(MEMORY_PREFIX)]):
        if exists(path):
            return path
    path = given.removeprefix(MEMORY_PREFIX)
    try:
        room = room_of(path)
    except ValueError:
        room = None
    if room is None or room.name == "state":
        raise Refused(
            "selector.path",
            f"{given} is no document of memory; name one as searches do, such as `facts/user-profile.md`, "
            "`conversations/2026-05-04.md` or `workspace/main/MEMORY.md`",
        )
    return path


def _is_topic(path: str) -> bool:
    return path.startswith(f"{facts.FOLDER}/") and not path.startswith(f"{facts.ARCHIVE}/")


def same(text: str, other: str) -> bool:
    """Tell whether two texts are the same, as they are compared here."""
    return folded(text) == folded(other)
