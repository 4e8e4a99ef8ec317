"""Promotion as it is asked for: by a command, here or beside the folder's owner."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from openclaw_memory.errors import Refused
from openclaw_memory.lifecycle.promotion.promoter import Promoter
from openclaw_memory.lifecycle.promotion.told import ACTIONS, told, undone


async def carry_out(promoter: Promoter, action: str, now: datetime, once: str | None = None) -> dict[str, Any]:
    """Preview, apply or undo promotion; gives what `openclaw-memory promote` shows.

    Parameters: `once`, a name under which an undo that was asked for again is known.

    Raises: `Refused` for another action; what the store raises.
    """
    match action:
        case "preview":
            return told(await promoter.preview(now), applied=False)
        case "apply":
            return told(await promoter.apply(now), applied=True)
        case "undo":
            return undone(await promoter.undo(now, once))
    raise Refused("action", f"{action!r} is none of {', '.join(ACTIONS)}")
