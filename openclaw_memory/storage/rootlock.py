"""One owner a root. The system lets go of the lock when the owner dies, however it dies."""

from __future__ import annotations

import fcntl
import os
import socket
import threading
from contextlib import suppress
from pathlib import Path
from typing import Protocol

from openclaw_memory.errors import RootInUseError
from openclaw_memory.storage.files import PRIVATE_FILE


class Lock(Protocol):
    """What excludes other owners of a root."""

    @property
    def held(self) -> bool: ...

    def acquire(self) -> None: ...

    def keep(self) -> None: ...

    def release(self) -> None: ...


class RootLock:
    """The lock of one folder, at its real path, so that two links to it exclude each other.

    The text in the file is for people; the lock itself is `flock`, so a left-over file never locks anybody out.
    """

    def __init__(self, root: Path) -> None:
        self._path = root.resolve() / ".lock"
        self._descriptor: int | None = None
        self._taking = threading.Lock()
        """Held while the descriptor changes: the journal's thread takes the lock again, others ask for it."""

    def acquire(self) -> None:
        """Take the lock.

        Raises: `RootInUseError` when another process, or another `Memory` of this one, has it.
        """
        with self._taking:
            self._acquire()

    def _acquire(self) -> None:
        descriptor = os.open(self._path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, PRIVATE_FILE)
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            owner = os.read(descriptor, 1000).decode(errors="replace").strip()
            os.close(descriptor)
            raise RootInUseError(str(self._path.parent), owner) from None
        self._descriptor = descriptor
        # The text is for people; a full disk must not cost the lock.
        with suppress(OSError):
            os.ftruncate(descriptor, 0)
            os.pwrite(descriptor, f"process {os.getpid()} on {socket.gethostname()}\n".encode(), 0)

    @property
    def held(self) -> bool:
        """Whether the lock is held, and still excludes others."""
        with self._taking:
            return self._excludes()

    def _excludes(self) -> bool:
        return self._descriptor is not None and os.fstat(self._descriptor).st_nlink > 0

    def keep(self) -> None:
        """Take the lock again where somebody removed its file, which would let a second owner in.

        Raises: `RootInUseError` when there is one already.
        """
        with self._taking:
            if self._excludes():
                return
            self._let_go()
            if self._path.parent.exists():
                self._acquire()

    def release(self) -> None:
        """Let go of the lock; the file stays, since removing it would let two owners in."""
        with self._taking:
            self._let_go()

    def _let_go(self) -> None:
        if self._descriptor is not None:
            os.close(self._descriptor)
            self._descriptor = None
