"""The door to every index."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import datetime
from typing import Protocol

from openclaw_memory.retrieval.blocks import Block, FileRecord, searchable, sequence_of
from openclaw_memory.retrieval.hits import Allow, Hit
from openclaw_memory.retrieval.memory import InMemoryIndex
from openclaw_memory.retrieval.neighbours import Neighbour
from openclaw_memory.retrieval.postings import Spot
from openclaw_memory.retrieval.scope import EVERYTHING, Audience, Scope
from openclaw_memory.retrieval.status import IndexStatus, Progress, no_progress

__all__ = ["Allow", "Hit", "InMemoryIndex", "Index", "searchable", "sequence_of"]


class Index(Protocol):
    """What recall asks of an index. An index is derived: it can be thrown away and filled again from the files.

    Changing is cheap and never waits for the disk, so that it may be done on the event loop: what was added is found by
    the very next search, and `commit`, in a thread, brings it to the disk. Searching and looking may be done in any
    thread, also during a commit. Nothing raises for what the disk does: `problem` says what is wrong then.
    """

    @property
    def problem(self) -> str | None:
        """Say what is wrong with the index's files, in words for a person; None when all is well."""
        ...

    @property
    def waiting(self) -> int:
        """Count the changes that no commit has taken in yet."""
        ...

    def __len__(self) -> int:
        """Count the blocks."""
        ...

    def add(self, blocks: Iterable[Block]) -> None:
        """Add blocks; those whose keys were known before the call take the places of the earlier ones."""
        ...

    def replace(self, path: str, blocks: Iterable[Block], record: FileRecord | None = None) -> None:
        """Put these blocks in the place of all blocks of a file, and this record in the place of its record."""
        ...

    def remove(self, path: str) -> None:
        """Take out all blocks of a file, and its record; unknown files are no error."""
        ...

    def record(self, path: str, record: FileRecord | None) -> None:
        """Note, or forget, which state of a file its blocks stand for."""
        ...

    def catch_up(self, seconds: float) -> bool:
        """Work off what a search would have to wait for, for about so long; tells whether nothing is left of it."""
        ...

    def commit(self, most: int = ...) -> bool:
        """Bring about `most` of the changes that wait to the disk; tells whether none are left. For a thread."""
        ...

    def search(self, query_terms: Sequence[str], *, limit: int, allow: Allow, scope: Scope = EVERYTHING) -> list[Hit]:
        """Give the best blocks that hold at least one of the terms (BM25), best first; of equals the newest first.

        `scope` is applied where the index looks, `allow` to each block that it finds there.
        """
        ...

    def around_many(self, blocks: Sequence[Block], reach: int) -> Sequence[Sequence[Neighbour]]:
        """Give for each block the messages up to `reach` places before and after it in its session, in their order."""
        ...

    def spots_after(self, blocks: Sequence[Block], places: int) -> Sequence[Spot | None]:
        """Give for each message where the one so many `places` after it in its session stands, or one after that.

        None where there is none, and where it would cost more than a look to tell.
        """
        ...

    def find(self, key: str) -> list[Block]:
        """Give the blocks that have this address: none, one or, where a person wrote it twice, several, by line."""
        ...

    def find_many(self, keys: Sequence[str]) -> Mapping[str, list[Block]]:
        """Give by address what `find` gives; addresses that no block has are left out."""
        ...

    def blocks_of(self, path: str) -> list[Block]:
        """Give the blocks of a file in the order of its lines."""
        ...

    def blocks_of_texts(self, ids: Sequence[bytes]) -> list[list[Block]]:
        """Give for each address of a text (`passages.text_id`) the blocks that have it; none where no block has."""
        ...

    def text_ids(self, after: bytes, most: int) -> list[bytes]:
        """Give the next addresses of texts in order, each once; no block may have some of them any more."""
        ...

    def within(self, audiences: Sequence[Audience], most: int) -> list[Block] | None:
        """List what these audiences may see, in no order; of a session's own, only its messages.

        None when there is more than `most`, what was replaced and is on the disk still counted, or when only looking at
        everything could tell.
        """
        ...

    def newest(self, session: str, until: datetime | None = None) -> Iterator[Block]:
        """Yield the messages of a session, the newest first, none of them after `until`."""
        ...

    def newest_paths(self, session: str, most: int) -> list[str]:
        """Give the files that hold the newest `most` messages of a session, each once, the newest first."""
        ...

    def paths_holding(self, keys: Iterable[str]) -> dict[str, tuple[str, ...]]:
        """Tell in which files the blocks with these addresses lie; unknown addresses are left out."""
        ...

    def records(self) -> dict[str, FileRecord]:
        """Give the record of every file that has one."""
        ...

    def purge(self, progress: Progress = no_progress) -> None:
        """Make what was taken out unreadable in the index's files as well, its words too. For a thread."""
        ...

    def status(self) -> IndexStatus:
        """Tell what it holds, and how it is."""
        ...

    def close(self) -> None:
        """Let go of the files; what waits for a commit is dropped."""
        ...
