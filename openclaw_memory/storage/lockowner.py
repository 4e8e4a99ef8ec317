"""Who has a root, found out without touching its lock.

Even a shared lock, held for a moment, could turn away an owner that is just starting.
"""

from __future__ import annotations

import os
import re
import socket
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from openclaw_memory.storage.files import Files, Stamp

_TEXT = re.compile(r"process (\d+) on (\S+)")
_LOCKS = Path("/proc/locks")


@dataclass(frozen=True, slots=True)
class LockOwner:
    """Who is named in `.lock`. `running` is None where that can't be told, since it is another machine."""

    name: str
    running: bool | None


def find_owner(root: Path, files: Files) -> LockOwner | None:
    """Tell who has a root; None when nobody has: the file stays behind when its owner ends."""
    path = root / ".lock"
    try:
        stamp, text = files.stamp_now(path), files.read_now(path).decode(errors="replace").strip()
    except OSError:
        return None
    return None if stamp is None else judge_owner(text, stamp, socket.gethostname(), _is_alive, _locked_inodes())


def judge_owner(
    text: str, stamp: Stamp, host: str, is_alive: Callable[[int], bool], locked: frozenset[int] | None
) -> LockOwner | None:
    """Judge what `.lock` says. Pure.

    Parameters: `text` and `stamp` of the file; `host`, the name of this machine; `is_alive`, which tells whether a
    process runs; `locked`, inodes that somebody on this machine has locked, None where the system does not tell.
    """
    found = _TEXT.search(text)
    if locked is not None and stamp.inode in locked:
        return LockOwner(text or "another process", True)
    if found is None:
        return None
    if found[2] != host:
        return LockOwner(text, None)
    if locked is None and is_alive(int(found[1])):
        return LockOwner(text, True)
    return None


def _is_alive(process: int) -> bool:
    if process == os.getpid():
        # Who looks does not own it: its number was given anew.
        return False
    try:
        os.kill(process, 0)
    except PermissionError:
        return True
    except (ProcessLookupError, OverflowError):
        return False
    return True


def _locked_inodes() -> frozenset[int] | None:
    """List the inodes under `flock`, as Linux tells them; None elsewhere, and in sandboxes that show an empty list."""
    try:
        lines = _LOCKS.read_text().splitlines()
    except OSError:
        return None
    places = [parts[5].rpartition(":")[2] for line in lines if len(parts := line.split()) > 5 and parts[1] == "FLOCK"]
    return frozenset(map(int, places)) or None
