"""What makes a summary of what was said."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol

from openclaw_memory.lifecycle.summaries.passages import Material
from openclaw_memory.markdown.summary_items import SummaryItems

Fits = Callable[[SummaryItems], bool]
"""Tells whether a summary with these items keeps within its tokens."""


@dataclass(frozen=True, slots=True)
class Made:
    """A summary: its items, by whom (`rules`, `model`), and what is to be said about it, such as its cost."""

    items: SummaryItems
    by: str
    remark: str | None = None


class Summarizer(Protocol):
    """Makes the items of a summary."""

    async def summarize(self, material: Material, fits: Fits, tokens: int) -> Made:
        """Choose or write items that keep within `fits`, about `tokens` tokens of them; none where nothing is worth it.

        Every item names the passages that it rests on.
        """
        ...
