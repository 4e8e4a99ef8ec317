"""What has to be done again after a crash. Pure: decided from the journal and from what the documents say."""

from __future__ import annotations

from collections.abc import Iterable

from openclaw_memory.storage.entries import Entries
from openclaw_memory.storage.operations import Record


def documents_named(records: Iterable[Record]) -> set[str]:
    """List the documents that the journal has operations for."""
    return {operation.path for record in records for operation in record.operations}


def held_up_to(records: Iterable[Record], path: str, version: str | None, *, on_disk: bool = True) -> int:
    """Tell up to which position a version of a document holds the operations of the journal; 0: none of them.

    A document names its own version, also after a person has edited it. The newest flush of that version, done or
    only intended, is what counts: so nothing is applied twice, and a line that a person deleted after the flush stays
    deleted. `on_disk`: the version is that of the file itself, not of its backup; then every flush that was done
    counts, whatever the file says, since a person may have taken its front matter away.
    """
    held = 0
    for record in records:
        for flush in (*record.intents, *record.flushed):
            if flush.path == path and flush.version == version:
                held = max(held, flush.upto)
        if on_disk:
            held = max([held, *(flush.upto for flush in record.flushed if flush.path == path)])
    return held


def operations_on(records: Iterable[Record], path: str) -> Entries:
    """List the operations on a document with their positions, oldest first."""
    return [(record.position, op) for record in records for op in record.operations if op.path == path]
