"""Where the examples write: never among somebody's real memories."""

from __future__ import annotations

import tempfile
from pathlib import Path

from examples.errors import FolderInUseError


def fresh_folder(wanted: Path | None, name: str) -> Path:
    """Give an empty folder: `wanted`, made if missing, or a new temporary one that is kept, with `name` in its name.

    Raises `FolderInUseError` where `wanted` holds something already.
    """
    if wanted is None:
        return Path(tempfile.mkdtemp(prefix=f"openclaw-memory-{name}-"))
    wanted.mkdir(parents=True, exist_ok=True)
    if any(wanted.iterdir()):
        raise FolderInUseError(wanted)
    return wanted
