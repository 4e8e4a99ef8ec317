"""Look for what a person did to the files: how often, and where."""

from __future__ import annotations

from openclaw_memory.catalog import Catalog
from openclaw_memory.clock import Clock
from openclaw_memory.layers.parts import FOLDERS as CONVERSATIONS
from openclaw_memory.layers.rooms import FOLDERS
from openclaw_memory.reading.documents import Documents
from openclaw_memory.workspace import WorkspaceView

LOOK_INTERVAL_SECONDS = 1.0
"""How often all conversation files are looked at for edits when there are many; other layers' are on every read."""

FEW_CONVERSATIONS = 500
"""So many conversation files are looked at on every read: it costs a millisecond or two."""


class Looking:
    """Looks at the files before something is read.

    Parameters: `store` and `catalog` of the same documents; `view` of the workspace; `clock`.
    """

    def __init__(self, store: Documents, catalog: Catalog, view: WorkspaceView, clock: Clock) -> None:
        self._store = store
        self._catalog = catalog
        self._view = view
        self._clock = clock
        self._looked_at = float("-inf")
        self._awake = False
        """Whether the documents that every context is made of were read."""

    async def look(self, *, everywhere: bool = False) -> None:
        """Take note of what a person did to the files."""
        now = self._clock.monotonic()
        folders = [*(folder for folder in FOLDERS if folder not in CONVERSATIONS), *self._view.areas]
        talks = (*CONVERSATIONS, *self._view.session_areas)
        few = sum(map(self._catalog.count, talks)) <= FEW_CONVERSATIONS
        if everywhere or few or now - self._looked_at >= LOOK_INTERVAL_SECONDS:
            folders += talks
            self._looked_at = now
        await self._store.look(folders)
        await self._view.follow()

    async def wake(self) -> None:
        """Read what every context is made of: all but conversations, which are answered from the index."""
        if not self._awake:
            await self._store.look([folder for folder in FOLDERS if folder not in CONVERSATIONS], wake=True)
            self._awake = True
