"""What an import would do: the values between comparing and writing, which the preview shows."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from typing import Literal

from openclaw_memory.moving.found import FoundEntry, FoundFact, FoundMessage, FoundTask, Remark

Outcome = Literal["ours is kept", "theirs is taken", "both are kept"]


@dataclass(frozen=True, slots=True)
class Placement:
    """A file to be put where there is none.

    `path` is a document's; `count`, how many messages, entries, facts or tasks it counts for, one for a note; `masked`,
    how many secrets were taken out of it.
    """

    path: str
    data: bytes
    layer: str
    where: str
    count: int = 1
    masked: int = 0


@dataclass(frozen=True, slots=True)
class Conflict:
    """A place of which memory says something else than the source."""

    address: str
    ours: str
    theirs: str
    outcome: Outcome
    where: str


@dataclass(slots=True)
class Plan:
    """What is to be written, in this order; what is known already; what can't be, and why.

    `new` and `known` count by layer.
    """

    format: str
    placements: list[Placement] = field(default_factory=list)
    messages: list[FoundMessage] = field(default_factory=list)
    entries: list[FoundEntry] = field(default_factory=list)
    facts: list[FoundFact] = field(default_factory=list)
    tasks: list[FoundTask] = field(default_factory=list)
    new: Counter[str] = field(default_factory=Counter)
    known: Counter[str] = field(default_factory=Counter)
    conflicts: list[Conflict] = field(default_factory=list)
    problems: list[Remark] = field(default_factory=list)
    left_out: list[Remark] = field(default_factory=list)

    @property
    def changes_anything(self) -> bool:
        """Whether there is anything to write."""
        return bool(self.placements or self.writes_events)

    @property
    def writes_events(self) -> bool:
        """Whether memory itself is needed for it."""
        return bool(self.messages or self.entries or self.facts or self.tasks)
