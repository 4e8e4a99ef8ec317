"""What two lives must have in common in the end: every file, but for what tells of the disk and of chance."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from openclaw_memory.layers.history_shards import opened
from openclaw_memory.lifecycle.forgetting.tombstones import FORGOTTEN
from openclaw_memory.manifest import MODIFIED
from openclaw_memory.manifest import NAME as MANIFEST

OF_THE_DISK = (".journal", ".inbox", ".lock", "stamps", "kept")
"""Files and folders about when something was written, and where it lay before."""


def traces(root: Path) -> dict[str, Any]:
    """Give what each file below a root says: bytes of documents, values of state."""
    found: dict[str, Any] = {}
    for path in sorted(root.rglob("*")):
        name = str(path.relative_to(root))
        if not path.is_file() or name.endswith(".backup") or set(name.split("/")) & set(OF_THE_DISK):
            continue
        data = path.read_bytes()
        if path.suffix == ".zst":
            found[name] = opened(name, data, 1 << 30)
        elif path.suffix == ".json":
            found[name] = _without_chance(name, json.loads(data))
        else:
            found[name] = data
    return found


def _without_chance(name: str, values: dict[str, Any]) -> Any:
    """Leave out times of files (a summary's stamps); of what a key drawn by chance names, the number is left."""
    if name.endswith(FORGOTTEN):
        return len(values)
    if name.endswith("summaries.json"):
        return {path: {key: value for key, value in one.items() if key != "stamps"} for path, one in values.items()}
    if name.endswith(f"/{MANIFEST}"):
        return [{key: value for key, value in one.items() if key != MODIFIED} for one in values["files"]]
    return values
