"""How other processes hand in writes while one of them owns the root: a maildir of events and of replies.

A file in `new/` is durable by itself. The owner, or the next one, applies it once and leaves its reply in `done/`.
"""

from __future__ import annotations

import json
import logging
from pathlib import Path
from typing import Any

from openclaw_memory.storage.durable import make_folders, remove
from openclaw_memory.storage.files import Files

log = logging.getLogger(__name__)

FOLDER = ".inbox"

ABANDONED_SECONDS = 600.0
"""After so long nobody is still writing a file in `tmp/`."""


class Inbox:
    """The maildir of one root. Everything here is called from a thread.

    Parameters: `root`, the memory folder; `files`.
    """

    def __init__(self, root: Path, files: Files) -> None:
        self._files = files
        self._tmp, self._new, self._done = (root / FOLDER / name for name in ("tmp", "new", "done"))

    def make_folders(self) -> None:
        """Create what is missing."""
        for folder in (self._tmp, self._new, self._done):
            make_folders(self._files, folder)

    def hand_in(self, name: str, event: dict[str, Any]) -> None:
        """Put an event into `new/`; it survives everything on return. `name` must be new, and sorts by time."""
        self.make_folders()
        self._put(self._tmp / name, self._new / f"{name}.json", event)

    def place(self, name: str) -> Path:
        """Give the file in which an event waits."""
        return self._new / f"{name}.json"

    def waiting(self) -> list[str]:
        """List the names of events that nobody has applied, oldest first."""
        return sorted(name.removesuffix(".json") for name in self._files.scan(self._new) if name.endswith(".json"))

    def event(self, name: str) -> Any:
        """Read an event. Raises: `OSError`, `ValueError`."""
        return json.loads(self._files.read_now(self._new / f"{name}.json"))

    def answer(self, name: str, reply: dict[str, Any], for_good: bool = False) -> None:
        """Leave the reply to an event, then take the event away: it is applied, and durable where it belongs.

        `for_good`: no crash may bring it back, to be answered again.
        """
        self._put(self._tmp / name, self._done / f"{name}.json", reply)
        if for_good:
            remove(self._files, self._new / f"{name}.json")
        else:
            self._files.remove(self._new / f"{name}.json")

    def reply(self, name: str) -> Any:
        """Take the reply to an event; None while there is none."""
        path = self._done / f"{name}.json"
        try:
            reply = json.loads(self._files.read_now(path))
        except FileNotFoundError:
            return None
        self._files.remove(path)
        return reply

    def keep_taken(self) -> None:
        """See to it that no crash brings back what was taken away.

        An event that comes back is known by its key and not applied again, unless that was forgotten.
        """
        for folder in (self._tmp, self._new, self._done):
            if self._files.is_folder(folder):
                self._files.sync_folder(folder)

    def sweep(self, keep: int) -> None:
        """Remove replies that nobody took, but for the newest `keep`, and what interrupted writers left in `tmp/`."""
        for name in sorted(self._files.scan(self._done))[:-keep]:
            self._files.remove(self._done / name)
        for name, stamp in self._files.scan(self._tmp).items():
            if self._files.age(stamp) > ABANDONED_SECONDS:
                self._files.remove(self._tmp / name)

    def _put(self, temporary: Path, target: Path, content: dict[str, Any]) -> None:
        self._files.remove(temporary)
        file = self._files.create(temporary)
        try:
            file.append(json.dumps(content, ensure_ascii=False).encode())
            file.sync()
        finally:
            file.close()
        self._files.rename(temporary, target)
        self._files.sync_folder(target.parent)
