"""What planning an event rests on."""

from __future__ import annotations

from dataclasses import dataclass, field

from openclaw_memory.layers import rotation
from openclaw_memory.layers.conversations import Said
from openclaw_memory.workspace import Copies


@dataclass(slots=True)
class Needs:
    """The documents that planning an event rests on, or adds to."""

    known_facts: list[str]
    archived_tasks: list[str]
    said: dict[int, list[Said]]
    paths: dict[str, None]
    appended: dict[str, None]
    looked_at: dict[str, None]
    curated: str
    copies: Copies
    limits: rotation.Limits
    same: dict[str, str] = field(default_factory=dict)
    """By the folded text of a new entry of MEMORY.md, that of the entry that says the same."""

    @property
    def everything_said(self) -> list[Said]:
        """All messages of the event, in order."""
        return [item for items in self.said.values() for item in items]
