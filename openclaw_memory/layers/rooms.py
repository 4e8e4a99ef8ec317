"""Which layer a document belongs to, by its path: the one table that ties paths, formats and pieces together."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from datetime import tzinfo
from typing import Any

from contracts.fields import Layer
from openclaw_memory.layers import (
    agent_files,
    conversations,
    curated,
    facts,
    history,
    history_shards,
    notes,
    parts,
    sessions,
    state,
    summaries,
    task_operations,
    tasks,
)
from openclaw_memory.layers.documents import MarkdownDocument
from openclaw_memory.retrieval.blocks import Block
from openclaw_memory.storage.documents import Format
from openclaw_memory.transcripts.ids import SUFFIX

WORKSPACE = "workspace"
"""First part of the paths of a workspace's documents; the second is the workspace's id."""

SHARED = "shared"
"""Folder of a workspace that every session may see."""


@dataclass(frozen=True, slots=True)
class Room:
    """One layer: its folders, its format, and how its documents are cut into pieces."""

    name: Layer | str
    folders: tuple[str, ...]
    format: Format
    blocks: Callable[[Any, tzinfo], list[Block]]


ROOMS: tuple[Room, ...] = (
    Room(
        "conversation",
        parts.FOLDERS,
        conversations.ConversationFormat(),
        lambda document, zone: conversations.blocks(document),
    ),
    Room("fact", (facts.FOLDER, facts.ARCHIVE), facts.FORMAT, lambda document, zone: facts.blocks(document)),
    Room("task", (tasks.FOLDER, tasks.ARCHIVED), task_operations.FORMAT, tasks.blocks),
    Room("summary", summaries.FOLDERS, summaries.FORMAT, summaries.blocks),
    Room("state", (".state",), state.StateFormat(), lambda document, zone: []),
)
FOLDERS: tuple[str, ...] = tuple(folder for room in ROOMS for folder in room.folders)
"""Every folder below `memory/`, created at start."""

_BY_FOLDER = {room.folders[0]: room for room in ROOMS}


def _shared(document: MarkdownDocument, zone: tzinfo) -> list[Block]:
    return [block._replace(visibility="shared") for block in notes.blocks(document, zone)]


_CURATED = Room("memory", (), curated.FORMAT, lambda document, zone: curated.blocks(document))
_NOTE = Room("note", (), notes.FORMAT, notes.blocks)
_SHARED = Room("note", (), notes.FORMAT, _shared)
_AGENT_FILE = Room("note", (), agent_files.FORMAT, agent_files.blocks)
_HISTORY = Room("history", (), history.FORMAT, history.blocks)
_HISTORY_SHARD = Room("history", (), history_shards.FORMAT, history.blocks)
_SESSION = Room("conversation", (), sessions.FORMAT, lambda document, zone: sessions.blocks(document))


@dataclass(frozen=True, slots=True)
class Workspace:
    """Where the documents of a workspace lie, as paths of the store: one place for their names.

    Parameters: `id` of the workspace; `agent`, whose sessions it has.
    """

    id: str
    agent: str

    @property
    def folder(self) -> str:
        """What the paths of all its documents begin with."""
        return f"{WORKSPACE}/{self.id}"

    @property
    def curated(self) -> tuple[str, ...]:
        """The places of MEMORY.md, the first that exists counts (seed 003 section 26.4.1, seed 002)."""
        return tuple(f"{self.folder}/{place}" for place in curated.PLACES)

    @property
    def notes(self) -> str:
        """Folder of the daily notes."""
        return f"{self.folder}/{notes.FOLDER}"

    @property
    def shared(self) -> str:
        """Folder of what every session may see."""
        return f"{self.folder}/{SHARED}"

    @property
    def agent_files(self) -> str:
        """Folder of the files that a model keeps itself."""
        return f"{self.folder}/{agent_files.FOLDER}"

    @property
    def history(self) -> str:
        """The complete record of what was said."""
        return f"{self.folder}/{history.PATH}"

    @property
    def sessions(self) -> str:
        """Folder of the sessions' files."""
        return f"{sessions.FOLDER}/{self.agent}/sessions"

    @property
    def areas(self) -> tuple[str, ...]:
        """Where its documents are looked for, but for the sessions' files."""
        shards = f"{self.notes}/*{history_shards.SUFFIX}"
        return (self.curated[0], f"{self.notes}/**/*.md", shards, f"{self.shared}/**/*.md", f"{self.agent_files}/**/*")

    @property
    def session_area(self) -> str:
        """Where the sessions' files are looked for."""
        return f"{self.sessions}/*{SUFFIX}"


def room_of(path: str) -> Room:
    """Give the layer of a relative path. Raises: `ValueError` when there is none."""
    top, _, rest = path.partition("/")
    room = _BY_FOLDER.get(top)
    if room is None and top == WORKSPACE:
        room = _room_in_workspace(rest.partition("/")[2])
    elif room is None and top == sessions.FOLDER and path.endswith(SUFFIX):
        room = _SESSION
    if room is None:
        raise ValueError(f"{path} belongs to no layer")
    return room


def _room_in_workspace(path: str) -> Room | None:
    """Give the layer of a path within a workspace.

    What MEMORY.md links to outside of `memory/`, `shared/` and `memories/` is curated like itself.
    """
    if path.startswith(f"{agent_files.FOLDER}/"):
        return _AGENT_FILE
    if history_shards.is_shard(path):
        return _HISTORY_SHARD
    if not path.endswith(".md"):
        return None
    if path in curated.PLACES:
        return _CURATED
    if path == history.PATH:
        return _HISTORY
    top = path.partition("/")[0]
    return _SHARED if top == SHARED else _NOTE if top == notes.FOLDER else _CURATED


def format_of(path: str) -> Format:
    """Give the format of a relative path."""
    return room_of(path).format
