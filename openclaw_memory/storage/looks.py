"""Looks at the files of documents: what state they are in, and whether somebody is saving one right now."""

from __future__ import annotations

import errno
from collections.abc import Iterable
from contextlib import suppress

import anyio.to_thread

from openclaw_memory.storage.areas import Listing, find
from openclaw_memory.storage.files import Files, Stamp
from openclaw_memory.storage.places import Places

SAVING_SECONDS = 1.0
"""How long an editor may take to save a file in place, from its last write on. A younger file is not written over."""


class Looks:
    """Looks by relative path.

    Parameters: `places` of the documents; `files`.
    """

    def __init__(self, places: Places, files: Files) -> None:
        self._places, self._files = places, files

    async def stamp(self, path: str) -> Stamp | None:
        """Give the state of a document's file; None when there is none. Raises: `OSError`."""
        return await self._files.stamp(self._places.of(path))

    async def stamps(self, paths: Iterable[str]) -> dict[str, Stamp | None]:
        """Look at files in one go, since a hop to a thread costs more than a look; without those that can't be."""
        return await anyio.to_thread.run_sync(self._stamps, list(paths))

    def _stamps(self, paths: Iterable[str]) -> dict[str, Stamp | None]:
        found = {}
        for path in paths:
            with suppress(OSError):
                found[path] = self._files.stamp_now(self._places.of(path))
        return found

    async def everything_in(self, areas: Iterable[str]) -> Listing:
        """Find the documents in some areas, with the states of their files, and what can't be listed."""
        return await anyio.to_thread.run_sync(find, list(areas), self._places, self._files)

    def is_young(self, stamp: Stamp) -> bool:
        """Tell whether a file was changed so lately that somebody may still be saving it."""
        # A time in the future is a clock that was wrong, not somebody who saves for ever.
        return abs(self._files.age(stamp)) < SAVING_SECONDS

    async def is_gone(self, path: str) -> bool:
        """Tell whether there is no such file now."""
        try:
            return await self.stamp(path) is None
        except OSError:
            return False

    async def is_just_gone(self, path: str) -> bool:
        """Tell whether a file that was there is gone since so lately that an editor may be about to write it anew.

        Raises: `OSError`.
        """
        if await self.stamp(path) is not None:
            # There again; the next look reads it.
            return True
        return await self._folder_is_young(path)

    async def is_saved_right_now(self, path: str, known: Stamp, found: Stamp | None) -> bool:
        """Tell whether a file is empty, or away, since so lately that an editor may be about to fill it."""
        if found is not None:
            return found.size == 0 and known.size > 0 and self.is_young(found)
        try:
            return await self._folder_is_young(path)
        except OSError:
            return False

    async def _folder_is_young(self, path: str) -> bool:
        # Taking a file away changes the time of its folder.
        folder = await self._files.stamp(self._places.of(path).parent)
        return folder is not None and self.is_young(folder)

    def newest_part(self, path: str, most: int) -> tuple[bytes, Stamp] | None:
        """Give the last so many bytes of a document's file, whatever it is too large for; None when it is not there.

        For a thread. Raises: `OSError`.
        """
        place, folder = self._places.of(path), self._places.bounds(path)
        if folder is not None and not self._files.is_within(place, folder):
            return None
        stamp = self._files.stamp_now(place)
        return None if stamp is None else (self._files.read_end(place, most), stamp)

    async def read(self, path: str) -> tuple[bytes, Stamp]:
        """Read a document's file; not by a link that leads out of a folder elsewhere.

        Who may write there may not have us read anything. Raises: `OSError`.
        """
        place, bounds = self._places.of(path), self._places.bounds(path)
        if bounds is not None and not await anyio.to_thread.run_sync(self._files.is_within, place, bounds):
            raise OSError(errno.ELOOP, f"a link leads out of {self._places.shown(bounds)}")
        return await self._files.read(place)
