"""What there is to put into a context, before anything has been left out."""

from __future__ import annotations

from dataclasses import dataclass

from contracts.reading import HistoryMessage, Task
from openclaw_memory.retrieval.index import Hit


@dataclass(frozen=True, slots=True)
class Line:
    """A piece of text that goes in whole or not at all.

    `key` is its address; a recalled hit with that address, or of the file that it names, is not said twice.
    `essential` marks profile and preferences: facts that come whatever the query, and before others. `said` marks notes
    that only tell what was said: they come after all others.
    """

    text: str
    key: str = ""
    essential: bool = False
    said: bool = False


@dataclass(frozen=True, slots=True)
class Material:
    """All that was found for one read. Lists run oldest first, `recalled` best first.

    `important` holds the keys of history messages that are kept before other history. `notice` says what went wrong
    so far; what is left out for the budget is added to it.
    """

    facts: tuple[Line, ...] = ()
    memory: tuple[Line, ...] = ()
    tasks: tuple[Task, ...] = ()
    summaries: tuple[Line, ...] = ()
    notes: tuple[Line, ...] = ()
    recalled: tuple[Hit, ...] = ()
    history: tuple[HistoryMessage, ...] = ()
    important: frozenset[str] = frozenset()
    degraded: bool = False
    notice: str | None = None
