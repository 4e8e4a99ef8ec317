"""One document as the store holds it: on disk, committed, planned, and the operations in between."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from openclaw_memory.errors import UnreadableDocumentError
from openclaw_memory.storage.documents import Format
from openclaw_memory.storage.files import Stamp
from openclaw_memory.storage.operations import Operation

Entries = list[tuple[int, Operation]]


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
    planned: Any = None
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
    doubted: Stamp | None = None
    """Stamp of a file that was found empty once; it is believed when it is found so again."""
    restored: bool = False
    """The file on disk is damaged; what is held was restored and must be written, without the damage as a backup."""
    backup: Stamp | None = None
    """Stamp of the backup as we left it. An editor that still held the displaced file open changes it."""
    idle_since: float = 0.0
    """When the document was flushed last; after some rest its backup is brought up to date."""

    @property
    def to_write(self) -> bool:
        """Whether the file lags behind."""
        return bool(self.unflushed or self.restored)

    @property
    def needed_from(self) -> int | None:
        """First position of the journal that this document still rests on; None when it rests on none."""
        for entries in (self.flushed, self.unflushed, self.queued):
            if entries:
                return entries[0][0]
        return None

    def apply(self, document: Any, entries: Entries) -> Any:
        """Give a document with operations applied."""
        for _, operation in entries:
            document = self.format.apply(document, operation)
        return document

    def rebase(self, base: Any, stamp: Stamp | None, position: int) -> None:
        """Take another file for the base; what is not in it yet is applied to it again."""
        self.base, self.stamp, self.rebased, self.problem = base, stamp, position, None
        self.committed = self.apply(base, self.unflushed)
        self.planned = self.apply(self.committed, self.queued)

    def go_back(self) -> None:
        """Treat what the file held beyond its backup as not flushed: the backup is about to be the base."""
        self.unflushed = self.flushed + self.unflushed
        self.flushed = []
