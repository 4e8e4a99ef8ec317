"""What has to be done again after a crash. Pure: decided from the journal and from what the documents say."""

from __future__ import annotations

from collections.abc import Iterable

from openclaw_memory.storage.entries import Entries
from openclaw_memory.storage.operations import Record


def documents_named(records: Iterable[Record]) -> set[str]:
    """List the documents that the journal has operations for."""
    return {operation.path for record in records for operation in record.operations}


def held_up_to(
    records: Iterable[Record], path: str, version: str | None, *, on_disk: bool = True, digest: str | None = None
) -> int:
    """Tell up to which position a version of a document holds the operations of the journal; 0: none of them.

    A document names its own version, also after a person has edited it, and after an editor saved an old view over
    it. The newest flush of that version, done or only intended, is what counts: so nothing is applied twice, and a line
    that a person deleted after the flush stays deleted. `on_disk`: the version is that of the file itself, not of its
    backup; then, where the journal does not know it, every flush that was done counts, since a person may have taken
    the front matter away, or the file. `digest` names the bytes of a file that names no version: with it a flush that
    was only intended is seen to have happened. One that was done counts whatever the file holds now.
    """
    by_version: list[int] = []
    done: list[int] = []
    for record in records:
        flushes = [flush for flush in (*record.intents, *record.flushed) if flush.path == path]
        by_version += [flush.upto for flush in flushes if flush.version == version]
        if on_disk:
            done += [flush.upto for flush in record.flushed if flush.path == path]
            done += [flush.upto for flush in flushes if digest is not None and flush.version == digest]
    return max(by_version or done, default=0)


def operations_on(records: Iterable[Record], path: str) -> Entries:
    """List the operations on a document with their positions, oldest first."""
    return [(record.position, op) for record in records for op in record.operations if op.path == path]
