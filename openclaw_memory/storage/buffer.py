"""When documents are rewritten. Pure: the coalescing buffer's whole mind (seed 000 section 5.2)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class FlushLimits:
    """How long Markdown may lag behind the journal: `interval` in seconds, entries of one document, entries in all."""

    interval: float
    per_document: int
    in_all: int


@dataclass(frozen=True, slots=True)
class Waiting:
    """What a document has waiting: how many entries, and since when (seconds of the monotonic clock).

    `written` is when its file was rewritten last, on the same clock, and `took` how long that took in seconds.
    """

    entries: int
    since: float
    written: float = 0.0
    took: float = 0.0


BREATH = 4
"""A file that was just rewritten is left alone by its own count for so many times what that took: in a storm a file of
a long day is never without 50 entries, and would be rewritten without a pause."""


def plan_flush(waiting: Mapping[str, Waiting], now: float, limits: FlushLimits) -> list[str]:
    """Choose the documents to rewrite now, the longest waiting first."""
    oldest_first = sorted(waiting, key=lambda path: waiting[path].since)
    if sum(document.entries for document in waiting.values()) >= limits.in_all:
        return oldest_first
    return [path for path in oldest_first if _due(waiting[path], limits) <= now]


def next_flush(waiting: Mapping[str, Waiting], limits: FlushLimits) -> float | None:
    """Tell when `plan_flush` has to be asked again if nothing else happens; None: when something does."""
    return min((_due(document, limits) for document in waiting.values()), default=None)


def is_sooner(changed: Iterable[Waiting], in_all: int, at: float | None, limits: FlushLimits) -> bool:
    """Tell whether `plan_flush` has to be asked again before `at`, now that these documents have more entries.

    `in_all` counts the entries of all documents.
    """
    return in_all >= limits.in_all or any(at is None or _due(document, limits) < at for document in changed)


def _due(document: Waiting, limits: FlushLimits) -> float:
    """Tell when a document is to be rewritten, whatever the others hold."""
    at_last = document.since + limits.interval
    if document.entries < limits.per_document:
        return at_last
    return min(at_last, document.written + BREATH * document.took)
