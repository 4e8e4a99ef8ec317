"""Memory as the one process that writes a root: the store, what is derived from it, what goes on in the background."""

from __future__ import annotations

import asyncio
import contextvars
import logging
import secrets
from collections.abc import Awaitable, Callable, Coroutine, Sequence
from datetime import date, datetime
from pathlib import Path
from typing import Any, Literal

import anyio.to_thread

from contracts import (
    BatchContent,
    Forget,
    Forgotten,
    MemoryCompact,
    MemoryCompacted,
    MemoryWrite,
    MemoryWritten,
    TaskStateChange,
    UpdateFact,
)
from openclaw_memory.catalog import Catalog
from openclaw_memory.clock import Clock
from openclaw_memory.config import MemoryConfig
from openclaw_memory.context.tokens import TokenCounter
from openclaw_memory.errors import OpenClawMemoryError, Refused
from openclaw_memory.indexing import Indexing
from openclaw_memory.layers.rooms import FOLDERS, format_of
from openclaw_memory.lifecycle.compaction.compactor import Compactor
from openclaw_memory.lifecycle.forgetting.forgetter import Forgetter, failed
from openclaw_memory.lifecycle.heartbeat import Heartbeat
from openclaw_memory.lifecycle.jobs import Outcome
from openclaw_memory.lifecycle.jobs_of import jobs_of
from openclaw_memory.lifecycle.promotion.counting import RecallCounts
from openclaw_memory.lifecycle.promotion.promoter import Promoter
from openclaw_memory.lifecycle.promotion.told import ACTIONS, ORDER, told, undone
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
from openclaw_memory.storage.inbox import Inbox
from openclaw_memory.storage.store import Store
from openclaw_memory.storage.watching import changes
from openclaw_memory.workspace import areas, elsewhere, locks
from openclaw_memory.writer import Change, Planned, Writer

log = logging.getLogger(__name__)

INBOX_SECONDS = (0.02, 1.0)
"""How long until the inbox is looked into again: the first after something came, then longer up to the last."""

PUT_OFF_SECONDS = 10.0
"""How long an event that can't be applied is left alone."""

