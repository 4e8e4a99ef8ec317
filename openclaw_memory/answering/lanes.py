"""Lanes of events, one a session, and the last write of each."""

from __future__ import annotations

from typing import Any

from bus import Event
from openclaw_memory.storage.commits import Commit


class Lanes:
    """Knows, by lane, the write that is on its way to the disk."""

    def __init__(self) -> None:
        self._last: dict[str, Commit] = {}

    def wrote(self, lane: str, commit: Commit) -> None:
        """Take note of the newest write of a lane."""
        self._last[lane] = commit

    def settled(self, lane: str, commit: Commit) -> None:
        """Forget a write that is decided, where none came after it."""
        if self._last.get(lane) is commit:
            del self._last[lane]

    async def own_writes(self, event: Event[Any]) -> None:
        """Wait until what this session wrote before is decided, so that it is read."""
        commit = self._last.get(lane_of(event))
        if commit is not None:
            await commit.wait()


def lane_of(event: Event[Any]) -> str:
    """Give the lane of an event: its session's, or the one of events without a session."""
    return getattr(event.data, "session_id", None) or ""
