"""What a person may want to tidy up in the workspace: how long MEMORY.md has become, notes whose day is past."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime
from pathlib import Path

from openclaw_memory.config import MemoryConfig
from openclaw_memory.errors import UnreadableDocumentError
from openclaw_memory.findings import parse
from openclaw_memory.layers.rooms import room_of
from openclaw_memory.markdown.curated import parse_curated
from openclaw_memory.markdown.frontmatter import split
from openclaw_memory.markdown.text import decode
from openclaw_memory.retrieval.cutting import snippet
from openclaw_memory.retrieval.stale import is_stale
from openclaw_memory.workspace import workspace_of

MAX_LINE_CHARS = 120


def entries_of(config: MemoryConfig) -> int:
    """Count the entries of MEMORY.md, which nothing limits but what is loaded of it."""
    for place in ("MEMORY.md", "memory/MEMORY.md"):
        try:
            text = decode((config.workspace_folder / place).read_bytes()).text
        except (OSError, ValueError):
            continue
        return len(parse_curated(split(text).body))
    return 0


def stale_notes(config: MemoryConfig, now: datetime) -> dict[str, str]:
    """Give notes that speak of a day that is a week past ("today I must ..."), by address (seed 002)."""
    notes = config.workspace_folder / "memory"
    folder = workspace_of(config).notes
    found: dict[str, str] = {}
    for path in _files(notes):
        address = f"{folder}/{path.relative_to(notes).as_posix()}"
        room = room_of(address)
        try:
            document = parse(room.format, address, path.read_bytes())
        except (OSError, UnreadableDocumentError):
            # Of this `verify` and the context's notice tell.
            continue
        for block in room.blocks(document, config.zone):
            if is_stale(block, now):
                found[block.key] = snippet(" ".join(block.text.split()), MAX_LINE_CHARS)
    return found


def _files(folder: Path) -> Iterator[Path]:
    try:
        yield from sorted(path for path in folder.rglob("*.md") if path.is_file() and not path.name.startswith("."))
    except OSError:
        return
