"""What is asked of the documents of a root: committed ones, with what a person did to their files in the meantime."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from openclaw_memory.storage.files import Stamp
from openclaw_memory.storage.shelf import Shelf


class Reading:
    """The side of a store that reads.

    Parameters: `shelf`, with the documents.
    """

    def __init__(self, shelf: Shelf) -> None:
        self._shelf = shelf

    async def scan(self, folder: str) -> list[str]:
        """List the documents right in a folder, on disk or not yet there, by relative path, sorted."""
        return await self._shelf.scan(folder)

    async def readable(self, paths: Iterable[str]) -> list[str]:
        """Choose the paths whose documents can be read."""
        paths = list(paths)
        await self._shelf.refresh_all(paths)
        return [path for path in paths if self._shelf.entries[path].problem is None]

    async def looked_through(self, folder: str) -> list[str]:
        """Look at all files of a folder at once, and list the documents that can be read."""
        await self._shelf.look([folder], wake=True)
        return sorted(
            path
            for path, entry in self._shelf.entries.items()
            if path.rpartition("/")[0] == folder and entry.problem is None
        )

    async def read(self, path: str) -> Any:
        """Give the committed document, with what a person did to its file in the meantime.

        Raises: `UnreadableDocumentError`.
        """
        entry = await self._shelf.refresh(path)
        if entry.problem is not None:
            raise entry.problem
        return entry.committed

    async def look(self, folders: Iterable[str], *, wake: bool = False) -> None:
        """Read what a person changed, added or took away in these folders; costs one look at each file's stamp.

        `wake`: read files at rest as well, so that their documents are known.
        """
        await self._shelf.look(folders, wake=wake)

    def rest(self, files: Mapping[str, Stamp]) -> None:
        """Leave files in these states unread, since readers know them already, until they change or are needed."""
        entries = self._shelf.entries
        self._shelf.at_rest = {path: stamp for path, stamp in files.items() if path not in entries}

    def is_being_saved(self, path: str) -> bool:
        """Tell whether somebody else changed a file so lately that they may still be saving it."""
        entry = self._shelf.entries.get(path)
        return (
            entry is not None
            and entry.stamp is not None
            and entry.stamp is not entry.ours
            and entry.stamp != entry.ours
            and self._shelf.looks.is_young(entry.stamp)
        )

    def file_of(self, path: str) -> tuple[Stamp, str] | None:
        """Give stamp and version of a file that holds all that is acknowledged of its document; else None."""
        entry = self._shelf.entries[path]
        if entry.base is None or entry.stamp is None or entry.to_write or entry.queued:
            return None
        return entry.stamp, entry.format.version(entry.base) or ""

    async def wake(self, paths: Iterable[str]) -> None:
        """Read those of these documents that are at rest."""
        await self._shelf.wake(paths)

    async def look_at(self, paths: Iterable[str]) -> bool:
        """Read those of these documents that a person changed; tells whether there were any."""
        return await self._shelf.look_at(paths)

    def newest_part(self, path: str, most: int) -> tuple[bytes, Stamp] | None:
        """Give the end of a file that is too large to be held; as `Looks.newest_part`."""
        return self._shelf.looks.newest_part(path, most)

    def problems(self) -> dict[str, str]:
        """Tell which documents can't be read, and why."""
        return self._shelf.problems()

    def tell(self, place: str, words: str | None) -> None:
        """Add to the notices what a person should know of a place, or with None take it back."""
        if words is None:
            self._shelf.notices.pop(place, None)
        else:
            self._shelf.notices[place] = words

    def notices(self) -> dict[str, str]:
        """Tell, by document, what a person should know: that it was damaged and restored, that edits collided."""
        return dict(self._shelf.notices)

    def unflushed(self) -> dict[str, int]:
        """Count, by document, the acknowledged entries that are in the journal and not yet in the file."""
        return {path: len(entry.unflushed) for path, entry in self._shelf.entries.items() if entry.unflushed}

    def lagging(self, paths: Iterable[str], upto: int) -> list[str]:
        """Choose those of these documents whose files and backups can't be said to hold everything up to a position."""
        entries = self._shelf.entries
        return [path for path in paths if path in entries and entries[path].lacks(upto)]
