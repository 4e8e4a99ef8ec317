"""Commit what was rewritten, some time after it was, all of it together, and never in anybody's way."""

from __future__ import annotations

import logging
from collections.abc import Awaitable, Callable, Sequence
from datetime import datetime

import anyio
import anyio.to_thread

from openclaw_memory.clock import Clock
from openclaw_memory.config import MemoryConfig, VersioningConfig
from openclaw_memory.lifecycle.versioning.documents import is_committed, of_memory, of_workspace
from openclaw_memory.lifecycle.versioning.errors import VersioningError
from openclaw_memory.lifecycle.versioning.git import Git, told
from openclaw_memory.storage.store import Store

log = logging.getLogger(__name__)

MESSAGE = "memory: {files}"

RETRY_SECONDS = 60.0
"""How long until git is tried again that refused: a person may be using it."""

_IGNORED = "{folder}: {files} has no versions, since git is told to ignore it there; see `git check-ignore -v {first}`"

PLACE = "versioning"
"""Under which `status` tells what is wrong."""


def versioner_of(config: MemoryConfig, clock: Clock, store: Store) -> Versioner | None:
    """Make what commits the documents of a configuration; None where it wants no versions."""
    if not config.versioning.enabled:
        return None
    repositories = [
        Git(config.memory_folder, config.versioning, of_memory()),
        Git(config.workspace_folder, config.versioning, of_workspace()),
    ]
    return Versioner(repositories, config.versioning, clock, store.flush, store.tell)


class Versioner:
    """Runs in the background; `changed` tells it that there is something to commit.

    Parameters: `repositories`, one a folder; `config`; `clock`; `flush`, which has all files rewritten; `tell`, called
    with a place and what a person should know of it, or None when all is well again.
    """

    def __init__(
        self,
        repositories: Sequence[Git],
        config: VersioningConfig,
        clock: Clock,
        flush: Callable[[], Awaitable[None]],
        tell: Callable[[str, str | None], None],
    ) -> None:
        self._repositories = tuple(repositories)
        self._config = config
        self._clock = clock
        self._flush = flush
        self._tell = tell
        self._changed = anyio.Event()
        self._dirty = True
        """A start commits what was changed while nobody looked."""

    def changed(self, path: str) -> None:
        """Take note that a document was changed."""
        if is_committed(path):
            self._dirty = True
            self._changed.set()

    async def run(self) -> None:
        """Commit whenever something was changed, at most once in `quiet_seconds`; until cancelled."""
        while True:
            if not self._dirty:
                self._changed = anyio.Event()
                await self._changed.wait()
            await self._clock.sleep_until(self._clock.monotonic() + self._config.quiet_seconds)
            await self._flush()
            if not await self.commit():
                await self._clock.sleep_until(self._clock.monotonic() + RETRY_SECONDS)

    async def commit(self) -> bool:
        """Commit now; tells whether it could be done. What is wrong is told in `status`, and never raised."""
        self._dirty = False
        now = self._clock.now()
        problems: list[str] = []
        ignored: list[str] = []
        for git in self._repositories:
            if not git.folder.is_dir():
                continue
            try:
                left = await anyio.to_thread.run_sync(_committed, git, now)
            except VersioningError as error:
                problems.append(str(error))
            else:
                if left:
                    ignored.append(_IGNORED.format(folder=git.folder, files=told(left), first=left[0]))
        self._tell(PLACE, "; ".join([*problems, *ignored]) or None)
        if problems:
            self._dirty = True
            log.warning("versions could not be committed: %s", "; ".join(problems))
        return not problems


def _committed(git: Git, now: datetime) -> tuple[str, ...]:
    """Commit what has changed; gives what could never be, since git ignores it. Raises: `VersioningError`."""
    git.commit(MESSAGE, now)
    return git.ignored()
