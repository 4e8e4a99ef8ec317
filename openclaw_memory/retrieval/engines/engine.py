"""What a keyword engine does for the index: hold terms, and name the blocks that are worth scoring."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple, Protocol

import apsw

from openclaw_memory.retrieval.blocks import Block
from openclaw_memory.retrieval.engines.marks import Condition


# Texts and bytes: thousands of them are held at a time, and the garbage collector passes over those, which it does not
# over lists of words.
class Cut(NamedTuple):
    """A block and the stored terms that it was cut into."""

    id: int
    block: Block
    words: str
    """Its stored terms with a space between them, in order, repeated as often as they occur."""
    length: int
    """How many they are."""
    counts: bytes = b""
    """How often it holds each (`words.pack`), for a row that is to be written; empty where there is one."""


@dataclass(frozen=True, slots=True)
class Delta:
    """What a commit changes in the terms."""

    gone: Sequence[Cut] = ()
    new: Sequence[Cut] = ()
    held: Mapping[str, int] = field(default_factory=dict)
    """By stored term how many more blocks hold it than before; fewer where negative."""


@dataclass(frozen=True, slots=True)
class Question:
    """What an engine is asked: any of these stored terms, within a condition, nothing after `until` (microseconds)."""

    words: Mapping[str, float]
    """What each is worth, as far as the engine can make use of it."""
    held: Mapping[str, int]
    """How many rows hold each."""
    rows: int
    """How many rows there are."""
    condition: Condition | None = None
    until: int | None = None


class Engine(Protocol):
    """A keyword engine. Scores are reckoned by the index, alike for all engines; an engine only chooses whom to score.

    `view` is what a search looks into: an engine that keeps its own files gives a new one after each `prepare`, and the
    index begins to use it in the moment in which the rows of the same commit become visible.
    """

    name: str
    spare: int
    """How many more than the wanted blocks it is asked for, since its own scores are not exactly ours."""
    own_files: bool
    """Whether it has files beside the database, which may come out of step with the rows."""

    @property
    def vanished(self) -> bool:
        """Tell whether somebody removed its own files."""
        ...

    def refresh(self) -> None:
        """Look at what another process has committed to its own files."""
        ...

    @property
    def view(self) -> Any:
        """Give what a search looks into from now on."""
        ...

    def begin(self, delta: Delta) -> None:
        """Hand a delta over to the engine, and do not wait; once for each `prepare` or `give_up`."""
        ...

    def prepare(self, generation: int) -> None:
        """Commit what was begun to the engine's own files; they are of this generation then."""
        ...

    def give_up(self) -> None:
        """Drop what was begun and not committed."""
        ...

    def restore(self, touched: Sequence[int], delta: Delta, generation: int) -> None:
        """Take out all blocks with the ids `touched`, enter those of the delta, and be of this generation."""
        ...

    def generation(self) -> int | None:
        """Tell which generation of the rows its own files belong to; None when nothing says so."""
        ...

    def write(self, connection: apsw.Connection, delta: Delta) -> None:
        """Write what the engine keeps in the database, within the transaction of the rows."""
        ...

    def candidates(self, view: Any, reader: apsw.Connection, question: Question, limit: int) -> list[int]:
        """Give the ids of at least `limit` blocks that score best, roughly; fewer only when there are no more.

        Of those that tie at the end the newest are taken.
        """
        ...

    def close(self) -> None:
        """Let go of the files."""
        ...
