"""Values of other programs' JSON, taken only where they are what they should be."""

from __future__ import annotations

import math
from collections.abc import Mapping
from datetime import UTC, datetime, tzinfo
from typing import Any

from contracts.limits import FIRST_YEAR, LAST_YEAR
from contracts.names import suggest_session_id


def word(value: Any) -> str | None:
    """Give a text that is not blank; None for anything else."""
    return value if isinstance(value, str) and value.strip() else None


def mapping(value: Any) -> Mapping[str, Any]:
    """Give an object; an empty one for anything else."""
    return value if isinstance(value, dict) else {}


def listed(value: Any) -> list[Any]:
    """Give a list; an empty one for anything else."""
    return value if isinstance(value, list) else []


def moment(value: Any, zone: tzinfo) -> datetime | None:
    """Read a time: seconds since 1970, or ISO 8601, of which one without an offset is the user's.

    Milliseconds are kept, as files hold them. None where it is no time that can be kept.
    """
    try:
        if isinstance(value, str):
            read = datetime.fromisoformat(value.strip())
            time = read if read.utcoffset() is not None else read.replace(tzinfo=zone)
        elif isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value):
            time = datetime.fromtimestamp(value / 1000 if value > 1e11 else value, UTC)
        else:
            return None
        time = time.astimezone(zone)
    except (ValueError, OverflowError, OSError):
        return None
    if not FIRST_YEAR < time.year < LAST_YEAR:
        return None
    return time.replace(microsecond=time.microsecond // 1000 * 1000)


def session_id(prefix: str, given: str) -> str:
    """Make the id of a session of another program's id, which may hold anything."""
    return suggest_session_id(f"{prefix}-{given}"[:200]) or prefix
