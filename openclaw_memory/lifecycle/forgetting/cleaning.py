"""Take what is gone from the documents out of everything else: journal, copies, index, vectors."""

from __future__ import annotations

import logging
from collections import Counter
from collections.abc import Collection, Iterable
from functools import partial
from pathlib import Path

import anyio.to_thread

from openclaw_memory.catalog import Catalog
from openclaw_memory.clock import Clock
from openclaw_memory.config import MemoryConfig
from openclaw_memory.indexing import Indexing
from openclaw_memory.lifecycle.forgetting import copies
from openclaw_memory.lifecycle.forgetting.plan import Plan
from openclaw_memory.lifecycle.forgetting.reach import Reach, is_backup
from openclaw_memory.lifecycle.forgetting.records import scrub_of, scrubbed_line
from openclaw_memory.lifecycle.forgetting.scanning import Kind, Traces
from openclaw_memory.lifecycle.forgetting.tombstones import FORGOTTEN, plan_finished
from openclaw_memory.manifest import write_manifest
from openclaw_memory.meaning import Meaning
from openclaw_memory.retrieval.engines.errors import IndexFaultError
from openclaw_memory.retrieval.vectors.errors import VectorsError
from openclaw_memory.storage.durable import remove
from openclaw_memory.storage.files import Files
from openclaw_memory.storage.store import Store

log = logging.getLogger(__name__)


TOLD = 5
"""Files that a notice names, at most."""

NOTICE = "forgetting"
"""Under which `status` tells of a forgetting that is not finished."""


class Cleaning:
    """Cleans up after a forgetting.

    Parameters: `config`; `reach`, `store`, `catalog`, `indexing` and `meaning` of the same documents; `files`; `clock`.
    """

    def __init__(
        self,
        config: MemoryConfig,
        reach: Reach,
        store: Store,
        catalog: Catalog,
        indexing: Indexing,
        meaning: Meaning | None,
        files: Files,
        clock: Clock,
    ) -> None:
        self._config, self._reach, self._store, self._catalog = config, reach, store, catalog
        self._indexing, self._meaning, self._files, self._clock = indexing, meaning, files, clock
        self._zone = config.zone

    async def clean_up(
        self, plan: Plan, paths: Iterable[str], traces: Traces, but: Collection[Path], problems: list[str]
    ) -> Counter[str]:
        """Take what is gone from the documents out of everything else; tells how many copies held it, by file."""
        paths = list(paths)
        done = self._store.position
        texts = {path: [*one.texts, *one.values] for path, one in plan.chosen.items()}
        wanted = plan.asked
        scrub = scrub_of(wanted, wanted.ids, texts)
        counts: Counter[str] = Counter()
        held = await self._reach.copies(plan.asked, traces, but, problems)
        backups = [found.document for found in held if found.document is not None and is_backup(found.path)]
        await self._store.purge(scrub, partial(scrubbed_line, scrub=scrub), [*backups, *paths])
        for path in plan.blank:
            if not await self._store.discard(path):
                log.info("%s is in use again; it stays", path)
        for found in held:
            if is_backup(found.path) and self._catalog.document(found.document or "") is not None:
                # It was brought up to date.
                continue
            try:
                counts[found.path] += await anyio.to_thread.run_sync(
                    copies.forget_in, found, wanted, traces, scrub, self._files, self._zone, plan.times
                )
            except FileNotFoundError:
                # A backup that went with its document, or a reply that was taken.
                continue
            except OSError as error:
                problems.append(f"{found.path} can't be made anew ({error.strerror or error})")
        await self._index(plan, traces, but, problems)
        await write_manifest(self._config.memory_folder, self._files, self._clock, anew=True)
        lagging = self._store.lagging(paths, done)
        problems += [f"{path} can't be written now; it is done as soon as it can" for path in lagging[:TOLD]]
        if not lagging:
            draft = await self._store.draft([FORGOTTEN])
            plan_finished(draft)
            await self._store.commit(draft).wait()
            await self._store.settle([FORGOTTEN])
        self._store.tell(NOTICE, "a forgetting is not finished; it is gone on with" if lagging else None)
        return +counts

    async def _index(self, plan: Plan, traces: Traces, but: Collection[Path], problems: list[str]) -> None:
        try:
            await self._indexing.rebuild(full=False)
        except IndexFaultError as error:
            problems.append(f"the index may hold it still: {error}; `openclaw-memory rebuild-index` makes it anew")
        if self._meaning is not None:
            try:
                await self._meaning.forget()
            except VectorsError as error:
                problems.append(f"vectors may be left: {error}; `openclaw-memory rebuild-index --full` makes them anew")
        elif plan.chosen:
            await anyio.to_thread.run_sync(self._remove_vectors)
        if traces:
            for found in await self._reach.holding(traces, [*but, *self._in_use()], problems, (Kind.INDEX,)):
                # Of another agent's name, or another engine, used before: derived, and made anew when it is wanted.
                await anyio.to_thread.run_sync(remove, self._files, found.place)

    def _remove_vectors(self) -> None:
        """Remove vectors that nobody uses now: they can be made again, and nobody could take single ones out."""
        file = self._config.vectors_file
        remove(self._files, *(file.with_name(file.name + ending) for ending in ("", "-wal", "-shm", "-journal")))

    def _in_use(self) -> list[Path]:
        """List the files of the index and the vectors that are in use; folders stand for what is in them."""
        files = [self._config.vectors_file, *([self._config.index_file] if self._config.index_file else [])]
        beside = [file.with_name(file.name + ending) for file in files for ending in ("", "-wal", "-shm", "-journal")]
        return [*beside, *(file.with_suffix(".index") for file in files[1:])]
