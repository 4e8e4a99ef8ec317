"""A run of promotion as JSON values: for the command line, and for who asks from beside the folder's owner. Pure."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from openclaw_memory.layers.revisions import Revision

if TYPE_CHECKING:
    from openclaw_memory.lifecycle.promotion.promoter import Result

ORDER = "memory:promote"
"""Type under which it is asked for through the inbox; it is no event of the bus."""

ACTIONS = ("preview", "apply", "undo")


def told(result: Result, *, applied: bool) -> dict[str, Any]:
    """Tell what was, or would be, promoted, and what not and why."""
    return {
        "applied": applied,
        "keys": list(result.keys),
        "tokens": result.plan.tokens,
        "retired": [entry.text for entry in result.plan.change.removed],
        "candidates": [
            {
                "text": verdict.candidate.text,
                "section": verdict.candidate.section,
                "from": verdict.candidate.piece.key,
                "score": round(verdict.candidate.score, 3),
                "parts": {name: round(value, 3) for name, value in verdict.candidate.parts},
                "gates": [
                    {"name": gate.name, "passed": gate.passed, "has": gate.has, "needs": gate.needs}
                    for gate in verdict.candidate.gates
                ],
                "promoted": verdict.promoted,
                "why": verdict.why,
            }
            for verdict in result.plan.verdicts
        ],
    }


def undone(revision: Revision | None) -> dict[str, Any]:
    """Tell what was taken back; nothing when there was nothing to take back."""
    return {
        "undone": revision is not None,
        "at": None if revision is None else revision.at.isoformat(),
        "taken_out": [] if revision is None else [line.text for line in revision.added],
        "put_back": [] if revision is None else [line.text for line in revision.removed],
    }
