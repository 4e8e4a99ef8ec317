"""The index of a root in use: opened, kept up to date, filled again when its files were lost, made anew when asked."""

from __future__ import annotations

import logging
from collections.abc import Awaitable, Callable, Iterator
from typing import Any

import anyio
import anyio.to_thread

from openclaw_memory.catalog import Catalog
from openclaw_memory.clock import Clock
from openclaw_memory.config import MemoryConfig
from openclaw_memory.retrieval.blocks import Block, FileRecord
from openclaw_memory.retrieval.engines import SafeIndex, open_index
from openclaw_memory.retrieval.status import IndexStatus, Progress, no_progress
from openclaw_memory.storage.files import Stamp
from openclaw_memory.storage.store import Store

log = logging.getLogger(__name__)

COMMITTED_AT_ONCE = 5_000
"""Pieces of one commit, and how many wait for it at most while files are taken in."""

PAUSE_SECONDS = 5.0
"""How long changes wait for each other before the index writes them down; they are searched all the same."""


class Indexing:
    """Keeps the index of a catalog in step with a store.

    Parameters: `config`; `clock`; `store` and `catalog` of the same documents; `wake`, which reads every file at rest.
    """

    def __init__(
        self, config: MemoryConfig, clock: Clock, store: Store, catalog: Catalog, wake: Callable[[], Awaitable[None]]
    ) -> None:
        self._config = config
        self._clock = clock
        self._store = store
        self._catalog = catalog
        self._wake = wake
        self._index: SafeIndex | None = None
        """The index on disk; None where it is kept in memory."""
        self._filling = anyio.Lock()
        self._to_do = anyio.Event()
        """Set when a document changed since the index was worked on last."""

    async def open(self) -> None:
        """Take up the index that an earlier run left: files that are as it knows them need not be read."""
        file, engine = self._config.index_file, self._config.index.type
        if file is None or engine == "memory":
            return
        self._index = index = await anyio.to_thread.run_sync(open_index, file.parent, file.stem, engine)
        if index.lost:
            # It is empty now: every file is about to be read.
            log.warning("%s", index.problem)
            index.filled()
        self._catalog.use(index)
        self._store.rest({path: Stamp(r.inode, r.size, r.mtime_ns) for path, r in index.records().items()})

    def changed(self, path: str, before: Any, after: Any) -> None:
        """Take note that a document is another one now; cheap, for the event loop."""
        self._catalog.changed(path, before, after, self._record_of(path))
        self._to_do.set()

    async def run(self) -> None:
        """Write down what changed, some seconds after it did, until cancelled."""
        while True:
            await self._to_do.wait()
            await self._clock.sleep_until(self._clock.monotonic() + PAUSE_SECONDS)
            self._to_do = anyio.Event()
            await anyio.to_thread.run_sync(self._write_down)
            await self.fill()

    async def rebuild(self, *, full: bool, progress: Progress = no_progress) -> None:
        """Make the terms of the index anew from its rows, or with `full` all of it from the files.

        Searches go on with the old index until the new one takes its place.

        Raises: `IndexUnavailableError` when the disk refuses; then the old index stays.
        """
        if self._index is None:
            return
        await anyio.to_thread.run_sync(self._write_down)
        if not full:
            await anyio.to_thread.run_sync(self._index.purge, progress)
            return
        await self._wake()
        index, of = self._index, len(self._catalog.known())
        # Gone through in the thread, when the index already takes note of what changes meanwhile.
        await anyio.to_thread.run_sync(index.rebuild, self._contents(), lambda done, _: progress(done, of))
        await anyio.to_thread.run_sync(self._catalog.use, index)

    def status(self) -> IndexStatus:
        """Tell what the index holds, and how it is. For a thread."""
        self._write_down()
        return self._catalog.index.status()

    @property
    def problem(self) -> str | None:
        """Say what is wrong with the files of the index; None when all is well."""
        return self._catalog.index.problem

    async def close(self) -> None:
        """Write down what is left, and let go of the files."""
        await anyio.to_thread.run_sync(self._close)

    def _close(self) -> None:
        self._write_down()
        self._catalog.index.close()

    def _write_down(self) -> None:
        # A first start has every file to take in: what waits lies in memory, so it is written as it comes.
        while not self._catalog.feed(COMMITTED_AT_ONCE):
            if not self._commit():
                self._catalog.feed()
                break
        self._commit()

    def _commit(self) -> bool:
        """Write down what waits now; tells whether the disk took it."""
        index = self._catalog.index
        # Not until nothing waits: others may go on writing for ever.
        left = index.waiting
        while left > 0 and not index.commit(COMMITTED_AT_ONCE):
            left -= COMMITTED_AT_ONCE
            if index.problem is not None:
                # It is tried again with the next change; what waits is searched all the same.
                return False
        return True

    async def fill(self) -> bool:
        """Read every file once more for an index that was lost; tells whether it was. Who searches waits for it."""
        async with self._filling:
            index = self._index
            if index is None or not index.lost:
                return False
            log.warning("the index was lost (%s); it is filled again from the files", index.problem)
            await anyio.to_thread.run_sync(index.reopen)
            await anyio.to_thread.run_sync(self._catalog.use, index)
            await self._wake()
            for path in self._catalog.known():
                self._catalog.again(path, self._record_of(path))
            await anyio.to_thread.run_sync(self._catalog.feed)
            index.filled()
        self._to_do.set()
        return True

    def _contents(self) -> Iterator[tuple[str, list[Block], FileRecord | None]]:
        """Give every document that was read, with its pieces, for an index that begins empty."""
        for path in self._catalog.known():
            # The record first: of a file that is written in between, the next start must not believe the older pieces.
            record = self._record_of(path)
            yield path, self._catalog.pieces(path), record

    def _record_of(self, path: str) -> FileRecord | None:
        held = self._store.file_of(path)
        return None if held is None else FileRecord(held[0].size, held[0].mtime_ns, held[0].inode, held[1])
