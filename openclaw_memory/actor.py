"""Memory on the bus: it takes its events, keeps each session's in order, and answers every one of them.

A fault in here never reaches the bus: reads answer with what can be read, writes say why they failed.
"""

from __future__ import annotations

import asyncio
import contextvars
import logging
from collections.abc import Awaitable, Callable, Coroutine
from datetime import date, datetime
from typing import Any, Literal

import anyio.to_thread

from bus import Event, EventBus, Payload, Subscription
from contracts import (
    EVENTS,
    Forget,
    Forgotten,
    HeartbeatDone,
    HeartbeatTick,
    JobReport,
    MemoryCompact,
    MemoryCompacted,
    MemoryContext,
    MemoryDegraded,
    MemoryDocument,
    MemoryGet,
    MemoryRead,
    MemoryRecovered,
    MemoryResults,
    MemorySearch,
    MemoryWrite,
    MemoryWritten,
    SessionEnded,
    SessionStarted,
    TaskStateChange,
    UpdateFact,
    prompt_text,
)
from contracts.fields import SessionKind
from openclaw_memory.clock import Clock, SystemClock
from openclaw_memory.config import MemoryConfig
from openclaw_memory.context.errors import EncodingUnavailableError
from openclaw_memory.context.tokens import EstimateCounter, TokenCounter, make_counter
from openclaw_memory.errors import OpenClawMemoryError, Refused, RootInUseError
from openclaw_memory.guest import Guest
from openclaw_memory.ids import MessageIds
from openclaw_memory.lifecycle.heartbeat import NAME as HEARTBEAT
from openclaw_memory.lifecycle.jobs import Outcome
from openclaw_memory.owner import Owner
from openclaw_memory.reader import Reader
from openclaw_memory.retrieval.status import IndexStatus, Progress, no_progress
from openclaw_memory.status import Status
from openclaw_memory.storage.commits import Commit
from openclaw_memory.storage.files import Files, LocalFiles
from openclaw_memory.supplied import Supplied
from openclaw_memory.writer import Change, Planned

log = logging.getLogger(__name__)

LANES = 16
"""How many sessions are served side by side."""

BEFORE_SECONDS = 1.0
"""How long a wish to forget waits for what was published before it, where the lanes are never empty."""

MOST_IN_FLIGHT = 1_000
"""Writes that may wait for the journal, or replies for their watchers, before the lanes wait with them."""

_UNAVAILABLE = {
    "zh": "[记忆系统不可用，使用最小上下文]",
    "en": "[memory is unavailable, this is the smallest possible context]",
}
_WRITE_FAILED = {
    "zh": "记忆写入失败，但用户交互不受影响",
    "en": "memory could not be written; the conversation can go on",
}


