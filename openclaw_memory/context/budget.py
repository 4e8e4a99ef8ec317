"""How a budget is divided."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class TokenBudget:
    """What each part of a whole prompt may use, in tokens (seed 000 section 3.2)."""

    system_prompt: int
    facts: int
    tasks: int
    summaries: int
    history: int
    current_message: int
    tool_defs: int


SYSTEM_PROMPT_TOKENS = 2_000
TOKENS_PER_TOOL = 200
MAX_TOOL_TOKENS = 5_000


def allocate_token_budget(context_window: int, reserved: int, tool_count: int) -> TokenBudget:
    """Divide a model's context window, for the Brain; the figures are those of seed 000 section 3.2.

    `context_window` and `reserved` (for tool results and the like) are tokens, `tool_count` the number of tool
    definitions. Where the fixed parts alone exceed the window, the divided parts are 0.
    """
    tool_defs = min(tool_count * TOKENS_PER_TOOL, MAX_TOOL_TOKENS)
    remaining = max(0, context_window - reserved - SYSTEM_PROMPT_TOKENS - tool_defs)
    return TokenBudget(
        system_prompt=SYSTEM_PROMPT_TOKENS,
        facts=math.floor(remaining * 0.10),
        tasks=math.floor(remaining * 0.05),
        summaries=math.floor(remaining * 0.05),
        history=math.floor(remaining * 0.60),
        current_message=math.floor(remaining * 0.10),
        tool_defs=tool_defs,
    )


SHARES: Mapping[str, float] = {"facts": 0.10, "tasks": 0.05, "summaries": 0.05, "history": 0.60}
"""Shares of `maxTokens` in the seed's proportions. MEMORY.md shares with the facts, notes with the summaries."""


def divide(max_tokens: int) -> dict[str, int]:
    """Divide memory's own budget of `max_tokens` tokens; `recalled` gets what the shares leave."""
    parts = {name: math.floor(max_tokens * share) for name, share in SHARES.items()}
    parts["recalled"] = max_tokens - sum(parts.values())
    return parts
