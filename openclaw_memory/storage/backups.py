"""The backups of documents, and what is set aside beside them: damaged bytes, a text that two editors saved at once."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime
from pathlib import Path
from typing import Any

import anyio.to_thread

from openclaw_memory.errors import UnreadableDocumentError
from openclaw_memory.storage.documents import Format
from openclaw_memory.storage.durable import BACKUP_SUFFIX, backup_path, free_path, make_folders, write_whole
from openclaw_memory.storage.files import Files, Stamp
from openclaw_memory.storage.integrity import digest_of
from openclaw_memory.storage.places import Places


class Backups:
    """Backups by the relative path of their documents.

    Parameters: `places` of the documents; `files`; `format_of`, which gives the format of a path; `now`, the time of
    day, for the names of what is set aside.
    """

    def __init__(
        self, places: Places, files: Files, format_of: Callable[[str], Format], now: Callable[[], datetime]
    ) -> None:
        self._places, self._files, self._format_of, self._now = places, files, format_of, now

    async def of(self, path: str) -> Path:
        """Give the place of a document's backup. Raises: `OSError`."""
        if self._places.is_elsewhere(path):
            # Beside nothing that would have to be looked at first.
            return self.of_now(path)
        return await anyio.to_thread.run_sync(self.of_now, path)

    def of_now(self, path: str) -> Path:
        """Do so in a thread. Raises: `OSError`."""
        if self._places.is_elsewhere(path):
            return self._places.companion(path, BACKUP_SUFFIX)
        return backup_path(self._files, self._places.of(path))

    async def look(self, path: str) -> tuple[Path, Stamp | None]:
        """Give place and state of a document's backup. Raises: `OSError`."""

        def look() -> tuple[Path, Stamp | None]:
            backup = self.of_now(path)
            return backup, self._files.stamp_now(backup)

        return await anyio.to_thread.run_sync(look)

    async def read(self, path: str) -> tuple[Any, str | None] | None:
        """Give the document in the backup of a file, and its version; None when there is no intact one."""
        form = self._format_of(path)
        try:
            data, _ = await self._files.read(await self.of(path))
            document = form.parse(path, data)
        except (OSError, UnreadableDocumentError):
            return None
        intact = form.fits(document)
        if intact is None and self._places.is_elsewhere(path):
            return document, digest_of(data)
        return (document, form.version(document)) if intact else None

    async def set_aside(self, path: str, kind: str, data: bytes) -> str:
        """Keep bytes beside a document, under a name that nothing else is kept under; gives its path.

        Raises: `OSError`.
        """

        def write() -> str:
            kept = free_path(self._files, self._places.companion(path, f".{kind}-{self._now():%Y%m%dT%H%M%S}"))
            make_folders(self._files, kept.parent)
            write_whole(self._files, kept, data)
            return self._places.shown(kept)

        return await anyio.to_thread.run_sync(write)
