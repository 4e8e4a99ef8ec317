"""How memory is, for people and programs that ask."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from openclaw_memory.retrieval.embedding.progress import Progress


@dataclass(frozen=True, slots=True)
class Status:
    """The state of memory at one moment.

    `owner`: who writes the folder, when another process does. `trouble`: what the disk refuses. `unreadable`:
    documents that can't be read, with the reason; they are left as they are. `front_matter`: documents whose front
    matter YAML refuses; their text is used all the same. `unflushed`: by document, acknowledged entries that are in the
    journal and not yet in the file. `notices`: what a person should know, such as that a document was damaged and
    restored. `embedding`: how far search by meaning is, or why it is not there; None when it is off. `stale`:
    by address, notes for a day that is a week past ("today I must ..."), as of the last heartbeat; nothing removes them
    but a person.
    """

    running: bool
    owner: str | None = None
    trouble: str | None = None
    unreadable: Mapping[str, str] = field(default_factory=dict)
    front_matter: Mapping[str, str] = field(default_factory=dict)
    unflushed: Mapping[str, int] = field(default_factory=dict)
    notices: Mapping[str, str] = field(default_factory=dict)
    embedding: Progress | None = None
    stale: Mapping[str, str] = field(default_factory=dict)

    @property
    def healthy(self) -> bool:
        """Whether there is nothing to mend."""
        told = self.unreadable or self.front_matter or self.notices or (self.embedding and self.embedding.problem)
        return self.trouble is None and not told
