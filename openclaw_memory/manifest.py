"""`index.json`: what there is, for a person who looks into the folder. Derived; only its next edition reads it."""

from __future__ import annotations

import json
import logging
from collections.abc import Mapping
from datetime import datetime
from pathlib import Path
from typing import Any

import anyio.to_thread

from openclaw_memory.clock import Clock
from openclaw_memory.errors import UnreadableDocumentError
from openclaw_memory.layers.documents import read_text
from openclaw_memory.layers.rooms import ROOMS
from openclaw_memory.markdown.frontmatter import split
from openclaw_memory.storage.durable import write_whole
from openclaw_memory.storage.files import Files, Stamp
from openclaw_memory.storage.looks import SAVING_SECONDS

log = logging.getLogger(__name__)

NAME = "index.json"

MODIFIED = "modified_ns"
"""Field with the time of a file's last change, in nanoseconds since 1970; left out while it may be changing still."""


FIELDS = ("checksum", "message_count", "updated")
"""Fields of a file's front matter that are told."""

LONGEST = 200
"""Characters of such a field."""

MOST_BYTES = 64 << 20
"""Size of the last edition that is read; an entry takes some two hundred."""


async def write_manifest(root: Path, files: Files, clock: Clock, *, anew: bool = False) -> None:
    """List every file of the layers with its type, size, checksum and count. Failing is no loss and only logged.

    A file that is as the last edition saw it is not read again: a start may meet a hundred megabytes of them. `anew`:
    take nothing from the last edition, since somebody may have written into it what is to be forgotten.
    """
    try:
        await anyio.to_thread.run_sync(_write, root, files, clock.now(), anew)
    except (OSError, ValueError) as error:
        log.warning("%s could not be written: %s", root / NAME, error)


def _write(root: Path, files: Files, now: datetime, anew: bool) -> None:
    known = {} if anew else _last_edition(root, files)
    entries = [
        _entry(room.name, root, f"{folder}/{name}", stamp, known, files)
        for room in ROOMS
        for folder in room.folders
        for name, stamp in sorted(_scan(files, root / folder).items())
        if name.endswith(".md") and not name.startswith(".")
    ]
    write_whole(files, root / NAME, rendered(entries, now))


def _entry(
    layer: str, root: Path, path: str, stamp: Stamp, known: Mapping[str, dict[str, Any]], files: Files
) -> dict[str, Any]:
    entry: dict[str, Any] = {"file": path, "type": layer, "size": stamp.size}
    last = known.get(path)
    if last is not None and (last.get("size"), last.get(MODIFIED)) == (stamp.size, stamp.mtime_ns):
        return entry | _told(last) | {MODIFIED: stamp.mtime_ns}
    try:
        text, _ = read_text(path.rpartition("/")[2], files.read_now(root / path))
    except (OSError, UnreadableDocumentError) as error:
        return entry | {"problem": str(error)}
    entry |= _told(split(text).fields)
    # What was changed just now may be changed again before the clock of the file system ticks.
    return entry if abs(files.age(stamp)) < SAVING_SECONDS else entry | {MODIFIED: stamp.mtime_ns}


def _told(fields: Mapping[str, Any]) -> dict[str, Any]:
    """Choose what is told of a file. A person may have written anything there; it is told as far as it is short."""
    return {key: _short(fields[key]) for key in FIELDS if key in fields}


def _short(value: Any) -> int | str:
    if type(value) is int:
        return value if abs(value) < 1 << 63 else hex(value)[:LONGEST]
    return str(value)[:LONGEST]


def rendered(entries: list[dict[str, Any]], now: datetime) -> bytes:
    """Give the file's text, a line for each entry."""
    lines = ",\n  ".join(json.dumps(entry, ensure_ascii=False) for entry in entries)
    generated = json.dumps(now.isoformat(timespec="seconds"))
    text = f'{{\n "generated": {generated},\n "files": [\n  {lines}\n ]\n}}\n'
    return text.encode("utf-8", "backslashreplace")


def _last_edition(root: Path, files: Files) -> dict[str, dict[str, Any]]:
    """Give the entries of the last edition by file; none where there is none, or not such a one."""
    try:
        # A scan lists files only: reading a pipe of that name would never end.
        stamp = files.scan(root, (NAME,)).get(NAME)
        if stamp is None or stamp.size > MOST_BYTES:
            return {}
        found = json.loads(files.read_now(root / NAME))["files"]
        return {entry["file"]: entry for entry in found if "problem" not in entry}
    except (OSError, ValueError, KeyError, TypeError, RecursionError):
        return {}


def _scan(files: Files, folder: Path) -> dict[str, Stamp]:
    """List a folder; one that can't be listed is left out, as `status` tells."""
    try:
        return files.scan(folder)
    except OSError:
        log.warning("%s can't be listed", folder)
        return {}
