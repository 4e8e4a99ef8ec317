"""How a model's whole context window is divided, for the Brain (seed 000 section 3.2)."""

from __future__ import annotations

import math
from dataclasses import dataclass

from contracts.limits import MAX_TOKENS
from openclaw_memory.errors import Refused

SYSTEM_PROMPT_TOKENS = 2_000
TOKENS_PER_TOOL = 200
MAX_TOOL_TOKENS = 5_000
MAX_TOOLS = 10_000


@dataclass(frozen=True, slots=True)
class TokenBudget:
    """What each part of a whole prompt may use, in tokens (seed 000 section 3.2).

    What the parts do not add up to is a reserve: a tenth of what is divided, and what rounding leaves.
    """

    system_prompt: int
    facts: int
    tasks: int
    summaries: int
    history: int
    current_message: int
    tool_defs: int


def allocate_token_budget(context_window: int, reserved: int, tool_count: int) -> TokenBudget:
    """Divide a model's context window; the figures are those of seed 000 section 3.2.

    `context_window` and `reserved` (for tool results and the like) are tokens, `tool_count` the number of tool
    definitions: 200 tokens each, never more than 5,000, beside 2,000 for the system prompt. Of what these leave,
    facts get 10 %, tasks 5 %, summaries 5 %, history 60 %, the current message 10 %, rounded down. Where the fixed
    parts alone fill the window, the divided parts are 0.

    Raises: `Refused`, which names the argument, when it is no whole number within its limits, or more is reserved
    than the window holds.
    """
    _check("context_window", context_window, 1, MAX_TOKENS, "tokens")
    _check("reserved", reserved, 0, MAX_TOKENS, "tokens")
    _check("tool_count", tool_count, 0, MAX_TOOLS, "tool definitions")
    if reserved > context_window:
        raise Refused("reserved", f"is {reserved:,} tokens, more than the context window of {context_window:,}")
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


def _check(name: str, value: object, least: int, most: int, unit: str) -> None:
    # True is an int to Python and no number to a person.
    if not isinstance(value, int) or isinstance(value, bool) or not least <= value <= most:
        raise Refused(name, f"must be a whole number of {unit} from {least:,} to {most:,}, not {value!r:.80}")
