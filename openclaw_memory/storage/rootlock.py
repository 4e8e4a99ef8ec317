"""One owner a root. The system lets go of the lock when the owner dies, however it dies."""

from __future__ import annotations

import fcntl
import logging
import os
import socket
import threading
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import Protocol

from openclaw_memory.errors import FolderInUseError, RootInUseError
from openclaw_memory.storage.files import PRIVATE_FILE, PRIVATE_FOLDER

log = logging.getLogger(__name__)


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


class FolderLock:
    """The lock of a folder of other people's: on the folder itself, so that nothing is put into it.

    Two links to one folder exclude each other. Where the folder can't be locked, on some network disks and on those
    that are read only, it stays unlocked, which the log tells once.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._descriptor: int | None = None
        self._tried = False

    def acquire(self) -> None:
        """Make the folder where it does not exist, and take its lock.

        Raises: `FolderInUseError` when another memory has it.
        """
        descriptor, again, self._tried = None, self._tried, True
        try:
            # One by one: `parents=True` would make the outer ones for everybody to read.
            for folder in [*reversed(self._folder.parents), self._folder]:
                if not folder.exists():
                    folder.mkdir(mode=PRIVATE_FOLDER, exist_ok=True)
            descriptor = os.open(self._folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            if descriptor is not None:
                os.close(descriptor)
            raise FolderInUseError(str(self._folder)) from None
        except OSError as error:
            if descriptor is not None:
                os.close(descriptor)
            if not again:
                log.warning("%s can't be locked (%s); see to it that no other memory writes it", self._folder, error)
            return
        self._descriptor = descriptor

    def keep(self) -> None:
        """Take the lock again where the folder is another one by now, which nobody has locked.

        Raises: `FolderInUseError` when somebody has.
        """
        if not self._tried or (self._descriptor is not None and self._is_another()):
            self.release()
            self.acquire()

    def _is_another(self) -> bool:
        try:
            found, held = self._folder.stat(), os.fstat(self._descriptor or -1)
        except OSError:
            # Gone: made anew, and then locked, with the next thing that is written into it.
            return False
        return (found.st_ino, found.st_dev) != (held.st_ino, held.st_dev)

    def release(self) -> None:
        """Let go of the lock."""
        if self._descriptor is not None:
            os.close(self._descriptor)
            self._descriptor = None


class Locks:
    """The lock of a root, and those of the folders elsewhere that are written with it.

    Parameters: `root`; `others`, each a `FolderLock`.
    """

    def __init__(self, root: Lock, others: Sequence[FolderLock]) -> None:
        self._root = root
        self._others = others

    @property
    def held(self) -> bool:
        """Whether the root is held; without it nothing is written anywhere."""
        return self._root.held

    def acquire(self) -> None:
        """Take all or none. Raises: `RootInUseError`, `FolderInUseError`, `OSError` of the root."""
        self._root.acquire()
        try:
            for lock in self._others:
                lock.acquire()
        except BaseException:
            self.release()
            raise

    def keep(self) -> None:
        """See to all of them. Raises: as `acquire`."""
        self._root.keep()
        for lock in self._others:
            lock.keep()

    def release(self) -> None:
        """Let go of all, of the root last: who waits for it finds the others free."""
        for lock in self._others:
            lock.release()
        self._root.release()
