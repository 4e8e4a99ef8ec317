"""`index.json`: what there is, for a person who looks into the folder. Derived; nothing reads it back."""

from __future__ import annotations

import json
import logging
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

log = logging.getLogger(__name__)

NAME = "index.json"


async def write_manifest(root: Path, files: Files, clock: Clock) -> None:
    """List every file of the layers with its type, size, checksum and count. Failing is no loss and only logged."""
    try:
        entries = await anyio.to_thread.run_sync(_entries, root, files)
        manifest = {"generated": clock.now().isoformat(timespec="seconds"), "files": entries}
        data = json.dumps(manifest, ensure_ascii=False, indent=1).encode("utf-8", "backslashreplace") + b"\n"
        await anyio.to_thread.run_sync(write_whole, files, root / NAME, data)
    except OSError as error:
        log.warning("%s could not be written: %s", root / NAME, error)


def _entries(root: Path, files: Files) -> list[dict[str, Any]]:
    entries = []
    for room in ROOMS:
        for folder in room.folders:
            for name, stamp in sorted(_scan(files, root / folder).items()):
                if not name.endswith(".md") or name.startswith("."):
                    continue
                entry: dict[str, Any] = {"file": f"{folder}/{name}", "type": room.name, "size": stamp.size}
                try:
                    text, _ = read_text(name, files.read_now(root / folder / name))
                except (OSError, UnreadableDocumentError) as error:
                    entry["problem"] = str(error)
                else:
                    fields = split(text).fields
                    entry |= {key: fields[key] for key in ("checksum", "message_count", "updated") if key in fields}
                entries.append(entry)
    return entries


def _scan(files: Files, folder: Path) -> dict[str, Stamp]:
    """List a folder; one that can't be listed is left out, as `status` tells."""
    try:
        return files.scan(folder)
    except OSError:
        log.warning("%s can't be listed", folder)
        return {}
