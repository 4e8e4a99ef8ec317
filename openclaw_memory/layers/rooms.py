"""Which layer a document belongs to, by its path: the one table that ties paths, formats and pieces together."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from datetime import tzinfo
from typing import Any

from openclaw_memory.layers import conversations, facts, parts, state, summaries, tasks
from openclaw_memory.retrieval.blocks import Block
from openclaw_memory.storage.documents import Format


@dataclass(frozen=True, slots=True)
class Room:
    """One layer: its folders, its format, and how its documents are cut into pieces."""

    name: str
    folders: tuple[str, ...]
    format: Format
    blocks: Callable[[Any, tzinfo], list[Block]]


ROOMS: tuple[Room, ...] = (
    Room(
        "conversation",
        (parts.FOLDER,),
        conversations.ConversationFormat(),
        lambda document, zone: conversations.blocks(document),
    ),
    Room("fact", (facts.FOLDER, facts.ARCHIVE), facts.FORMAT, lambda document, zone: facts.blocks(document)),
    Room("task", (tasks.FOLDER, tasks.ARCHIVED), tasks.FORMAT, tasks.blocks),
    Room("summary", summaries.FOLDERS, summaries.FORMAT, summaries.blocks),
    Room("state", (".state",), state.StateFormat(), lambda document, zone: []),
)
FOLDERS: tuple[str, ...] = tuple(folder for room in ROOMS for folder in room.folders)
"""Every folder below `memory/`, created at start."""


def room_of(path: str) -> Room:
    """Give the layer of a relative path. Raises: `ValueError` when there is none."""
    top = path.partition("/")[0]
    for room in ROOMS:
        if room.folders[0] == top:
            return room
    raise ValueError(f"{path} belongs to no layer")


def format_of(path: str) -> Format:
    """Give the format of a relative path."""
    return room_of(path).format
