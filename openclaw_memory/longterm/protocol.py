"""What a storage of long-term memory does: one text that is replaced as a whole, and a history that only grows."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime
from typing import Literal, Protocol

MOST_MATCHES = 1_000
"""Most matches of one search."""


@dataclass(frozen=True, slots=True)
class HistoryItem:
    """An entry of the history; `time` is aware."""

    time: datetime
    text: str


@dataclass(frozen=True, slots=True)
class Match:
    """A line of the long-term memory (`time` is None), or an entry of the history, that has all words of a query."""

    source: Literal["memory", "history"]
    text: str
    time: datetime | None = None


class LongTermStore(Protocol):
    """A storage of long-term memory. Every write is durable on return; a cancelled one is done or not done, never half.

    All raise `LongTermError` when the storage refuses.
    """

    async def read(self) -> str:
        """Give the long-term memory; empty when there is none."""
        ...

    async def replace(self, text: str) -> None:
        """Put another text in the place of the long-term memory."""
        ...

    async def append(self, text: str, time: datetime) -> None:
        """Add an entry to the history. Parameters: `text`, not blank; `time`, aware.

        Raises: `ValueError` for a blank text, or a time without an offset.
        """
        ...

    async def history(self, most: int = 100) -> list[HistoryItem]:
        """Give the newest entries, the oldest of them first. Parameters: `most`, how many at most."""
        ...

    async def search(self, query: str, most: int = 10) -> list[Match]:
        """Find what has all words of a query, in any case and order.

        Lines of the long-term memory come first, in its order; then entries, the newest first. A query without words
        finds nothing. Parameters: `most`, how many matches, 1 to 1,000.
        """
        ...

    async def close(self) -> None:
        """Let go of what is held open."""
        ...


def folded(text: str) -> str:
    """Give the form in which texts are compared: NFKC, case folded."""
    return unicodedata.normalize("NFKC", unicodedata.normalize("NFKC", text).casefold())


def words_of(query: str) -> tuple[str, ...]:
    """Give the words that are looked for."""
    return tuple(folded(query).split())


def has_all(words: Iterable[str], text: str) -> bool:
    """Tell whether a text has all words, wherever they stand in it."""
    plain = folded(text)
    return all(word in plain for word in words)


def lines_with(words: tuple[str, ...], text: str) -> list[Match]:
    """Find the lines of the long-term memory that have all words."""
    lines = (line.strip() for line in text.split("\n"))
    return [Match("memory", line) for line in lines if line and words and has_all(words, line)]


def checked(text: str, time: datetime) -> str:
    """Give the text of an entry as storages hold it. Raises: `ValueError`."""
    if not text.strip():
        raise ValueError("text: it is blank; leave the entry out")
    if time.utcoffset() is None:
        raise ValueError(f"time: {time.isoformat()} has no offset; give one with a time zone")
    return text


def bounded(most: int) -> int:
    """Check how many matches are wanted. Raises: `ValueError`."""
    if not 1 <= most <= MOST_MATCHES:
        raise ValueError(f"most: must be from 1 to {MOST_MATCHES:,}, not {most}")
    return most
