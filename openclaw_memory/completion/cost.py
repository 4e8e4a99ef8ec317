"""What asking a model came to, in words for a person."""

from __future__ import annotations

from collections.abc import Sequence

from openclaw_memory.completion.protocol import Completion


def cost_of(answers: Sequence[Completion], price_in: float | None, price_out: float | None) -> str | None:
    """Say how many tokens some answers took, and what they cost where prices are known; None for no answers.

    Parameters: `price_in` and `price_out`, per million tokens, in whatever currency the configuration means.
    """
    if not answers:
        return None
    asked = "1 request" if len(answers) == 1 else f"{len(answers)} requests"
    if any(answer.input_tokens is None or answer.output_tokens is None for answer in answers):
        return f"{asked} to the model, which does not count its tokens"
    tokens_in = sum(answer.input_tokens or 0 for answer in answers)
    tokens_out = sum(answer.output_tokens or 0 for answer in answers)
    told = f"{asked} to the model, {tokens_in:,} tokens in and {tokens_out:,} out"
    if price_in is None or price_out is None:
        return told
    return f"{told}, cost {(tokens_in * price_in + tokens_out * price_out) / 1e6:.4f}"
