"""How far the background is that gives texts their vectors."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Progress:
    """How far the background is.

    `done` and `failed` count texts since the start, `waiting` those that are known to wait. `scanning` tells that not
    all texts were looked through yet, so more may wait. `pause_seconds` is the time until the embedder is tried again,
    after `last_error`. `problem` tells why nothing is done at all.
    """

    done: int = 0
    waiting: int = 0
    failed: int = 0
    scanning: bool = False
    pause_seconds: float = 0.0
    last_error: str | None = None
    problem: str | None = None
