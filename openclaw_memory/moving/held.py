"""What memory holds now, read beside whoever writes it: its files, and beyond them its journal. Nothing is locked."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import Any

import anyio.to_thread

from openclaw_memory.clock import Clock
from openclaw_memory.config import MemoryConfig
from openclaw_memory.layers.curated import entries_in
from openclaw_memory.layers.day_files import ConversationDocument
from openclaw_memory.layers.parts import ARCHIVE, FOLDER
from openclaw_memory.layers.rooms import FOLDERS, format_of
from openclaw_memory.markdown.curated import Entry
from openclaw_memory.moving.naming import day_file
from openclaw_memory.storage.areas import find
from openclaw_memory.storage.files import Files
from openclaw_memory.storage.follower import Follower
from openclaw_memory.storage.lockowner import find_owner
from openclaw_memory.storage.places import Places
from openclaw_memory.workspace import elsewhere, workspace_of

MessageKey = tuple[str, str, int]
"""What tells one message of a session from another: session, role, milliseconds since 1970."""


@dataclass(slots=True)
class Held:
    """What is there. `documents` by path as readers see them; `files` their bytes; `days` that have any message.

    `said` are the texts of messages by key; `ids` those of all messages. `owned`: somebody writes the folder now.
    """

    documents: dict[str, Any] = field(default_factory=dict)
    files: dict[str, bytes] = field(default_factory=dict)
    days: set[str] = field(default_factory=set)
    said: dict[MessageKey, list[str]] = field(default_factory=dict)
    ids: set[str] = field(default_factory=set)
    problems: dict[str, str] = field(default_factory=dict)
    owned: bool = False


class Reading:
    """Reads documents of a memory, of which somebody else may be the owner.

    Parameters: `config`, `files`, `clock`.
    """

    def __init__(self, config: MemoryConfig, files: Files, clock: Clock) -> None:
        self._config = config
        self._files = files
        self.places = Places(config.memory_folder, elsewhere(config))
        self.documents: dict[str, Any] = {}
        self._follower = Follower(config.memory_folder, files, clock, format_of, self._changed, elsewhere(config))

    def _changed(self, path: str, before: Any, after: Any) -> None:
        self.documents[path] = after

    async def read(self, paths: Iterable[str]) -> None:
        """Read these documents, and those that the journal has something of."""
        if not await anyio.to_thread.run_sync(self._files.is_folder, self._config.memory_folder):
            return
        await self._follower.wake(paths)
        await self._follower.look([])

    @property
    def problems(self) -> dict[str, str]:
        """Tell what could not be read, and why."""
        return self._follower.problems()

    def data_of(self, path: str) -> bytes | None:
        """Give a file's bytes; where the journal knows more, as they will be. None where there is nothing.

        For a thread. Raises: `OSError`.
        """
        document = self.documents.get(path)
        try:
            data = self._files.read_now(self.places.of(path))
        except (FileNotFoundError, NotADirectoryError):
            data = None
        if document is None or not self._follower.is_ahead(path):
            return data
        rendered: bytes = format_of(path).render(document)[0]
        return rendered

    def listed(self, areas: Iterable[str]) -> list[str]:
        """List the documents of some areas, in files or in the journal only. For a thread."""
        found = set(find(areas, self.places, self._files).documents)
        return sorted(found)


def everything(config: MemoryConfig) -> tuple[str, ...]:
    """Tell where all documents are looked for, the sessions' files included."""
    rooms = workspace_of(config)
    return (*FOLDERS, ARCHIVE, *rooms.areas, rooms.session_area)


async def read_held(
    config: MemoryConfig,
    files: Files,
    clock: Clock,
    *,
    days: Iterable[str],
    paths: Iterable[str],
    done: Callable[[], None] = lambda: None,
) -> Held:
    """Read what an import is compared with.

    Parameters: `days`, conversation files of days (their parts come along); `paths`, other documents; `done`, called
    after each document.
    """
    reading = Reading(config, files, clock)
    listed = await anyio.to_thread.run_sync(reading.listed, [FOLDER, ARCHIVE])
    wanted_days = set(days)
    of_days = [path for path in listed if day_file(path) in wanted_days]
    others = list(paths)
    await reading.read([*of_days, *wanted_days, *others])
    held = Held(days={day_file(path) for path in listed}, problems=reading.problems)
    held.owned = find_owner(config.memory_folder, files) is not None

    def gather() -> None:
        for path, document in reading.documents.items():
            if isinstance(document, ConversationDocument):
                if document.file.blocks:
                    held.days.add(day_file(path))
                _gather(held, document)
                done()
        for path in others:
            if (data := reading.data_of(path)) is not None:
                held.files[path] = data

    await anyio.to_thread.run_sync(gather)
    held.documents = {
        path: document for path, document in reading.documents.items() if not isinstance(document, ConversationDocument)
    }
    return held


def key_of(session: str, role: str, time: Any) -> MessageKey:
    """Give what tells a message from another."""
    return session, role, round(time.timestamp() * 1000)


def _gather(held: Held, document: ConversationDocument) -> None:
    for block in document.file.blocks:
        message = block.message
        held.ids.add(message.id)
        held.said.setdefault(key_of(message.session, message.role, message.time), []).append(message.content)


def entries_of(held: Held, paths: Iterable[str]) -> tuple[str, tuple[Entry, ...]] | None:
    """Give MEMORY.md's path and entries: the first of its places that has any text; None where there is none."""
    for path in paths:
        document = held.documents.get(path)
        if document is not None and document.body.strip():
            return path, entries_in(document)
        if held.files.get(path, b"").strip():
            # It is there, and can't be read: nothing may be put in its place.
            return path, ()
    return None
