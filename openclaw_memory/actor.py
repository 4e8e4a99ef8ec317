"""Memory on the bus: it takes its events, keeps each session's in order, and answers every one of them.

A fault in here never reaches the bus: reads answer with what can be read, writes say why they failed.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable
from datetime import date, datetime
from typing import Any, Literal

import anyio
import anyio.to_thread

from bus import EventBus, Subscription
from contracts import EVENTS
from contracts.fields import SessionKind
from openclaw_memory.answering.answers import TAKEN, Answers
from openclaw_memory.answering.lanes import Lanes, lane_of
from openclaw_memory.answering.reads import Reads
from openclaw_memory.answering.replies import Replies
from openclaw_memory.answering.serving import Serving
from openclaw_memory.answering.trouble import Trouble
from openclaw_memory.answering.upkeep import Upkeep
from openclaw_memory.answering.writes import Writes
from openclaw_memory.clock import Clock, SystemClock
from openclaw_memory.config import MemoryConfig
from openclaw_memory.context.errors import EncodingUnavailableError
from openclaw_memory.context.tokens import EstimateCounter, TokenCounter, make_counter
from openclaw_memory.errors import AlreadyStartedError, RootInUseError
from openclaw_memory.guest import Guest
from openclaw_memory.ids import MessageIds
from openclaw_memory.lifecycle.jobs import Outcome
from openclaw_memory.owner import Owner
from openclaw_memory.reader import Reader
from openclaw_memory.retrieval.status import IndexStatus, Progress, no_progress
from openclaw_memory.status import Status
from openclaw_memory.storage.files import Files, LocalFiles
from openclaw_memory.supplied import Supplied

log = logging.getLogger(__name__)

LANES = 16
"""How many sessions are served side by side."""

BEFORE_SECONDS = 1.0
"""How long a wish to forget waits for what was published before it, where the lanes are never empty."""


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
        self._subscription: Subscription | None = None
        self._supplied = Supplied()
        self._serving: Serving | None = None
        self._replies: Replies | None = None
        self._stopping: asyncio.Task[None] | None = None
        self._turning = asyncio.Lock()
        """Held by who starts or begins to stop: one after the other."""

    async def start(self, bus: EventBus) -> None:
        """Open the memory folder, finish what a crash interrupted, and begin to answer.

        Where another process owns the folder, this one reads beside it and hands its writes in. A stop that still goes
        on ends first.

        Raises: `AlreadyStartedError`; what the store, the index and the bus raise. Then nothing is held.
        """
        async with self._turning:
            if self._stopping is not None:
                await asyncio.shield(self._stopping)
            if self._serving is not None:
                raise AlreadyStartedError
            await self._start(bus)

    async def _start(self, bus: EventBus) -> None:
        problems: list[Exception] = []

        async def begin() -> None:
            try:
                await self._begin(bus)
            except Exception as error:  # noqa: BLE001  # it is raised below
                problems.append(error)

        # In a task of its own: `Task.cancel` (of `asyncio.timeout`, say) does not wait for a thread that is taking the
        # folder, and nobody would let go of it. A group cancels as anyio does, which waits.
        async with anyio.create_task_group() as group:
            group.start_soon(begin)
        for problem in problems:
            raise problem

    async def _begin(self, bus: EventBus) -> None:
        if self.config.not_in_effect:
            log.warning("settings without effect in this version: %s", ", ".join(self.config.not_in_effect))
        if self._counter is None:
            # Loading an encoding takes most of a second.
            self._counter = await anyio.to_thread.run_sync(_counter, self.config.encoding)
        self._replies = replies = Replies(bus)
        self._serving = serving = Serving(
            self.config,
            self._clock,
            self._files,
            self._counter,
            self._new_id,
            Trouble(replies, self._clock).changed,
            replies.apply,
        )
        try:
            await serving.open()
            bus.register(*EVENTS)
            self._subscription = bus.subscribe(
                TAKEN,
                self._answers(serving, replies).handle,
                name=self.name,
                concurrency=LANES,
                key=lane_of,
                answers=True,
            )
            if serving.owner is not None:
                serving.owner.work()
        except BaseException:
            # A start that fails lets go of everything, also when it was cancelled.
            with anyio.CancelScope(shield=True):
                await self._let_go(serving)
            raise

    async def _let_go(self, serving: Serving) -> None:
        if self._subscription is not None:
            self._subscription.close()
        self._subscription = self._serving = self._replies = None
        await serving.close()

    def _answers(self, serving: Serving, replies: Replies) -> Answers:
        lanes = Lanes()
        return Answers(
            Reads(self.config, serving, replies, lanes, self._supplied),
            Writes(self.config, serving, replies, lanes, self._supplied),
            Upkeep(serving, replies, lanes, self._taken),
            replies,
        )

    async def _taken(self) -> None:
        """Wait a while for what was published before."""
        if self._subscription is not None:
            await self._subscription.drain(BEFORE_SECONDS)

    async def stop(self) -> None:
        """Answer what was asked, write everything down and let go of the folder.

        Whoever is cancelled while it waits for that may call this again: it goes on meanwhile. A folder that was let go
        of halfway would stay locked.
        """
        async with self._turning:
            if self._serving is None:
                return
            if self._stopping is None:
                self._stopping = asyncio.create_task(self._stop(self._serving), name="openclaw-memory stop")
            elif self._subscription is not None:
                # Refuses in a handler, for which that stop waits.
                await self._subscription.drain(0)
            stopping = self._stopping
        if stopping is not None:
            await asyncio.shield(stopping)

    async def _stop(self, serving: Serving) -> None:
        try:
            if serving.owner is not None:
                # Its jobs may ask a model, which nobody wants to wait for now; what they have begun, a later tick does.
                serving.owner.heartbeat.close()
            if self._subscription is not None:
                # Replies first: who closes the subscription fails the requests that wait for them.
                await self._subscription.drain()
                await self._answered()
                self._subscription.close()
                self._subscription = None
            await self._answered()
            await serving.close()
            self._serving = self._replies = None
        finally:
            self._stopping = None

    async def _answered(self) -> None:
        """Return when everything taken so far has its reply."""
        if self._owner is not None:
            await self._owner.settled()
        if self._replies is not None:
            await self._replies.given()

    @property
    def _owner(self) -> Owner | None:
        """Whoever writes the folder, where that is this process."""
        return None if self._serving is None else self._serving.owner

    def _now(self) -> Owner | Guest:
        """Whoever serves now."""
        assert self._serving is not None
        return self._serving.now

    def _reader(self) -> Reader:
        return self._now().reader

    def status(self) -> Status:
        """Tell how memory is: what can't be read or written, and what waits to be rewritten."""
        serving = None if self._serving is None else self._serving.owner or self._serving.guest
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
        return await anyio.to_thread.run_sync(self._now().index_status)

    async def promote(self, action: str) -> dict[str, Any]:
        """Promote what was recalled again and again into MEMORY.md (`apply`), tell what would be (`preview`), or take
        the last promotion back (`undo`); beside the folder's owner that one does it.

        Raises: `Refused`, `OSError`, and what the store raises; then nothing was changed.
        """
        return await self._now().promote(action)

    async def flush(self) -> None:
        """Rewrite all files that lag behind, now: for those who want to look into the folder at once."""
        if self._owner is not None:
            await self._owner.flush()

    async def caught_up(self) -> None:
        """Wait until search by meaning knows everything that was written before: for those who measure it."""
        if self._owner is not None:
            await self._owner.caught_up()


def _counter(encoding: str) -> TokenCounter:
    """Make the counter of an encoding, or one that estimates where its package is missing."""
    try:
        return make_counter(encoding)
    except EncodingUnavailableError as error:
        log.warning("tokens are estimated, rather too high than too low: %s", error)
        return EstimateCounter()
