"""What other processes have handed in: applied once each, answered, put off where it can't be applied now."""

from __future__ import annotations

import logging
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any, Protocol

import anyio
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
from openclaw_memory.clock import Clock
from openclaw_memory.config import MemoryConfig
from openclaw_memory.errors import OpenClawMemoryError, Refused
from openclaw_memory.lifecycle.compaction.compactor import Compactor
from openclaw_memory.lifecycle.forgetting.forgetter import Forgetter, failed
from openclaw_memory.lifecycle.promotion.told import ORDER
from openclaw_memory.storage.files import Files
from openclaw_memory.storage.inbox import FOLDER as INBOX
from openclaw_memory.storage.inbox import Inbox
from openclaw_memory.storage.store import Store
from openclaw_memory.writer import Planned

log = logging.getLogger(__name__)

INBOX_SECONDS = (0.02, 1.0)
"""How long until the inbox is looked into again: the first after something came, then longer up to the last."""

PUT_OFF_SECONDS = 10.0
"""How long an event that can't be applied is left alone."""

REPLIES_KEPT = 1_000
"""Replies to handed-in events that wait to be taken away."""


class Serves(Protocol):
    """What the owner of the root does for those beside it."""

    compactor: Compactor
    forgetter: Forgetter

    async def plan(self, change: MemoryWrite) -> Planned:
        """Plan a write and queue it for the journal."""
        ...

    async def promote(self, action: str, once: str | None = None) -> dict[str, Any]:
        """Preview, apply or undo promotion."""
        ...


class HandedIn:
    """Serves the inbox of a root with `run`, or what waits in it with `serve_what_waits`.

    Parameters: `config`, `files`, `clock`; `store`, which is told what is put off; `owner`, who does what is asked for;
    `apply`, which sends an event through the bus and gives its reply.
    """

    def __init__(
        self,
        config: MemoryConfig,
        files: Files,
        clock: Clock,
        store: Store,
        owner: Serves,
        apply: Callable[[MemoryWrite], Awaitable[MemoryWritten]],
    ) -> None:
        self._durability = config.durability
        self._clock = clock
        self._store = store
        self._owner = owner
        self._apply = apply
        self._inbox = Inbox(config.memory_folder, files)
        self._inbox_came = anyio.Event()
        self._not_before: dict[str, float] = {}
        """When an event that could not be applied is tried again, by name."""

    def something_came(self) -> None:
        """Look into the inbox at once, where `run` waits."""
        self._inbox_came.set()

    async def run(self) -> None:
        """Apply what other processes have handed in, once each, whenever something came, until cancelled."""
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

    async def forget(self, forget: Forget, *handed_in: Path) -> Forgotten:
        """Forget something, or tell what would be; no crash brings back what was taken from the inbox before.

        A failure is told in the reply.

        Parameters: `handed_in`, the file in which the wish itself lies.
        """
        try:
            if not forget.dry_run:
                await anyio.to_thread.run_sync(self._inbox.keep_taken)
            return await self._owner.forgetter.forget(forget, but=handed_in)
        except Exception as error:
            log.exception("memory:forget failed")
            return failed(forget.dry_run, error)

    async def _ordered(self, event: Any, name: str) -> MemoryCompacted | dict[str, Any] | None:
        """Do what another process asks for that is no write; None when it asks for something else.

        Raises: `ValueError` when it is not understood.
        """
        kind, data = event.get("type"), event.get("data")
        try:
            if kind == MemoryCompact.event_type:
                return await self._owner.compactor.compact(MemoryCompact.model_validate(data))
            if kind == ORDER:
                return await self._owner.promote(str(data.get("action")) if isinstance(data, dict) else "", name)
        except OpenClawMemoryError as error:
            return {"problem": str(error)}
        return None

    async def _came(self) -> list[str]:
        """List what was handed in and is not put off."""
        names = await anyio.to_thread.run_sync(self._inbox.waiting)
        now = self._clock.monotonic()
        return [name for name in names if self._not_before.get(name, 0.0) <= now]

    async def _write_now(self, write: MemoryWrite) -> MemoryWritten:
        try:
            planned = await self._owner.plan(write)
            await planned.commit.wait()
        except Refused as refusal:
            return MemoryWritten(key="", success=False, degraded=False, message=str(refusal))
        except OpenClawMemoryError as error:
            return MemoryWritten(key="", success=False, degraded=True, message=str(error))
        if planned.commit.error is not None:
            return MemoryWritten(key="", success=False, degraded=True, message=str(planned.commit.error))
        return planned.written(self._durability)

    async def _serve(self, name: str, apply: Callable[[MemoryWrite], Awaitable[MemoryWritten]]) -> None:
        try:
            event = await anyio.to_thread.run_sync(self._inbox.event, name)
            if isinstance(event, dict) and event.get("type") == Forget.event_type:
                forget = Forget.model_validate(event.get("data"))
                await self._answer(name, await self.forget(forget, self._inbox.place(name)))
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
