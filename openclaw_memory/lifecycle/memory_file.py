"""Which of its places MEMORY.md is in."""

from __future__ import annotations

from openclaw_memory.lifecycle.tools import Tools
from openclaw_memory.workspace import workspace_of


async def curated_path(tools: Tools) -> str:
    """Give the place of MEMORY.md: where there is one with any text, else where the configuration has it.

    Raises: `UnreadableDocumentError`, since what can't be read must not be written beside.
    """
    workspace = workspace_of(tools.config)
    there = [path for path in workspace.curated if await tools.store.scan(path)]
    for path in there:
        if (await tools.store.read(path)).body.strip():
            return path
    return there[0] if there else f"{workspace.folder}/{tools.config.memory_file}"
