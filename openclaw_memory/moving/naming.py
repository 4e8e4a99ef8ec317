"""Which document a file of a source would be, and which of ours it is compared with. Pure."""

from __future__ import annotations

import hashlib
import re
from datetime import tzinfo
from pathlib import PurePosixPath

from contracts.patterns import PATH_PATTERN
from openclaw_memory.layers.parts import ARCHIVE, FOLDER, day_of
from openclaw_memory.layers.rooms import Workspace, room_of
from openclaw_memory.moving.found import Finding, FoundFile

_STATE = re.compile(r"\.state/[a-z][a-z-]{0,60}\.json")


def wanted_days(found: Finding, zone: tzinfo) -> set[str]:
    """Name the day files that the messages of a source belong to."""
    days = {f"{FOLDER}/{message.time.astimezone(zone).date().isoformat()}.md" for message in found.messages}
    return days | {day_file(file.path) for file in found.files if file.base == "memory" and is_conversation(file.path)}


def wanted_paths(found: Finding, workspace: Workspace) -> set[str]:
    """Name the other documents that a source is compared with."""
    paths = {*workspace.curated, "tasks/active.md"}
    for file in found.files:
        path = store_path(file, workspace)
        if path is not None and not is_conversation(path):
            paths |= {path, beside(path, file.data)}
    return paths


def store_path(file: FoundFile, workspace: Workspace) -> str | None:
    """Give the document that a file would be; None when it would be none, or lie where nothing may."""
    base = {"workspace": f"{workspace.folder}/", "agents": "agents/", "memory": ""}[file.base]
    path = base + file.path
    if not re.match(PATH_PATTERN, path) and not _STATE.fullmatch(path):
        return None
    try:
        room_of(path)
    except ValueError:
        return None
    return path


def beside(path: str, data: bytes) -> str:
    """Name the file that stands beside one that says something else; the same source gives the same name."""
    place = PurePosixPath(path)
    return str(place.with_name(f"{place.stem}-imported-{hashlib.sha256(data).hexdigest()[:8]}{place.suffix}"))


def is_conversation(path: str) -> bool:
    """Tell whether a document holds messages of a day."""
    return path.startswith((f"{FOLDER}/", f"{ARCHIVE}/"))


def day_file(path: str) -> str:
    """Give the day's own file of one of its parts, in the archive too."""
    return day_of(f"{FOLDER}/{PurePosixPath(path).name}")
