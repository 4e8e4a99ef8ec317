"""Which sessions have something that waits to be consolidated."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import date, timedelta
from itertools import islice

from openclaw_memory.catalog import Catalog
from openclaw_memory.config import MemoryConfig
from openclaw_memory.context.visibility import kind_of
from openclaw_memory.layers.consolidated import Pointer, after
from openclaw_memory.layers.parts import FOLDER, day_of
from openclaw_memory.retrieval.blocks import Block

LOOKED_AT = 20_000
"""Newest messages of a session that are consolidated; what a folder held long before is found by search."""


def active_sessions(catalog: Catalog, config: MemoryConfig, since: date | None) -> list[str]:
    """List the owner's own sessions that said something on a day from the one before `since` on. For a thread.

    What was said in groups, by sub-agents and in sandboxes is not the owner's memory.
    """
    first = f"{FOLDER}/{since - timedelta(days=1)}.md" if since is not None else ""
    catalog.feed()
    found: dict[str, None] = {}
    for path in catalog.paths(FOLDER):
        if day_of(path) < first:
            continue
        for block in catalog.index.blocks_of(path):
            if block.session and block.visibility == "private":
                found[block.session] = None
    return [name for name in found if kind_of(name, config.default_session_kind) == "primary"]


def waiting(catalog: Catalog, session: str, pointer: Pointer | None) -> list[Block]:
    """List the private messages of a session behind the pointer, oldest first. For a thread."""

    def private() -> Iterator[Block]:
        yield from (block for block in catalog.newest_messages(session, None) if block.visibility == "private")

    return after(islice(private(), LOOKED_AT), pointer, LOOKED_AT)
