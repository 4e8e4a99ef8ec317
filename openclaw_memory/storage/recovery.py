"""What has to be done again after a crash. Pure: decided from the journal and from what the documents say."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from openclaw_memory.storage.operations import Operation, Record


def documents_named(records: Iterable[Record]) -> set[str]:
    """List the documents that the journal has operations for."""
    return {operation.path for record in records for operation in record.operations}


def plan_recovery(
    records: Iterable[Record], version_on_disk: Callable[[str], str | None]
) -> dict[str, list[tuple[int, Operation]]]:
    """Choose, for each document, the operations that its file does not hold yet, with their positions.

    A document names its own version, also after a person has edited it. The newest flush of that version, done or
    only intended, tells up to where the journal is in the file: so nothing is applied twice, and a line that a
    person deleted after the flush stays deleted.
    """
    records = list(records)
    held: dict[str, int] = {}
    for record in records:
        for flush in record.intents:
            if version_on_disk(flush.path) == flush.version:
                held[flush.path] = max(held.get(flush.path, 0), flush.upto)
        for flush in record.flushed:
            held[flush.path] = max(held.get(flush.path, 0), flush.upto)
    missing: dict[str, list[tuple[int, Operation]]] = {}
    for record in records:
        for operation in record.operations:
            if record.position > held.get(operation.path, 0):
                missing.setdefault(operation.path, []).append((record.position, operation))
    return missing
