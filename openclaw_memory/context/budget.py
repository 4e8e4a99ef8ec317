"""How memory's own budget is divided."""

from __future__ import annotations

import math
from collections.abc import Mapping

SHARES: Mapping[str, float] = {"facts": 0.10, "tasks": 0.05, "summaries": 0.05, "history": 0.60}
"""Shares of `maxTokens` in the seed's proportions. MEMORY.md shares with the facts, notes with the summaries."""


def divide(max_tokens: int) -> dict[str, int]:
    """Divide memory's own budget of `max_tokens` tokens; `recalled` gets what the shares leave."""
    parts = {name: math.floor(max_tokens * share) for name, share in SHARES.items()}
    parts["recalled"] = max_tokens - sum(parts.values())
    return parts
