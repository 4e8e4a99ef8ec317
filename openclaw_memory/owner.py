"""Memory as the one process that writes a root: the store, what is derived from it, what goes on in the background."""

from __future__ import annotations

import logging
import secrets
from collections.abc import Awaitable, Callable, Sequence
from datetime import date, datetime
from typing import Any, Literal

import anyio
import anyio.to_thread

from contracts import Forget, Forgotten, MemoryWrite, MemoryWritten
from openclaw_memory.background import Background
from openclaw_memory.catalog import Catalog
from openclaw_memory.clock import Clock
from openclaw_memory.config import MemoryConfig
from openclaw_memory.context.tokens import TokenCounter
from openclaw_memory.errors import OpenClawMemoryError
from openclaw_memory.events import Change
from openclaw_memory.handed_in import HandedIn
from openclaw_memory.indexing import Indexing
from openclaw_memory.layers.rooms import FOLDERS, format_of
from openclaw_memory.lifecycle.compaction.compactor import Compactor
from openclaw_memory.lifecycle.forgetting.forgetter import Forgetter
from openclaw_memory.lifecycle.heartbeat import Heartbeat
from openclaw_memory.lifecycle.jobs import Outcome
from openclaw_memory.lifecycle.jobs_of import jobs_of
from openclaw_memory.lifecycle.promotion.counting import RecallCounts
from openclaw_memory.lifecycle.promotion.ordered import carry_out
from openclaw_memory.lifecycle.promotion.promoter import Promoter
from openclaw_memory.lifecycle.scheduler import Scheduler
from openclaw_memory.lifecycle.stale_notes import StaleNotes
from openclaw_memory.lifecycle.summaries.job import Summaries
from openclaw_memory.lifecycle.summaries.making import Maker
from openclaw_memory.lifecycle.tools import Models, Tools
from openclaw_memory.lifecycle.versioning.versioner import versioner_of
from openclaw_memory.manifest import write_manifest
from openclaw_memory.meaning import meaning_of
from openclaw_memory.reader import Reader
from openclaw_memory.retrieval.index import InMemoryIndex
from openclaw_memory.retrieval.status import IndexStatus, Progress
from openclaw_memory.status import Status
from openclaw_memory.storage.buffer import FlushLimits
from openclaw_memory.storage.files import Files
from openclaw_memory.storage.inbox import FOLDER as INBOX
from openclaw_memory.storage.store import Store
from openclaw_memory.storage.watching import changes
from openclaw_memory.workspace import areas, elsewhere, locks
from openclaw_memory.writer import Planned, Writer

log = logging.getLogger(__name__)


