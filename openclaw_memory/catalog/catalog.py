"""What readers see of all documents now: the newest of each, and their pieces in the index. Derived, and cheap to keep.

The event loop only notes which documents changed; what that means for the index is worked out by whoever searches next,
or in the background, in a thread.
"""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from datetime import datetime, tzinfo
from typing import Any

from openclaw_memory.catalog.feeding import Feeding
from openclaw_memory.catalog.lines import as_message, as_messages
from openclaw_memory.catalog.noted import Noted
from openclaw_memory.layers.parts import day_of
from openclaw_memory.layers.rooms import room_of
from openclaw_memory.retrieval.blocks import Block, FileRecord
from openclaw_memory.retrieval.index import Index
from openclaw_memory.storage.areas import Held

MESSAGES_LOOKED_AT = 50
"""Newest messages of a session whose files are looked at for edits before its history is given."""


class Catalog:
    """Kept in step with the committed documents by `changed` and `feed`; nothing here is asked of the disk.

    Parameters: `index`; `zone`, the user's time zone. `changed`, `document` and its like are for the event loop; `feed`
    and what looks into the index may be called in any thread.
    """

    def __init__(self, index: Index, zone: tzinfo) -> None:
        self._zone = zone
        self._documents: dict[str, Any] = {}
        self._known: dict[str, None] = {}
        """Every document that was read or is at rest, also those whose files are gone, in the order they were met."""
        self._counts: Counter[str] = Counter()
        """How many of them lie right in each folder."""
        self._listed: dict[tuple[str, ...], tuple[int, list[str]]] = {}
        """Answers of `paths`, each with the number of known documents that it was given for."""
        self._noted = Noted()
        self._lock = threading.Lock()
        """Held by who feeds."""
        self._feeding = Feeding(index, zone)
        self.use(index)

    def use(self, index: Index) -> None:
        """Take an index, and what it remembers of files that need not be read."""
        with self._lock:
            self._meet(self._feeding.use(index))

    def tell(self, offer: Callable[[list[str]], None] | None) -> None:
        """Tell somebody, in the thread of whoever feeds, the texts (`passage`) of what goes into the index."""
        self._feeding.offer = offer

    @property
    def index(self) -> Index:
        """Give the index in use."""
        return self._feeding.index

    # -- documents ----------------------------------------------------------------------------------------------

    def changed(self, path: str, before: Any, after: Any, record: FileRecord | None = None) -> None:
        """Take note that a document is another one now.

        `record` is the state of its file where that holds all of the document; with it the file need not be read again
        by the next start.
        """
        self._documents[path] = after
        self._meet((path,))
        self._noted.changed(path, before, after, record)

    def hide(self, path: str) -> None:
        """Take the pieces of a document out of the index, until `again`."""
        self._noted.hide(path, room_of(path).format.new(path))

    def again(self, path: str, record: FileRecord | None) -> None:
        """Have the index take in a document anew, whatever it was told of it before."""
        self._noted.again(path, self._documents[path], record)

    def pieces(self, path: str) -> list[Block]:
        """Give the pieces of a document that was read, as the index would hold them."""
        return self._feeding.pieces(path, self._documents[path])

    def known(self) -> list[str]:
        """List the documents that were read and are not hidden."""
        return [path for path in list(self._documents) if not self._noted.hides(path)]

    def document(self, path: str) -> Any:
        """Give the committed document; None when it was never read or written."""
        return self._documents.get(path)

    def count(self, folder: str) -> int:
        """Count the documents right in a folder, those at rest included."""
        return self._counts[folder]

    def knows(self, path: str) -> bool:
        """Tell whether a document was read, or is at rest."""
        return path in self._known

    def met(self) -> list[str]:
        """List every document that was read, or is at rest; also those whose files are gone."""
        return list(self._known)

    def paths(self, *areas: str) -> list[str]:
        """List the documents in some areas, read or at rest, by path; also those whose files are gone."""
        # Asked several times a read; the answer changes only when a document is met for the first time.
        met = len(self._known)
        listed = self._listed.get(areas)
        if listed is None or listed[0] != met:
            held = Held(areas)
            before, old = listed or (0, [])
            new = [path for path in list(self._known)[before:met] if path in held]
            listed = self._listed[areas] = (met, sorted([*old, *new]) if new else old)
        return listed[1]

    def _meet(self, paths: Iterable[str]) -> None:
        new = [path for path in paths if path not in self._known]
        self._known.update(dict.fromkeys(new))
        self._counts.update(path.rpartition("/")[0] for path in new)

    def documents(self, folder: str) -> list[Any]:
        """Give the documents right in a folder that were read, by path."""
        known = list(self._documents.items())
        here = sorted(path for path, _ in known if path.rpartition("/")[0] == folder)
        return [self._documents[path] for path in here]

    def front_matter_problems(self) -> dict[str, str]:
        """Tell whose front matter YAML refuses, and why; their text is used all the same."""
        return {
            path: front.problem
            for path, document in self._documents.items()
            if (front := getattr(document, "front", None)) is not None and front.problem is not None
        }

    def wanted(self) -> list[str]:
        """Give files at rest that must be read, since another file of their day may hold the same messages."""
        with self._lock:
            return self._feeding.days.wanted()

    # -- the index ----------------------------------------------------------------------------------------------

    def feed(self, most: int | None = None) -> bool:
        """Bring the index up to date with every change noted so far; an addition costs only what was added.

        With `most` it stops when so many pieces wait for the index to write them down; tells whether all was taken in.
        """
        with self._lock:
            left = self._feeding.feed(self._noted.take(), most)
            if left:
                self._noted.put_off(left)
        return not left

    def as_messages(self, blocks: Sequence[Block]) -> dict[str, str]:
        """Give, by its own address, the one that a line has as a message of its day, where it is found as that."""
        return as_messages(blocks, self.index, self._zone)

    def as_message(self, block: Block) -> str | None:
        """Give the address that a line has as a message of its day, if it is one."""
        return as_message(block, self._zone)

    def find(self, key: str) -> Block | None:
        """Give the piece that has this address, wherever it lies now; None when there is none.

        The address of a message names its day, and holds also when the day's file was rotated.
        """
        self.feed()
        return next(iter(self.index.find(key)), None)

    def paths_of(self, session: str, newest: int = 2) -> list[str]:
        """Give the newest files that hold messages of a session, and where an old view of them would be saved."""
        paths = self.index.newest_paths(session, MESSAGES_LOOKED_AT)[:newest]
        return list(dict.fromkeys([*paths, *map(day_of, paths)]))

    def newest_messages(self, session: str, until: datetime | None) -> Iterator[Block]:
        """Yield the messages of a session, newest first, none of them after `until`."""
        self.feed()
        return self.index.newest(session, until)
