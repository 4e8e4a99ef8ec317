"""The documents of a root that another process owns: read from its files and its journal, never written."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any

import anyio
import anyio.to_thread

from openclaw_memory.clock import Clock
from openclaw_memory.storage.documents import Format
from openclaw_memory.storage.entries import Entry
from openclaw_memory.storage.files import Files, Stamp
from openclaw_memory.storage.journal import read_journal
from openclaw_memory.storage.operations import Record
from openclaw_memory.storage.places import Places
from openclaw_memory.storage.recovery import documents_named, held_up_to, operations_on
from openclaw_memory.storage.shelf import Shelf


class Follower:
    """What readers need of a store, beside the one who writes it.

    What the owner has acknowledged and not yet written into the files is in its journal, and is seen from there.

    Parameters: as those of `Store`.
    """

    def __init__(
        self,
        root: Path,
        files: Files,
        clock: Clock,
        format_of: Callable[[str], Format],
        changed: Callable[[str, Any, Any], None],
        elsewhere: Mapping[str, Path] | None = None,
    ) -> None:
        self._folder = root / ".journal"
        self._files = files
        self._format_of = format_of
        self._shelf = Shelf(
            Places(root, elsewhere or {}),
            files,
            format_of,
            changed,
            clock.now,
            lambda: 0,
            lambda records: None,
            restores=False,
        )
        self._journal: dict[str, Stamp] | None = None
        self._looking = anyio.Lock()

    async def look(self, folders: Iterable[str], *, wake: bool = False) -> None:
        """Read what changed in these folders, and what the owner's journal holds beyond them; nothing is at rest."""
        # One after the other: an older journal must not be laid over a newer one.
        async with self._looking:
            await self._shelf.look(folders)
            stamps = await anyio.to_thread.run_sync(self._files.scan, self._folder)
            if stamps != self._journal:
                contents = await anyio.to_thread.run_sync(read_journal, self._folder, self._files)
                for path in documents_named(contents.records) | self._shelf.active:
                    await self._overlay(path, contents.records)
                self._journal = stamps

    async def wake(self, paths: Iterable[str]) -> None:
        """Read those of these documents that were never read."""
        await self._shelf.wake(paths)

    async def look_at(self, paths: Iterable[str]) -> bool:
        """Read those of these documents that changed; tells whether there were any."""
        return await self._shelf.look_at(paths)

    def is_ahead(self, path: str) -> bool:
        """Tell whether the journal holds more of a document than its file."""
        return path in self._shelf.active

    def newest_part(self, path: str, most: int) -> tuple[bytes, Stamp] | None:
        """Give the end of a file that is too large to be held; as `Looks.newest_part`."""
        return self._shelf.looks.newest_part(path, most)

    def problems(self) -> dict[str, str]:
        """Tell which documents can't be read, and why."""
        return self._shelf.problems()

    async def _overlay(self, path: str, records: Iterable[Record]) -> None:
        records = list(records)
        entry = self._shelf.entries.setdefault(path, Entry(self._format_of(path)))
        entry.unflushed = []
        await self._shelf.reload(path)
        if entry.base is None:
            return
        held = held_up_to(records, path, entry.format.version(entry.base), digest=entry.digest)
        entry.unflushed = [item for item in operations_on(records, path) if item[0] > held]
        self._shelf.rebase(path, entry.base, entry.stamp)
        (self._shelf.active.add if entry.unflushed else self._shelf.active.discard)(path)
