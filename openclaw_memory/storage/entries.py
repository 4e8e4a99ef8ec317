"""One document as the store holds it: on disk, committed, planned, and the operations in between."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from openclaw_memory.errors import UnreadableDocumentError
from openclaw_memory.storage.documents import Format
from openclaw_memory.storage.files import Stamp
from openclaw_memory.storage.operations import Operation

MOST_REMEMBERED = 1_000
"""Operations and versions of one document that are remembered for editors that hold an old view."""

Entries = list[tuple[int, Operation]]


@dataclass(frozen=True, slots=True)
class Merged:
    """A file with what it did not hold yet applied to it again: `unflushed`, then `queued`. `told`: what collided."""

    committed: Any
    planned: Any
    unflushed: tuple[tuple[int, Operation], ...]
    queued: tuple[tuple[int, Operation], ...]
    told: tuple[str, ...]


@dataclass(slots=True)
class Entry:
    """All that is known of one document.

    `base` is the file as it is on disk, with its `stamp`; None while it can't be read. `flushed` are operations that
    the file holds and its backup does not, `unflushed` those that are durable in the journal only, `queued` those on
    their way there. So base + unflushed = committed, committed + queued = planned, backup + flushed = base.
    """

    format: Format
    base: Any = None
    stamp: Stamp | None = None
    ours: Stamp | None = None
    """Stamp of the file when it last held just what we wrote; other bytes with this stamp are damage."""
    committed: Any = None
    _planned: Any = None
    _ahead: list[Operation] = field(default_factory=list)
    """The last operations of `queued`, as far as they are still to be applied to `_planned`."""
    digest: str | None = None
    """Of the bytes of `base`, for documents that name no version themselves."""
    flushed: Entries = field(default_factory=list)
    unflushed: Entries = field(default_factory=list)
    queued: Entries = field(default_factory=list)
    since: float = 0.0
    """When the oldest of `unflushed` came, in seconds of the monotonic clock."""
    retry_at: float = 0.0
    """Not flushed before this time, after a flush that failed."""
    rebased: int = 0
    """Last position when the file was read anew: commits up to it were planned on another base."""
    problem: UnreadableDocumentError | None = None
    rewrite: bool = False
    """The file has to be written although nothing waits: its base was exchanged for a better one."""
    restored: bool = False
    """The file on disk is damaged; what is held was restored and must be written, without the damage as a backup."""
    backup: Stamp | None = None
    """Stamp of the backup as we left it. An editor that still held the displaced file open changes it."""
    idle_since: float = 0.0
    """When the document was flushed last; after some rest its backup is brought up to date."""
    took: float = 0.0
    """How long that took, in seconds."""

    log: Entries = field(default_factory=list)
    """The last operations that were flushed in this run, for those who save an old view of the file over it."""
    versions: dict[str, int] = field(default_factory=dict)
    """Versions that the file had in this run, each with the last position that it held."""

    @property
    def planned(self) -> Any:
        """The document as the newest plan leaves it."""
        if self._ahead:
            self._planned, self._ahead = self._applied(self._planned, self._ahead), []
        return self._planned

    @planned.setter
    def planned(self, document: Any) -> None:
        self._planned, self._ahead = document, []

    @property
    def ahead(self) -> tuple[Any, int]:
        """A state of `planned`, and how many operations are still to be applied to it."""
        return self._planned, len(self._ahead)

    def add(self, position: int, operation: Operation) -> None:
        """Queue an operation that is applied when somebody looks: many then cost what one does."""
        self.queued.append((position, operation))
        self._ahead.append(operation)

    @property
    def to_write(self) -> bool:
        """Whether the file lags behind."""
        return bool(self.unflushed or self.restored or self.rewrite)

    @property
    def needed_from(self) -> int | None:
        """First position of the journal that this document still rests on; None when it rests on none."""
        for entries in (self.flushed, self.unflushed, self.queued):
            if entries:
                return entries[0][0]
        return None

    def lacks(self, position: int) -> bool:
        """Tell whether file or backup may lack something up to a position."""
        needed = self.needed_from
        return self.restored or self.rewrite or (needed is not None and needed <= position)

    def apply(self, document: Any, entries: Entries) -> Any:
        """Give a document with operations applied."""
        return self._applied(document, [operation for _, operation in entries])

    def _applied(self, document: Any, operations: Sequence[Operation]) -> Any:
        for operation in self.format.joined(operations):
            document = self.format.apply(document, operation)
        return document

    def merged(self, base: Any, version: str | None) -> Merged:
        """Apply what a file of a version does not hold yet to it again. Changes nothing; for any thread."""
        unflushed, queued = tuple(self._caught_up(version)[1]), tuple(self.queued)
        told: list[str] = []

        def applied(document: Any, entries: Sequence[tuple[int, Operation]]) -> Any:
            for _, operation in entries:
                told.extend([words] if (words := self.format.collision(document, operation)) else [])
                document = self.format.apply(document, operation)
            return document

        committed = applied(base, unflushed)
        return Merged(committed, applied(committed, queued), unflushed, queued, tuple(told))

    def is_current(self, merged: Merged, version: str | None) -> bool:
        """Tell whether nothing was written since something was merged into a file of this version."""
        return (tuple(self._caught_up(version)[1]), tuple(self.queued)) == (merged.unflushed, merged.queued)

    def rebase(self, base: Any, stamp: Stamp | None, position: int, merged: Merged | None = None) -> None:
        """Take another file for the base; what is not in it yet is applied to it again, or was (`merged`)."""
        self.base, self.stamp, self.rebased, self.problem = base, stamp, position, None
        if merged is None:
            self.committed = self.apply(base, self.unflushed)
            self.planned = self.apply(self.committed, self.queued)
        else:
            self.committed, self.planned = merged.committed, merged.planned

    def remember(self, version: str | None, position: int, flushed: Sequence[tuple[int, Operation]] = ()) -> None:
        """Note that the file has a version that holds everything up to `position`."""
        newest = self.log[-1][0] if self.log else 0
        self.log += [item for item in flushed if item[0] > newest]
        oldest = min(self.versions.values(), default=0)
        self.log = [item for item in self.log if item[0] > oldest][-MOST_REMEMBERED:]
        if version is not None:
            self.versions[version] = position
        for old in list(self.versions)[:-MOST_REMEMBERED]:
            del self.versions[old]

    def lacks_unflushed(self, version: str | None) -> None:
        """Note that the file's version holds nothing of `unflushed`, which was found out after it was read."""
        if version in self.versions and self.unflushed:
            self.versions[version] = min(self.versions[version], self.unflushed[0][0] - 1)

    def catch_up(self, version: str | None) -> Entries:
        """Take a file of an older version, which an editor had open: what was flushed since is applied to it again.

        Gives the operations. What is older than the log remembers counts as deleted by the person.
        """
        missing, self.unflushed = self._caught_up(version)
        if missing:
            self.flushed = []
        return missing

    def _caught_up(self, version: str | None) -> tuple[Entries, Entries]:
        """Give what a file of a version lacks of the log, and what is unflushed with that."""
        held = self.versions.get(version or "")
        if held is None:
            return [], self.unflushed
        missing = [item for item in self.log if item[0] > held]
        return missing, missing + [item for item in self.unflushed if not missing or item[0] > missing[-1][0]]

    def go_back(self) -> None:
        """Treat what the file held beyond its backup as not flushed: the backup is about to be the base."""
        self.unflushed = self.flushed + self.unflushed
        self.flushed = []
