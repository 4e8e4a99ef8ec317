"""Who runs the jobs now: a lease in `.state/`, so that a crash in the middle shows, and nothing runs twice at once."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from openclaw_memory.layers.state import plan_state
from openclaw_memory.storage.documents import Draft

HEARTBEAT = ".state/heartbeat.json"
"""When each job last succeeded (`job:<name>`), and the lease of who runs them (`lease`)."""

_LEASE = "lease"
_JOB = "job:"


@dataclass(frozen=True, slots=True)
class Lease:
    """`holder` is a name that each opening of a root makes for itself; `since` is ISO 8601."""

    holder: str
    since: str


def lease_in(values: Mapping[str, Any]) -> Lease | None:
    """Read who runs the jobs; None when nobody does, or when a person made something else of it."""
    held = values.get(_LEASE)
    if not isinstance(held, dict) or not isinstance(held.get("holder"), str):
        return None
    return Lease(held["holder"], str(held.get("since", "")))


def plan_lease(draft: Draft, holder: str, now: datetime) -> Lease | None:
    """Take the lease; gives the one that somebody left behind, None when it was free.

    The root has one owner at a time (its lock), so a lease of another holder is that of a process that died in the
    middle: it is taken over, and what that process had begun is looked at again by the same jobs.
    """
    held = lease_in(draft.document(HEARTBEAT).values)
    plan_state(draft, HEARTBEAT, {_LEASE: {"holder": holder, "since": now.isoformat(timespec="seconds")}})
    return held if held is not None and held.holder != holder else None


def plan_release(draft: Draft) -> None:
    """Give the lease back."""
    plan_state(draft, HEARTBEAT, {}, (_LEASE,))


def last_success(values: Mapping[str, Any], job: str) -> datetime | None:
    """Tell when a job last succeeded; None when it never did, or when a person broke the record."""
    try:
        when = datetime.fromisoformat(values[f"{_JOB}{job}"])
    except (KeyError, TypeError, ValueError):
        return None
    return when if when.tzinfo is not None else None


def plan_success(draft: Draft, job: str, now: datetime) -> None:
    """Remember that a job succeeded."""
    plan_state(draft, HEARTBEAT, {f"{_JOB}{job}": now.isoformat(timespec="seconds")})
