"""What was found in a source, whatever its format: values that say where each of them stands."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime
from typing import Literal

from contracts.fields import Origin, Role, SessionKind

Base = Literal["workspace", "memory", "agents"]
"""Which of our folders a file belongs to: that of MEMORY.md and notes, that of the four layers, that of sessions."""


@dataclass(frozen=True, slots=True)
class FoundMessage:
    """A message. `time` is aware; `origin` None where the importing person decides; `where` it stands in the source.

    `id` is the one that it has in a memory of this kind, `document` the file that it stands in there; else None.
    """

    session: str
    role: Role
    time: datetime
    text: str
    where: str
    name: str | None = None
    origin: Origin | None = None
    important: bool = False
    kind: SessionKind = "primary"
    id: str | None = None
    document: str | None = None


@dataclass(frozen=True, slots=True)
class FoundFile:
    """A file that is kept as it is. `path` is relative to its base; `ours`: an export of this program wrote it."""

    base: Base
    path: str
    data: bytes
    where: str
    ours: bool = False


@dataclass(frozen=True, slots=True)
class FoundEntry:
    """An entry for MEMORY.md."""

    text: str
    section: str | None
    where: str


@dataclass(frozen=True, slots=True)
class FoundFact:
    """A fact of a topic."""

    topic: str
    section: str
    key: str
    value: str
    where: str


@dataclass(frozen=True, slots=True)
class FoundTask:
    """An open task."""

    title: str
    state: Literal["pending", "in_progress"]
    priority: Literal["low", "medium", "high"] | None
    due: str | None
    description: str | None
    steps: tuple[tuple[str, bool], ...]
    where: str


@dataclass(frozen=True, slots=True)
class Remark:
    """Something about a place in the source: what could not be read of it, or why it stays out."""

    where: str
    words: str


@dataclass(slots=True)
class Finding:
    """Gathers what the reader of a format finds. `problems` could not be read; `left_out` was, and is not imported."""

    format: str
    messages: list[FoundMessage] = field(default_factory=list)
    files: list[FoundFile] = field(default_factory=list)
    entries: list[FoundEntry] = field(default_factory=list)
    problems: list[Remark] = field(default_factory=list)
    left_out: list[Remark] = field(default_factory=list)
