"""What is committed of each folder: the documents that the store has there, and nothing that is a person's own."""

from __future__ import annotations

from openclaw_memory.layers import agent_files, curated, notes
from openclaw_memory.layers.rooms import FOLDERS, SHARED, WORKSPACE

_ENDINGS = (".md", ".md.zst")


def of_memory() -> tuple[str, ...]:
    """Give the globs of the documents in the memory folder."""
    tops = dict.fromkeys(folder.partition("/")[0] for folder in FOLDERS if not folder.startswith("."))
    return tuple(f"{top}/**/*{ending}" for top in tops for ending in _ENDINGS)


def of_workspace() -> tuple[str, ...]:
    """Give the globs of the documents in a workspace.

    It may be a person's project: what lies beside them there, and what MEMORY.md links to there, is for the person's
    own commits.
    """
    return (
        curated.NAME,
        *(f"{folder}/**/*{ending}" for folder in (notes.FOLDER, SHARED) for ending in _ENDINGS),
        f"{agent_files.FOLDER}/**",
    )


def is_committed(path: str) -> bool:
    """Tell whether a document of the store may be one of these, by its path."""
    inside = path.split("/")[2:] if path.startswith(f"{WORKSPACE}/") else []
    return path.endswith(_ENDINGS) or inside[:1] == [agent_files.FOLDER]