REPLIES_KEPT = 1_000
"""Replies to handed-in events that wait to be taken away."""


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
        self._apply = apply
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
        self._inbox = Inbox(config.memory_folder, files)
        self._inbox_came = anyio.Event()
        self._not_before: dict[str, float] = {}
        """When an event that could not be applied is tried again, by name."""
        self._background: list[asyncio.Task[None]] = []
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
        self._writer = Writer(self._store, config, clock, new_id, self.forgetter, alike)
        self._models = Models(config.completion)
        tools = Tools(config, self._store, self._catalog, clock, counter, self._models, new_id)
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
            await self._close_index()
            await self._store.close()
            raise

    def work(self) -> None:
        """Begin what goes on in the background: rewriting files, watching them, serving other processes."""
        self._start("flush", self._store.run())
        self._start("index", self.indexing.run())
        if self.meaning is not None:
            self._start("meaning", self.meaning.run())
        self._start("forgetting", self.forgetter.run())
        self._start("inbox", self._serve_inbox())
        if self._versioner is not None:
            self._start("versions", self._versioner.run())
        if self._config.heartbeat.enabled:
            self._start("heartbeat", self._scheduler().run())
        if self._config.watch:
            self._start("watch", self._watch())

    async def plan(self, change: Change, supplied: Sequence[str] = ()) -> Planned:
        """Plan an event and queue it for the journal; as `Writer.write`."""
        await self.forgetter.ready()
        return await self._writer.write(change, supplied)

    async def promote(self, action: str, once: str | None = None) -> dict[str, Any]:
        """Preview, apply or undo promotion; gives what `openclaw-memory promote` shows.

        Parameters: `once`, a name under which an undo that was asked for again is known.

        Raises: `Refused` for another action; what the store raises.
        """
        now = self._clock.now()
        match action:
            case "preview":
                return told(await self.promoter.preview(now), applied=False)
            case "apply":
                return told(await self.promoter.apply(now), applied=True)
            case "undo":
                return undone(await self.promoter.undo(now, once))
        raise Refused("action", f"{action!r} is none of {', '.join(ACTIONS)}")

    async def _ordered(self, event: Any, name: str) -> MemoryCompacted | dict[str, Any] | None:
        """Do what another process asks for that is no write; None when it asks for something else.

        Raises: `ValueError` when it is not understood.
        """
        kind, data = event.get("type"), event.get("data")
        try:
            if kind == MemoryCompact.event_type:
                return await self.compactor.compact(MemoryCompact.model_validate(data))
            if kind == ORDER:
                return await self.promote(str(data.get("action")) if isinstance(data, dict) else "", name)
        except OpenClawMemoryError as error:
            return {"problem": str(error)}
        return None

    async def forget(self, forget: Forget) -> Forgotten:
        """Forget something for good, or tell what would be; what was handed in before is applied before."""
        await self.serve_what_waits()
        return await self._forget(forget)

    async def _forget(self, forget: Forget, *handed_in: Path) -> Forgotten:
        try:
            if not forget.dry_run:
                await anyio.to_thread.run_sync(self._inbox.keep_taken)
            return await self.forgetter.forget(forget, but=handed_in)
        except Exception as error:
            log.exception("memory:forget failed")
            return failed(forget.dry_run, error)

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
        for task in self._background:
            task.cancel()
        if self._background:
            await asyncio.wait(self._background)
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

    # -- background ---------------------------------------------------------------------------------------------

    def _start(self, name: str, coroutine: Coroutine[Any, Any, None]) -> None:
        # A context of its own: this may be called from a handler, whose outbox and requests are none of its business.
        loop, context = asyncio.get_running_loop(), contextvars.Context()
        task = loop.create_task(coroutine, name=f"openclaw-memory {name}", context=context)
        task.add_done_callback(self._ended)
        self._background.append(task)

    def _ended(self, task: asyncio.Task[None]) -> None:
        if not task.cancelled() and (error := task.exception()) is not None:
            log.error("%s has stopped; what is acknowledged is in the journal", task.get_name(), exc_info=error)
            self._store.report_trouble(task.get_name(), f"{task.get_name()} has stopped: {error}")

    async def _watch(self) -> None:
        async for paths in changes(self._real_folder):
            if any(path.startswith(f"{INBOX}/new/") for path in paths):
                self._inbox_came.set()
            folders = {path.rpartition("/")[0] for path in paths} & set(FOLDERS)
            if folders:
                await self._store.look(sorted(folders))

    async def _serve_inbox(self) -> None:
        """Apply what other processes have handed in, once each, whenever something came."""
        soonest, latest = INBOX_SECONDS
        pause = soonest
        while True:
            came = await self._came()
            for name in came:
                await self._serve(name, self._apply)
            pause = soonest if came else min(latest, pause * 2)
            self._inbox_came = anyio.Event()
            with anyio.CancelScope() as scope:
                async with anyio.create_task_group() as group:
                    group.start_soon(self._wait_for_inbox, scope)
                    await self._clock.sleep_until(self._clock.monotonic() + pause)
                    scope.cancel()

    async def _wait_for_inbox(self, scope: anyio.CancelScope) -> None:
        await self._inbox_came.wait()
        scope.cancel()

    async def serve_what_waits(self) -> None:
        """Apply what was handed in before this process became the owner, so that it stays before its own writes.

        Not through the bus, whose lanes may be waiting for this.
        """
        for name in await self._came():
            await self._serve(name, self._write_now)

    async def _came(self) -> list[str]:
        """List what was handed in and is not put off."""
        names = await anyio.to_thread.run_sync(self._inbox.waiting)
        now = self._clock.monotonic()
        return [name for name in names if self._not_before.get(name, 0.0) <= now]

    async def _write_now(self, write: MemoryWrite) -> MemoryWritten:
        try:
            planned = await self.plan(write)
            await planned.commit.wait()
        except Refused as refusal:
            return MemoryWritten(key="", success=False, degraded=False, message=str(refusal))
        except OpenClawMemoryError as error:
            return MemoryWritten(key="", success=False, degraded=True, message=str(error))
        if planned.commit.error is not None:
            return MemoryWritten(key="", success=False, degraded=True, message=str(planned.commit.error))
        return planned.written(self._config.durability)

    async def _serve(self, name: str, apply: Callable[[MemoryWrite], Awaitable[MemoryWritten]]) -> None:
        try:
            event = await anyio.to_thread.run_sync(self._inbox.event, name)
            if isinstance(event, dict) and event.get("type") == Forget.event_type:
                forget = Forget.model_validate(event.get("data"))
                await self._answer(name, await self._forget(forget, self._inbox.place(name)))
                return
            if isinstance(event, dict) and (done := await self._ordered(event, name)) is not None:
                await self._answer(name, done)
                return
            write = with_key(event, name)
        except FileNotFoundError:
            # Served meanwhile, on behalf of who had to have it served first.
            return
        except (OSError, ValueError) as error:
            # Left where it is, for a person: whoever wrote it may not know that it was not understood.
            self._put_off(name, f"it is not understood: {error}")
            return
        written = await apply(write)
        if written.degraded:
            # Kept for better times; its key sees to it that it is applied once.
            self._put_off(name, written.message or "it can't be applied now")
            return
        await self._answer(name, written)

    async def _answer(self, name: str, answer: MemoryWritten | Forgotten | MemoryCompacted | dict[str, Any]) -> None:
        self._store.tell(f"{INBOX}/new/{name}.json", None)
        try:
            reply = answer if isinstance(answer, dict) else answer.model_dump(mode="json", by_alias=True)
            # A request to forget says what was forgotten.
            await anyio.to_thread.run_sync(self._inbox.answer, name, reply, isinstance(answer, Forgotten))
            await anyio.to_thread.run_sync(self._inbox.sweep, REPLIES_KEPT)
        except OSError as error:
            log.warning("the reply to %s can't be left in the inbox: %s", name, error)

    def _put_off(self, name: str, why: str) -> None:
        """Try a handed-in event again some time later, and tell."""
        self._not_before[name] = self._clock.monotonic() + PUT_OFF_SECONDS
        self._store.tell(f"{INBOX}/new/{name}.json", f"{INBOX}/new/{name}.json waits: {why}")


def with_key(event: Any, name: str) -> MemoryWrite:
    """Make a write of a handed-in event that is applied once, however often it is tried.

    Raises: `ValueError` when it is no event that writes.
    """
    if not isinstance(event, dict):
        raise ValueError("no JSON object")
    kind, data = event.get("type"), event.get("data")
    key = f"inbox:{name}"
    if kind == MemoryWrite.event_type:
        write = MemoryWrite.model_validate(data)
        return write if write.idempotency_key else write.model_copy(update={"idempotency_key": key})
    if kind not in (UpdateFact.event_type, TaskStateChange.event_type):
        raise ValueError(f"{kind!r} is no event that writes")
    session = (data.get("sessionId") if isinstance(data, dict) else None) or "inbox"
    content = BatchContent.model_validate({"items": [{"event": kind, "data": data}]})
    return MemoryWrite(
        type="batch",
        content=content,
        session_id=session,
        session_kind=content.items[0].data.session_kind,
        idempotency_key=key,
    )
