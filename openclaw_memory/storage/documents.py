"""What the store knows of a document: an immutable value, and a format that reads, changes and writes it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

from openclaw_memory.storage.operations import Operation


@dataclass(frozen=True, slots=True)
class Document:
    """Base of the documents of all layers. `path` is relative to the root."""

    path: str


class Format(Protocol):
    """One kind of document. Everything here is pure, and total: no operation raises for what a file may hold."""

    def new(self, path: str) -> Any:
        """Give the document that stands for a file that does not exist yet."""
        ...

    def parse(self, path: str, data: bytes) -> Any:
        """Read a file's bytes.

        Raises: `UnreadableDocumentError` when they can't be understood without losing something.
        """
        ...

    def apply(self, document: Any, operation: Operation) -> Any:
        """Give the document as it is after an operation; the same document when nothing changes."""
        ...

    def joined(self, operations: Sequence[Operation]) -> Sequence[Operation]:
        """Give operations that come to the same when they are applied in order: fewer, where that is quicker."""
        ...

    def collision(self, document: Any, operation: Operation) -> str | None:
        """Say what collides when an operation meets something else than it was planned on; None when nothing does.

        `apply` then keeps both: what is in the document stays, and what the operation brings is put beside it.
        """
        ...

    def render(self, document: Any) -> tuple[bytes, Any]:
        """Give the bytes of the file, and the document as it then is on disk."""
        ...

    def flushed(self, document: Any, rendered: Any) -> Any:
        """Give `document` with what `rendered`, an older state of it, got when it was written to the file."""
        ...

    def fits(self, document: Any) -> bool | None:
        """Tell whether a document just parsed fits the checksum that it names; None when it names none."""
        ...

    def salvage(self, path: str, data: bytes) -> Any:
        """Give what can be read of bytes that `parse` refuses."""
        ...

    def version(self, document: Any) -> str | None:
        """Tell the version that the file names itself; None when it names none."""
        ...


class NotLoadedError(Exception):
    """Raised when a plan needs a document that its draft does not hold. Nothing was planned."""

    def __init__(self, path: str) -> None:
        super().__init__(path)
        self.path = path


@dataclass(slots=True)
class Draft:
    """Documents as they will be, while one event is planned on them. Dropped, it leaves no trace.

    Made by `Store.draft` and handed to `Store.commit`, with nothing awaited in between.
    """

    formats: dict[str, Format]
    planned: dict[str, Any]
    operations: list[Operation] = field(default_factory=list)
    changed: dict[str, Any] = field(default_factory=dict)

    def document(self, path: str) -> Any:
        """Give a document with what this draft has changed in it already.

        Raises: `NotLoadedError` when it was not asked for; make a new draft with it, and plan again.
        """
        if path not in self.planned:
            raise NotLoadedError(path)
        return self.changed.get(path, self.planned[path])

    def apply(self, operation: Operation) -> bool:
        """Add an operation; False, and nothing added, when it changes nothing."""
        before = self.document(operation.path)
        after = self.formats[operation.path].apply(before, operation)
        if after is before:
            return False
        self.changed[operation.path] = after
        self.operations.append(operation)
        return True
