"""What recall works on: small pieces of documents, each with an address."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import NamedTuple

from contracts.fields import Layer


# A tuple: it is made in a tenth of the time, and hundreds are made for every question.
class Block(NamedTuple):
    """An addressable piece of a document: a message, a fact line, a task, an item of a summary or a note.

    `key` is its address (`conversations/2026-05-04.md#01JV...`), `path` the file relative to the root, lines count
    from 1. `time` is when it was said or written, None when the file does not tell. `section` is the heading of a fact.
    `visibility` is one of the words of `context.visibility`; what nobody marked is private. `name` is that of the tool
    or speaker of a message, `origin` who it came from; neither is searched.
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
    name: str | None = None
    origin: str | None = None

    @property
    def identity(self) -> tuple[str, int]:
        """Tell two blocks apart, also where a person wrote the same heading and key twice."""
        return (self.key, self.start_line)


@dataclass(frozen=True, slots=True)
class FileRecord:
    """What tells that a file is still the one that the index was filled from: size in bytes, time in ns, inode, sum."""

    size: int
    mtime_ns: int
    inode: int
    checksum: str


def searchable(block: Block) -> str:
    """Give the text that a block is found by: its own, and the heading that it stands under."""
    return f"{block.section}\n{block.text}" if block.section else block.text


def sequence_of(block: Block) -> str | None:
    """Name the conversation that a message is a part of: its session, else its file. None for what is no message."""
    if block.layer not in ("conversation", "history"):
        return None
    return f"session {block.session}" if block.session else f"file {block.path}"
