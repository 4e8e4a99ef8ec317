"""Folders of files to work on, and a tool over them that waits for no disk."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import pytest

from openclaw_memory import MemoryConfig
from openclaw_memory.filetool import FileMemory
from openclaw_memory.storage.files import Files
from tests.support import FaultyFiles


def fill(root: Path, files: Mapping[str, str]) -> None:
    """Write files, as a person would."""
    for name, text in files.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(text.encode())


def held(root: Path) -> dict[str, str]:
    """Give every file below a folder, links as what they point to."""
    found = {}
    for path in sorted(root.rglob("*")):
        if path.is_symlink():
            found[str(path.relative_to(root))] = f"-> {path.readlink()}"
        elif path.is_file():
            found[str(path.relative_to(root))] = path.read_bytes().decode(errors="surrogateescape")
    return found


def tool_of(root: Path, files: Files | None = None, **more: object) -> FileMemory:
    return FileMemory(MemoryConfig(root=root), files=files or FaultyFiles(), **more)  # type: ignore[arg-type]


@pytest.fixture
def tool(tmp_path: Path) -> FileMemory:
    return tool_of(tmp_path)
