"""One writer at a time: the lock of the folder behind `/memories`, whatever process a writer is in."""

from __future__ import annotations

import fcntl
import logging
import os
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from openclaw_memory.filetool.errors import CommandRefusedError

log = logging.getLogger(__name__)

LOCK_SECONDS = 10.0
"""How long another process that writes here is waited for."""

_AGAIN_SECONDS = 0.01


@contextmanager
def locked(folder: Path, pause: Callable[[float], None]) -> Iterator[None]:
    """Keep every other writer of a folder out. The lock is on the folder itself, so that nothing is put into it.

    Raises: `CommandRefusedError` when one has been writing for too long.
    """
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        _lock(descriptor, folder, pause)
        yield
    finally:
        os.close(descriptor)


def _lock(descriptor: int, folder: Path, pause: Callable[[float], None]) -> None:
    until = time.monotonic() + LOCK_SECONDS
    while True:
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            if time.monotonic() > until:
                raise CommandRefusedError(
                    "Error: another program is writing the memory files; try again later"
                ) from None
            pause(_AGAIN_SECONDS)
        except OSError as error:
            # A network disk without locks. Files are still replaced whole.
            log.warning("%s can't be locked (%s); see to it that one program writes it", folder, error)
            return
        else:
            return
