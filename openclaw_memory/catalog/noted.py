"""Changes of documents that the index has not heard of yet: noted on the event loop, taken by whoever feeds it."""

from __future__ import annotations

import threading
from dataclasses import dataclass
from typing import Any

from openclaw_memory.retrieval.blocks import FileRecord


@dataclass(frozen=True, slots=True)
class Change:
    """What a document was when the index last heard of it, what it is now, and the state of its file, if it has one."""

    before: Any
    after: Any
    record: FileRecord | None


class Noted:
    """Changes by path, one each: what was changed twice since the index heard of it is one change. For any thread."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._changes: dict[str, Change] = {}
        self._hidden: set[str] = set()
        """Documents whose pieces are kept out of the index."""

    def changed(self, path: str, before: Any, after: Any, record: FileRecord | None) -> None:
        """Note that a document is another one now; as `Catalog.changed`."""
        with self._lock:
            if path in self._hidden:
                # Nobody is shown it, whatever it says now.
                return
            noted = self._changes.get(path)
            self._changes[path] = Change(before if noted is None else noted.before, after, record)

    def hide(self, path: str, empty: Any) -> None:
        """Have the index show nothing of a document, until `again`; `empty` is one that says nothing."""
        with self._lock:
            self._hidden.add(path)
            self._changes[path] = Change(None, empty, None)

    def again(self, path: str, document: Any, record: FileRecord | None) -> None:
        """Have the index take in a document anew, whatever it was told of it before."""
        with self._lock:
            self._hidden.discard(path)
            self._changes[path] = Change(None, document, record)

    def hides(self, path: str) -> bool:
        """Tell whether a document is hidden."""
        return path in self._hidden

    def take(self) -> dict[str, Change]:
        """Give what was noted since the last time, and let go of it."""
        with self._lock:
            changes, self._changes = self._changes, {}
        return changes

    def put_off(self, left: dict[str, Change]) -> None:
        """Note changes again, as if before those that were noted since."""
        with self._lock:
            for path, change in self._changes.items():
                earlier = left.get(path)
                # Without a document before, all of it is taken in anew anyway.
                before = change.before if earlier is None or change.before is None else earlier.before
                left[path] = Change(before, change.after, change.record)
            self._changes = left