class Memory:
    """The plugin. Register it with a `Gateway`, or call `start(bus)` and `stop()`.

    Parameters: `config`; `clock`, which tests and replays move by hand; `files`, the operations of the disk;
    `counter` of tokens, by default that of `config.encoding`; `new_id`, which makes message ids from times.
    """

    name = "memory"

    def __init__(
        self,
        config: MemoryConfig,
        *,
        clock: Clock | None = None,
        files: Files | None = None,
        counter: TokenCounter | None = None,
        new_id: Callable[[datetime], str] | None = None,
    ) -> None:
        self.config = config
        self._clock = clock or SystemClock()
        self._files = files or LocalFiles()
        self._counter = counter
        self._new_id = new_id or MessageIds()
        self._bus: EventBus | None = None
        self._owner: Owner | None = None
        self._guest: Guest | None = None
        self._subscription: Subscription | None = None
        self._tasks: set[asyncio.Task[None]] = set()
        self._last: dict[str, Commit] = {}
        self._supplied = Supplied()
        self._taking_over = asyncio.Lock()
        self._trouble = ""
        self._degraded_since: datetime | None = None

    async def start(self, bus: EventBus) -> None:
        """Open the memory folder, finish what a crash interrupted, and begin to answer.

        Where another process owns the folder, this one reads beside it and hands its writes in.
        """
        if self.config.not_in_effect:
            log.warning("settings without effect in this version: %s", ", ".join(self.config.not_in_effect))
        self._bus = bus
        if self._counter is None:
            # Loading an encoding takes most of a second.
            self._counter = await anyio.to_thread.run_sync(_counter, self.config.encoding)
        try:
            await self._own()
        except RootInUseError as error:
            log.info("%s; reading beside it", error)
            guest = Guest(self.config, self._clock, self._files, self._counter, self._new_id, error.owner)
            await guest.open()
            self._guest = guest
        try:
            bus.register(*EVENTS)
            self._subscription = bus.subscribe(
                [
                    MemoryRead,
                    MemorySearch,
                    MemoryGet,
                    MemoryWrite,
                    UpdateFact,
                    TaskStateChange,
                    SessionStarted,
                    SessionEnded,
                    MemoryCompact,
                    HeartbeatTick,
                    Forget,
                ],
                self._handle,
                name=self.name,
                concurrency=LANES,
                key=_lane,
                answers=True,
            )
        except BaseException:
            # A start that fails lets go of the folder.
            if self._owner is not None:
                await self._owner.close()
            raise
        if self._owner is not None:
            self._owner.work()

    async def _own(self) -> None:
        """Become the one who writes the folder. Raises: `RootInUseError`."""
        assert self._counter is not None
        owner = Owner(
            self.config,
            self._clock,
            self._files,
            self._counter,
            self._new_id,
            self._trouble_changed,
            self._apply,
        )
        await owner.open()
        guest, self._owner, self._guest = self._guest, owner, None
        if guest is not None:
            await guest.close()

    async def stop(self) -> None:
        """Answer what was asked, write everything down and let go of the folder."""
        if self._subscription is None:
            return
        if self._owner is not None:
            # Its jobs may ask a model, which nobody wants to wait for now; what they have begun, a later tick does.
            self._owner.heartbeat.close()
        # Replies first: who closes the subscription fails the requests that wait for them.
        await self._subscription.drain()
        await self._answered()
        self._subscription.close()
        self._subscription = None
        await self._answered()
        if self._owner is not None:
            await self._owner.close()
        if self._guest is not None:
            await self._guest.close()

    async def _answered(self) -> None:
        """Return when everything taken so far has its reply."""
        if self._owner is not None:
            await self._owner.settled()
        while self._tasks:
            await asyncio.wait(self._tasks)

    def status(self) -> Status:
        """Tell how memory is: what can't be read or written, and what waits to be rewritten."""
        serving = self._owner or self._guest
        return Status(running=False) if serving is None else serving.status()

    async def rebuild_index(self, *, full: bool = False, progress: Progress = no_progress) -> None:
        """Make the index anew: its terms from its rows, or with `full` all of it from the files.

        Searches go on with the old one meanwhile. `progress` is called with what is done and what there is. From then
        on meaning is searched with the configured model; `full` has all vectors made again, in the background.

        Raises: `RootInUseError` when another process owns the folder, and with it the index; `IndexUnavailableError`
        when the disk refuses, and the old index stays; `EmbeddingError` or `VectorsError` when only the words could be
        made anew, and vectors are as they were.
        """
        if self._owner is None:
            raise RootInUseError(str(self.config.memory_folder), "another process, which has its index open")
        await self._owner.rebuild_index(full=full, progress=progress)

    async def documents(self, session_kind: SessionKind) -> list[str]:
        """List the files that a session of this kind may read by their paths (`memory:get`), in order."""
        return await self._reader().documents(session_kind)

    async def make_summary(self, period: Literal["daily", "weekly", "monthly"], day: date) -> Outcome:
        """Make the summary of the period that a day lies in now, also anew; what a person wrote in it stays.

        Raises: `RootInUseError` when another process owns the folder.
        """
        if self._owner is None:
            raise RootInUseError(str(self.config.memory_folder), "another process, which makes its summaries")
        return await self._owner.make_summary(period, day)

    async def index_status(self) -> IndexStatus:
        """Tell what the index holds, and how it is."""
        serving = self._owner or self._guest
        assert serving is not None
        return await anyio.to_thread.run_sync(serving.index_status)

    async def promote(self, action: str) -> dict[str, Any]:
        """Promote what was recalled again and again into MEMORY.md (`apply`), tell what would be (`preview`), or take
        the last promotion back (`undo`); beside the folder's owner that one does it.

        Raises: `Refused`, `OSError`, and what the store raises; then nothing was changed.
        """
        serving = self._owner or self._guest
        assert serving is not None
        return await serving.promote(action)

    async def flush(self) -> None:
        """Rewrite all files that lag behind, now: for those who want to look into the folder at once."""
        if self._owner is not None:
            await self._owner.flush()

    async def caught_up(self) -> None:
        """Wait until search by meaning knows everything that was written before: for those who measure it."""
        if self._owner is not None:
            await self._owner.caught_up()

    # -- events -------------------------------------------------------------------------------------------------

    async def _handle(self, event: Event[Any]) -> None:
        match event.data:
            case MemoryRead() as read:
                await self._read(event, read)
            case MemorySearch() as search:
                await self._search(event, search)
            case MemoryGet() as get:
                await self._get(event, get)
            case SessionStarted() as started:
                await self._session_started(event, started)
            case SessionEnded() as ended:
                await self._session_ended(event, ended)
            case MemoryCompact() as compact:
                await self._compact(event, compact)
            case HeartbeatTick() as tick:
                # Not in its lane, where whatever comes after it would wait for jobs that may take minutes.
                self._start(self._beat(event, tick), contextvars.Context())
            case Forget() as forget:
                # Nor this: it looks through all that is kept.
                self._start(self._forget(event, forget), contextvars.Context())
            case change:
                await self._write(event, change)

    async def _read(self, event: Event[Any], read: MemoryRead) -> None:
        await self._own_writes(event)
        try:
            context = await self._reader().context(read)
            self._supplied.note(read.session_id, context)
        except Exception as error:
            log.exception("memory:read failed")
            context = self._minimal(read.max_tokens, str(error))
        await self._reply(event, context)

    async def _search(self, event: Event[Any], search: MemorySearch) -> None:
        await self._own_writes(event)
        try:
            results = await self._reader().search(search)
        except Exception as error:
            log.exception("memory:search failed")
            results = MemoryResults(results=(), degraded=True, notice=str(error))
        await self._reply(event, results)

    async def _get(self, event: Event[Any], get: MemoryGet) -> None:
        try:
            document = await self._reader().get(get)
        except Exception as error:
            log.exception("memory:get failed")
            document = MemoryDocument(path=get.path, text="", truncated=False, notice=str(error))
        await self._reply(event, document)

    async def _session_started(self, event: Event[Any], started: SessionStarted) -> None:
        await self._own_writes(event)
        try:
            context = await self._reader().started(started)
            self._supplied.note(started.session_id, context)
        except Exception as error:
            log.exception("session:started failed")
            context = self._minimal(self.config.session_start_tokens, str(error))
        await self._reply(event, context)

    async def _session_ended(self, event: Event[Any], ended: SessionEnded) -> None:
        """Put the key points of a session into the day's log, by a write like any other (seed 003 section 26.3.3)."""
        await self._own_writes(event)
        written: MemoryWritten
        try:
            note = await self._reader().ended(ended)
        except Refused as refusal:
            written = MemoryWritten(key="", success=False, degraded=False, message=str(refusal))
        except Exception as error:
            log.exception("session:ended failed")
            written = self._failed(str(error))
        else:
            if note is not None:
                await self._write(event, note)
                return
            nothing = f"nothing was said in {ended.session_id} that the log does not have already"
            written = MemoryWritten(key="", success=False, degraded=False, message=nothing)
        await self._reply(event, written)

    async def _compact(self, event: Event[Any], compact: MemoryCompact) -> None:
        """Make a session's history shorter; one who reads beside the folder's owner has that one do it."""
        await self._own_writes(event)
        why: str
        try:
            if self._owner is not None:
                await self._reply(event, await self._owner.compactor.compact(compact))
                return
            assert self._guest is not None
            done = await self._guest.compact(compact)
            if done is not None:
                await self._reply(event, done)
                return
            why = self._guest.not_mine("compactions")
        except Exception as error:
            if not isinstance(error, OpenClawMemoryError):
                log.exception("memory:compact failed")
            why = f"nothing was dropped: {error}"
        try:
            kept = await self._reader().history_length(compact.session_id)
        except Exception:
            log.exception("the history of %s can't be read", compact.session_id)
            kept = 0
        nothing = MemoryCompacted(session_id=compact.session_id, kept=kept, dropped=0, flushed_keys=(), notice=why)
        await self._reply(event, nothing)

    async def _beat(self, event: Event[Any], tick: HeartbeatTick) -> None:
        """Run what is due; one who reads beside the folder's owner leaves it to that one."""
        reports: list[tuple[str, Outcome]]
        if self._owner is None:
            assert self._guest is not None
            reports = [(HEARTBEAT, Outcome("skipped", message=self._guest.not_mine("the jobs of the heartbeat")))]
        else:
            try:
                reports = await self._owner.heartbeat.tick(tick.now)
            except Exception as error:
                log.exception("heartbeat:tick failed")
                reports = [(HEARTBEAT, Outcome("failed", message=str(error)))]
        jobs = tuple(JobReport(name=name, outcome=o.outcome, keys=o.keys, message=o.message) for name, o in reports)
        await self._reply(event, HeartbeatDone(jobs=jobs))

    async def _forget(self, event: Event[Any], forget: Forget) -> None:
        """Forget what the owner asks to be forgotten.

        The event names no session. It is taken as the owner's own wish, over all sessions: whoever has the bus sees to
        it that only the owner's sessions publish it. Beside the folder's owner it is handed to that one.
        """
        try:
            # It names no session, so it has no place in the order of any: what was published before comes first.
            if self._subscription is not None:
                await self._subscription.drain(BEFORE_SECONDS)
            if self._owner is None:
                assert self._guest is not None
                forgotten = await self._guest.forget(forget)
            else:
                forgotten = await self._owner.forget(forget)
        except Exception as error:
            log.exception("memory:forget failed")
            forgotten = Forgotten(dry_run=forget.dry_run, places=(), total=0, verified=False, notice=str(error))
        await self._reply(event, forgotten)

    async def _write(self, event: Event[Any], change: MemoryWrite | UpdateFact | TaskStateChange) -> None:
        try:
            # While a take-over applies what was handed in before, nobody's own write goes ahead of it.
            if self._owner is None or self._taking_over.locked():
                handed_in = await self._hand_in(change)
                if handed_in is not None:
                    await self._reply(event, handed_in)
                    return
            assert self._owner is not None
            planned = await self._owner.plan(change, self._supplied.of(change.session_id))
        except Refused as refusal:
            await self._reply(event, MemoryWritten(key="", success=False, degraded=False, message=str(refusal)))
            return
        except Exception as error:
            if not isinstance(error, OpenClawMemoryError):
                log.exception("%s failed", event.type)
            await self._reply(event, self._failed(str(error)))
            return
        if planned.commit.is_settled:
            # Nothing had to be done. A callback at once would answer from within this handler, which can wait.
            await self._reply(event, self._written(planned))
            return
        lane = _lane(event)
        self._last[lane] = planned.commit
        # The lane goes on with its next event; the reply goes out when the journal is durable.
        planned.commit.call_when_settled(lambda commit: self._settled(event, lane, planned))
        if max(self._owner.in_flight, len(self._tasks)) > MOST_IN_FLIGHT:
            # A burst waits on the bus, where queues are bounded, and not in here.
            await planned.commit.wait()
            await asyncio.sleep(0)

    async def _hand_in(self, change: Change) -> MemoryWritten | None:
        """Give a write to the folder's owner; None when it is gone and this process has taken its place."""
        async with self._taking_over:
            if self._owner is not None:
                return None
            assert self._guest is not None
            guest = self._guest
            try:
                await self._own()
            except RootInUseError:
                pass
            else:
                log.info("the owner of the folder is gone; this process has taken its place")
                await self._owner_now().serve_what_waits()
                self._owner_now().work()
                return None
        return await guest.hand_in(change)

    def _owner_now(self) -> Owner:
        assert self._owner is not None
        return self._owner

    async def _apply(self, write: MemoryWrite) -> MemoryWritten:
        """Send what another process handed in through the bus, as if it had been published here."""
        assert self._bus is not None
        return await self._bus.request(write, timeout=None)

    def _reader(self) -> Reader:
        serving = self._owner or self._guest
        assert serving is not None
        return serving.reader

    def _settled(self, event: Event[Any], lane: str, planned: Planned) -> None:
        if self._last.get(lane) is planned.commit:
            del self._last[lane]
        assert self._bus is not None
        try:
            full = self._bus.reply_nowait(event, self._written(planned))
        except Exception:
            log.exception("a reply could not be published")
            return
        if full is not None:
            self._start(_awaited(full))

    def _written(self, planned: Planned) -> MemoryWritten:
        if planned.commit.error is not None:
            return self._failed(str(planned.commit.error))
        return planned.written(self.config.durability)

    async def _own_writes(self, event: Event[Any]) -> None:
        """Wait until what this session wrote before is decided, so that it is read."""
        commit = self._last.get(_lane(event))
        if commit is not None:
            await commit.wait()

    def _minimal(self, max_tokens: int, reason: str) -> MemoryContext:
        """Give seed 000 section 7.3's reply; within the budget even then."""
        context = MemoryContext(
            facts=(_UNAVAILABLE[self.config.language],), tasks=(), summaries=(), degraded=True, notice=reason
        )
        assert self._counter is not None
        if self._counter.count(prompt_text(context)) > max_tokens:
            return context.model_copy(update={"facts": (), "truncated": True})
        return context

    def _failed(self, reason: str) -> MemoryWritten:
        message = f"{_WRITE_FAILED[self.config.language]}: {reason}"
        return MemoryWritten(key="", success=False, degraded=True, message=message)

    async def _reply(self, event: Event[Any], payload: Payload) -> None:
        assert self._bus is not None
        await self._bus.reply(event, payload)

    # -- trouble ------------------------------------------------------------------------------------------------

    def _trouble_changed(self, reason: str | None) -> None:
        notice: Payload
        if reason is not None:
            self._degraded_since = self._clock.now()
            self._trouble = reason
            log.error("memory is degraded: %s", reason)
            notice = MemoryDegraded(reason=reason, since=self._degraded_since)
        else:
            since = self._degraded_since or self._clock.now()
            log.info("memory has recovered from: %s", self._trouble)
            notice = MemoryRecovered(reason=self._trouble, since=since)
        self._start(self._publish(notice))

    async def _publish(self, payload: Payload) -> None:
        assert self._bus is not None
        await self._bus.publish(payload)

    def _start(self, coroutine: Coroutine[Any, Any, None], context: contextvars.Context | None = None) -> None:
        task = asyncio.get_running_loop().create_task(coroutine, context=context)
        self._tasks.add(task)
        task.add_done_callback(self._ended)

    def _ended(self, task: asyncio.Task[None]) -> None:
        self._tasks.discard(task)
        if not task.cancelled() and (error := task.exception()) is not None:
            log.error("a reply could not be published", exc_info=error)


async def _awaited(something: Awaitable[None]) -> None:
    await something


def _lane(event: Event[Any]) -> str:
    """Give the lane of an event: its session's, or the one of events without a session."""
    return getattr(event.data, "session_id", None) or ""


def _counter(encoding: str) -> TokenCounter:
    """Make the counter of an encoding, or one that estimates where its package is missing."""
    try:
        return make_counter(encoding)
    except EncodingUnavailableError as error:
        log.warning("tokens are estimated, rather too high than too low: %s", error)
        return EstimateCounter()
