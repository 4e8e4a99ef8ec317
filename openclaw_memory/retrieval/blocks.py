"""What recall works on: small pieces of documents, each with an address."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from contracts.fields import Layer


@dataclass(frozen=True, slots=True)
class Block:
    """An addressable piece of a document: a message, a fact line, a task, an item of a summary or a note.

    `key` is its address (`conversations/2026-05-04.md#01JV...`), `path` the file relative to the root, lines count
    from 1. `time` is when it was said or written, None when the file does not tell. `section` is the heading of a fact.
    `visibility` is one of the words of `context.visibility`; what nobody marked is private.
    """

    key: str
    layer: Layer
    path: str
    start_line: int
    end_line: int
    text: str
    time: datetime | None
    session: str | None = None
    role: str | None = None
    section: str | None = None
    visibility: str = "private"
    important: bool = False
    tags: tuple[str, ...] = ()

    @property
    def identity(self) -> tuple[str, int]:
        """Tell two blocks apart, also where a person wrote the same heading and key twice."""
        return (self.key, self.start_line)
