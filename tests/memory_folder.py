"""A memory folder as a Gateway that ended well leaves it, and what may befall it."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

from openclaw_memory.clock import ManualClock
from openclaw_memory.layers.rooms import FOLDERS, format_of
from openclaw_memory.storage.buffer import FlushLimits
from openclaw_memory.storage.files import LocalFiles
from openclaw_memory.storage.operations import Operation
from openclaw_memory.storage.store import Store
from tests.support import START, FaultyFiles

FACTS = "facts/user-profile.md"
NOTES = "facts/notes.md"
TALK = "conversations/2026-05-04.md"
STATE = ".state/tasks.json"
AT = "2026-05-04T14:30:00+08:00"


def fact(path: str, key: str, value: str) -> Operation:
    arguments = {"section": "S", "key": key, "value": value, "old": None, "title": "T", "language": "en", "at": AT}
    return Operation(path, "set", arguments)


def said(message_id: str, content: str) -> Operation:
    message = {"id": message_id, "session": "s1", "role": "user", "time": AT, "content": content}
    return Operation(TALK, "append", {"messages": [message], "at": AT, "language": "en"})


WRITTEN = (
    fact(FACTS, "language", "Go"),
    fact(NOTES, "editor", "vim"),
    said("m1", "hello"),
    Operation(STATE, "change", {"set": {"last": 3}}),
)


def opened(memory: Path, files: LocalFiles | None = None) -> Store:
    limits = FlushLimits(2.0, 50, 500)
    return Store(
        memory, files or FaultyFiles(), ManualClock(START), format_of, limits, 1 << 20, lambda *change: None, print
    )


async def write(store: Store, *operations: Operation) -> None:
    draft = await store.draft(sorted({operation.path for operation in operations}))
    for operation in operations:
        draft.apply(operation)
    await store.commit(draft).wait()


async def remembered(root: Path, *later: Operation) -> Path:
    """Make `<root>/memory` with four documents, and close it; `later` are written in a second flush."""
    memory = root / "memory"
    store = opened(memory)
    await store.open(FOLDERS)
    await write(store, *WRITTEN)
    await store.flush()
    if later:
        await write(store, *later)
    await store.close()
    return memory


async def crashed(root: Path, *operations: Operation, flushed: bool = False) -> Path:
    """Make `<root>/memory` whose owner died after `operations` were acknowledged, and perhaps `flushed`."""
    memory = await remembered(root)
    store = opened(memory)
    await store.open(FOLDERS)
    await write(store, *operations)
    if flushed:
        await store.flush()
    as_it_was = content(memory)
    await store.close()
    # Closing tidied up, which a crash does not.
    for name in content(memory).keys() - as_it_was.keys():
        (memory / name).unlink()
    for name, data in as_it_was.items():
        path = memory / name
        if not path.exists():
            path.write_bytes(data)
        elif path.read_bytes() != data:
            overwrite(path, data)
    return memory


def damage(path: Path, data: bytes) -> None:
    """Put other bytes into a file in the way that a disk does: nobody saved it, so its time stays."""
    stat = path.stat()
    overwrite(path, data)
    os.utime(path, ns=(stat.st_atime_ns, stat.st_mtime_ns))


def overwrite(path: Path, data: bytes) -> None:
    """Put other bytes into a file in place."""
    with path.open("r+b") as file:
        file.truncate()
        file.write(data)


def content(folder: Path) -> dict[str, bytes]:
    """Read every file below a folder."""
    return {str(path.relative_to(folder)): path.read_bytes() for path in sorted(folder.rglob("*")) if path.is_file()}


def states(folder: Path) -> dict[str, Any]:
    """Tell what changes when anything below a folder is touched: bytes, inode, times, permissions."""
    found: dict[str, Any] = {}
    for path in [folder, *sorted(folder.rglob("*"))]:
        stat = path.lstat()
        data = path.read_bytes() if path.is_file() else None
        found[str(path)] = (stat.st_ino, stat.st_mode, stat.st_mtime_ns, stat.st_ctime_ns, data)
    return found
