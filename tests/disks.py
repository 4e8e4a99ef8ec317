"""Where tests put their folders: in memory, where a sync costs nothing, or on a disk as users have it."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path

REAL_DISK = Path(tempfile.gettempdir())
"""The system's place for temporary files."""

MEMORY_DISK = "/dev/shm" if Path("/dev/shm").is_dir() else None
"""A file system in memory, for what happens to files, not for how long it takes."""

ROOM = 1 << 30
"""Bytes that must be free before all tests go there; two processes at once use a tenth."""


def quick_disk() -> str | None:
    """Give the place in memory if it will do for every test: with room, and with programs that may be run.

    Whoever sets `TMPDIR` has chosen: `TMPDIR=/var/tmp make test` tries everything on a disk.
    """
    if MEMORY_DISK is None or "TMPDIR" in os.environ or not os.access(MEMORY_DISK, os.W_OK):
        return None
    found = os.statvfs(MEMORY_DISK)
    programs_run = not found.f_flag & os.ST_NOEXEC
    return MEMORY_DISK if programs_run and found.f_bavail * found.f_frsize > ROOM else None
