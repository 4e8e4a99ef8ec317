"""Look for notes that have lost their meaning with their day, so that a person may tidy up (seed 002)."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime

import anyio.to_thread

from openclaw_memory.lifecycle.jobs import NOTHING, Outcome, another_day
from openclaw_memory.lifecycle.tools import Tools
from openclaw_memory.retrieval.cutting import snippet
from openclaw_memory.retrieval.stale import is_stale
from openclaw_memory.workspace import workspace_of

MAX_LINE_CHARS = 120
MOST_LISTED = 1_000


class StaleNotes:
    """Job of the heartbeat, daily and after each start. It changes nothing.

    Parameters: `tools`.
    """

    name = "stale_notes"

    def __init__(self, tools: Tools) -> None:
        self._tools = tools
        self.found: Mapping[str, str] | None = None
        """By address, the notes that were found; None before the first look."""

    def due(self, last: datetime | None, now: datetime) -> bool:
        """Tell whether it is another day, or nobody has looked yet."""
        return self.found is None or another_day(last, now, self._tools.config.zone)

    async def run(self, now: datetime) -> Outcome:
        """Look through the notes, in a thread; those at rest are read from the index."""
        self.found = await anyio.to_thread.run_sync(self._look, now)
        if not self.found:
            return NOTHING
        return Outcome("nothing", (), f"{len(self.found)} notes speak of a day that is a week past; see the status")

    def _look(self, now: datetime) -> Mapping[str, str]:
        catalog = self._tools.catalog
        catalog.feed()
        found: dict[str, str] = {}
        for path in catalog.paths(f"{workspace_of(self._tools.config).notes}/**/*.md"):
            for block in catalog.index.blocks_of(path):
                if is_stale(block, now) and len(found) < MOST_LISTED:
                    found[block.key] = snippet(" ".join(block.text.split()), MAX_LINE_CHARS)
        return found
