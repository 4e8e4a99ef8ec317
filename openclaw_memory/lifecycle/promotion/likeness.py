"""Whether an entry says what another one says already. Pure."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from functools import cached_property

from openclaw_memory.markdown.curated import fold
from openclaw_memory.retrieval.terms import terms

SAME = 0.8
"""Share of the terms of two texts that both have, from which on they say the same."""


@dataclass(frozen=True)
class Known:
    """What keeps a piece out: what MEMORY.md says, and the names of pieces that were promoted before."""

    entries: Sequence[str]
    promoted: Collection[str] = ()

    @cached_property
    def words(self) -> tuple[tuple[str, str, frozenset[str]], ...]:
        """Each entry, folded, and its terms: every piece is compared with all of them."""
        return tuple((entry, fold(entry), frozenset(terms(entry))) for entry in self.entries)


def alike(text: str, known: Known) -> str | None:
    """Give the first entry that says the same as a text; None when none does."""
    folded, words = fold(text), set(terms(text))
    for entry, said, other in known.words:
        if folded == said or len(words & other) >= SAME * (len(words | other) or 1):
            return entry
    return None