class Owner:
    """Opens with `open`, serves by `reader` and `plan`, ends with `close`.

    Parameters: `config`, `clock`, `files`, `counter`; `new_id`, which makes message ids; `troubled`, called with the
    reason when the disk begins to refuse, and with None when it no longer does; `apply`, which sends an event of
    another process through the bus and gives its reply.
    """

    def __init__(
        self,
        config: MemoryConfig,
        clock: Clock,
        files: Files,
        counter: TokenCounter,
        new_id: Callable[[datetime], str],
        troubled: Callable[[str | None], None],
        apply: Callable[[MemoryWrite], Awaitable[MemoryWritten]],
    ) -> None:
        self._config = config
        self._clock = clock
        self._files = files
        self._catalog = Catalog(InMemoryIndex(), config.zone)
        buffer = config.buffer
        self._store = Store(
            config.memory_folder,
            files,
            clock,
            format_of,
            FlushLimits(buffer.flush_interval_seconds, buffer.max_entries_per_file, buffer.max_entries_in_all),
            buffer.journal_limit_bytes,
            self._changed,
            troubled,
            config.durability,
            locks(config),
            elsewhere(config),
        )
        self._areas = areas(config)
        self.indexing = Indexing(config, clock, self._store, self._catalog, self._wake)
        self._real_folder = config.memory_folder.resolve()
        self._handed_in = HandedIn(config, files, clock, self._store, self, apply)
        self._background = Background(self._store.report_trouble)
        self.meaning = meaning_of(config, lambda: self._catalog.index, clock)
        self._recalls = RecallCounts(config.zone)
        self.reader = Reader(
            self._store,
            self._catalog,
            config,
            clock,
            counter,
            self.meaning,
            self.indexing.fill,
            self._recalls.note,
        )
        self.forgetter = Forgetter(config, self._store, self._catalog, self.indexing, self.meaning, files, clock)
        alike = None if self.meaning is None else self.meaning.alike
        self.writer = Writer(self._store, config, clock, new_id, self.forgetter, alike)
        self._models = Models(config.completion)
        tools = Tools(config, self._store, self._catalog, clock, counter, self._models, new_id, self.forgetter.state)
        self.compactor = Compactor(tools, self.reader)
        self._versioner = versioner_of(config, clock, self._store)
        self.promoter = Promoter(tools, self._recalls)
        self._stale_notes = StaleNotes(tools)
        self._summaries = Summaries(tools, Maker(tools))
        jobs = (*jobs_of(tools), *self.promoter.jobs(), self._stale_notes)
        self.heartbeat = Heartbeat(self._store, jobs, secrets.token_hex(8))

    async def open(self) -> None:
        """Take the root, finish what a crash interrupted, read everything.

        Raises: `RootInUseError`, `FolderInUseError`.
        """
        recovered = await self._store.open(self._areas)
        try:
            if recovered.replayed:
                log.info("finished what was interrupted: %s", recovered.replayed)
            if recovered.damaged_lines:
                log.error("%d lines of the journal are damaged and were left out", recovered.damaged_lines)
            await self.indexing.open()
            if self.meaning is not None:
                await self.meaning.open()
                self._catalog.tell(self.meaning.offer)
            await self.reader.look(everywhere=True)
            await self.forgetter.open()
            await write_manifest(self._config.memory_folder, self._files, self._clock)
        except BaseException:
            with anyio.CancelScope(shield=True):
                await self._close_index()
                await self._store.close()
            raise

    def work(self) -> None:
        """Begin what goes on in the background: rewriting files, watching them, serving other processes."""
        self._background.start("flush", self._store.run())
        self._background.start("index", self.indexing.run())
        if self.meaning is not None:
            self._background.start("meaning", self.meaning.run())
        self._background.start("forgetting", self.forgetter.run())
        self._background.start("inbox", self._handed_in.run())
        if self._versioner is not None:
            self._background.start("versions", self._versioner.run())
        if self._config.heartbeat.enabled:
            self._background.start("heartbeat", self._scheduler().run())
        if self._config.watch:
            self._background.start("watch", self._watch())

    async def plan(self, change: Change, supplied: Sequence[str] = ()) -> Planned:
        """Plan an event and queue it for the journal; as `Writer.write`."""
        return await self.writer.write(change, supplied)

    async def promote(self, action: str, once: str | None = None) -> dict[str, Any]:
        """Preview, apply or undo promotion; gives what `openclaw-memory promote` shows.

        Parameters: `once`, a name under which an undo that was asked for again is known.

        Raises: `Refused` for another action; what the store raises.
        """
        return await carry_out(self.promoter, action, self._clock.now(), once)

    async def forget(self, forget: Forget) -> Forgotten:
        """Forget something for good, or tell what would be; what was handed in before is applied before."""
        await self.serve_what_waits()
        return await self._handed_in.forget(forget)

    async def serve_what_waits(self) -> None:
        """Apply what was handed in before this process became the owner; as `HandedIn.serve_what_waits`."""
        await self._handed_in.serve_what_waits()

    @property
    def in_flight(self) -> int:
        """How many writes are on their way to the disk."""
        return self._store.in_flight

    async def settled(self) -> None:
        """Return when everything planned so far is decided."""
        await self._store.settled()

    async def flush(self) -> None:
        """Rewrite all files that lag behind."""
        await self._store.flush()

    async def make_summary(self, period: Literal["daily", "weekly", "monthly"], day: date) -> Outcome:
        """Make one summary now; as `Memory.make_summary`."""
        return await self._summaries.make(period, day, self._clock.now())

    def _scheduler(self) -> Scheduler:
        heartbeat = self.heartbeat
        interval = self._config.heartbeat.interval_seconds
        return Scheduler(heartbeat.tick, lambda: heartbeat.last_tick, self._clock, interval)

    async def close(self) -> None:
        """Write everything down and let go of the root."""
        self.heartbeat.close()
        await self._background.stop()
        await self._models.aclose()
        try:
            await self._recalls.keep(self._store)
        except OpenClawMemoryError as error:
            log.warning("what was recalled could not be counted: %s", error)
        # The index before the lock: the next owner opens it as soon as it has that.
        await self._store.flush()
        await self._close_index()
        await self._store.close()
        if self._versioner is not None:
            await self._versioner.commit()
        await write_manifest(self._config.memory_folder, self._files, self._clock)

    async def _close_index(self) -> None:
        self._catalog.tell(None)
        await self.indexing.close()
        if self.meaning is not None:
            await self.meaning.close()

    async def caught_up(self) -> None:
        """Wait until search by meaning knows everything that was written before, as far as it can."""
        if self.meaning is not None:
            await anyio.to_thread.run_sync(self._catalog.feed)
            await self.meaning.caught_up()

    def _changed(self, path: str, before: Any, after: Any) -> None:
        self.indexing.changed(path, before, after)
        self.forgetter.changed(path, after)
        if self._versioner is not None:
            self._versioner.changed(path)

    async def _wake(self) -> None:
        await self._store.look(self._areas, wake=True)

    async def rebuild_index(self, *, full: bool, progress: Progress) -> None:
        """Make the index anew, and search meaning with the configured model; as `Memory.rebuild_index`."""
        await self.indexing.rebuild(full=full, progress=progress)
        if self.meaning is not None:
            await self.meaning.rebuild(full=full)

    def index_status(self) -> IndexStatus:
        """Tell what the index holds, and how it is. For a thread."""
        return self.indexing.status()

    def status(self) -> Status:
        """Tell how memory is."""
        return Status(
            running=True,
            trouble=self._store.trouble,
            unreadable=self._store.problems(),
            front_matter=self._catalog.front_matter_problems(),
            unflushed=self._store.unflushed(),
            notices=self._store.notices() | ({"index": problem} if (problem := self.indexing.problem) else {}),
            embedding=None if self.meaning is None else self.meaning.progress,
            stale=self._stale_notes.found or {},
        )

    async def _watch(self) -> None:
        async for paths in changes(self._real_folder):
            if any(path.startswith(f"{INBOX}/new/") for path in paths):
                self._handed_in.something_came()
            folders = {path.rpartition("/")[0] for path in paths} & set(FOLDERS)
            if folders:
                await self._store.look(sorted(folders))
