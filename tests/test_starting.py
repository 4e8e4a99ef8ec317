"""A start that fails, or is cancelled: nothing of it is left, and the next one owns the folder."""

from __future__ import annotations

import asyncio
import contextvars
import itertools
import logging
import threading
from contextlib import AsyncExitStack
from pathlib import Path
from typing import Any

import anyio
import pytest

from bus import BusClosedError, DrainInHandlerError, EventBus, NoResponderError
from contracts import MemoryWrite
from openclaw_memory import Memory, MemoryConfig
from openclaw_memory.errors import AlreadyStartedError
from openclaw_memory.guest import Guest
from openclaw_memory.owner import Owner
from openclaw_memory.writer import Writer
from tests.support import FaultyFiles, remembering


def say(content: str) -> MemoryWrite:
    return MemoryWrite(type="conversation", content={"role": "user", "content": content}, session_id="s1")


@pytest.mark.parametrize("beside", [False, True], ids=["owner", "guest"])
async def test_start_that_fails_holds_nothing(tmp_path: Path, beside: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    """It can't subscribe: what it opened is closed, whoever it was, and it says that it is not running."""
    closed = []

    def watched(kind: type[Owner | Guest]) -> None:
        close = kind.close

        async def noted(self: Any) -> None:
            closed.append(self)
            await close(self)

        monkeypatch.setattr(kind, "close", noted)

    async with AsyncExitStack() as stack:
        if beside:
            await stack.enter_async_context(remembering(tmp_path))
        watched(Guest if beside else Owner)
        memory = Memory(MemoryConfig(root=tmp_path, watch=False))
        bus = EventBus()
        await bus.close()
        with pytest.raises(BusClosedError):
            await memory.start(bus)
        assert len(closed) == 1
        assert not memory.status().running
        await memory.stop()


async def test_start_whose_last_step_fails_leaves_no_subscription(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Nobody answers events of a memory that did not start."""

    def fails(owner: Owner) -> None:
        raise KeyError(owner)

    monkeypatch.setattr(Owner, "work", fails)
    memory = Memory(MemoryConfig(root=tmp_path, watch=False))
    async with EventBus() as bus:
        with pytest.raises(KeyError):
            await memory.start(bus)
        with pytest.raises(NoResponderError):
            await bus.request(say("hello"))


@pytest.mark.parametrize("how", ["scope", "task"])
async def test_start_that_is_cancelled_at_any_step_lets_go_of_the_folder(tmp_path: Path, how: str) -> None:
    """Whatever operation of the disk it is at: no thread is left of it, and the next one owns the folder.

    `task`: by `Task.cancel`, as `asyncio.timeout` does, which does not wait for threads by itself.
    """
    async with remembering(tmp_path) as it:
        await it.ask(say("hello"))
    config = MemoryConfig(root=tmp_path, watch=False)
    threads = {thread.name for thread in threading.enumerate() if "AnyIO" not in thread.name}

    async def cancelled_at(step: int) -> bool:
        loop, steps = asyncio.get_running_loop(), itertools.count()

        def cancel(operation: str, path: Path) -> None:
            if next(steps) == step:
                loop.call_soon_threadsafe(scope.cancel if how == "scope" else starting.cancel)

        async def start() -> None:
            with scope:
                await memory.start(bus)

        memory, scope = Memory(config, files=FaultyFiles(cancel)), anyio.CancelScope()
        async with EventBus() as bus:
            starting = asyncio.create_task(start())
            await asyncio.wait([starting])
            started = memory.status().running
            await memory.stop()
        names = {thread.name for thread in threading.enumerate() if "AnyIO" not in thread.name}
        assert names <= threads, step
        return not started

    step = 0
    while await cancelled_at(step):
        step += 1
    assert step > 5
    async with remembering(tmp_path) as it:
        assert it.memory.status().owner is None


@pytest.mark.parametrize(("kind", "step"), [(Owner, "serve_what_waits"), (Guest, "close")])
async def test_take_over_that_fails_halfway_works_all_the_same(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
    kind: type[Owner | Guest],
    step: str,
) -> None:
    """The inbox can't be read, or a guest's own things not be closed, when it takes the owner's place.

    Files are rewritten nevertheless.
    """
    async with AsyncExitStack() as stack:
        owner = await stack.enter_async_context(remembering(tmp_path))
        guest = await stack.enter_async_context(remembering(tmp_path))
        await owner.memory.stop()

        async def fails(self: Owner | Guest) -> None:
            raise OSError("no luck")

        monkeypatch.setattr(kind, step, fails)
        with caplog.at_level(logging.CRITICAL, "openclaw_memory"):
            assert not (await guest.ask(say("hello"))).success
        monkeypatch.undo()
        now = guest.memory._owner
        assert now is not None
        assert now._background._tasks
        assert (await guest.ask(say("again"))).success


async def test_stop_that_is_cancelled_at_any_step_goes_on_and_can_be_waited_for_again(tmp_path: Path) -> None:
    """Whatever operation of the disk it is at: afterwards the folder is free and holds what was acknowledged."""
    config = MemoryConfig(root=tmp_path, watch=False)

    async def cancelled_at(step: int) -> bool:
        loop, steps = asyncio.get_running_loop(), itertools.count()

        def cancel(operation: str, path: Path) -> None:
            if stopping is not None and next(steps) == step:
                loop.call_soon_threadsafe(stopping.cancel)

        stopping: asyncio.Task[None] | None = None
        memory = Memory(config, files=FaultyFiles(cancel))
        async with EventBus() as bus:
            await memory.start(bus)
            assert memory.status().owner is None, step
            assert (await bus.request(say(f"number {step}"))).success
            stopping = asyncio.create_task(memory.stop())
            await asyncio.wait([stopping])
            cancelled, stopping = stopping.cancelled(), None
            await memory.stop()
            assert not memory.status().running
        return cancelled

    step = 0
    while await cancelled_at(step):
        step += 1
    assert step > 5
    async with remembering(tmp_path) as it:
        assert it.memory.status().owner is None
        days = "".join(path.read_text() for path in sorted(it.folder.glob("conversations/*.md")))
        assert [number for number in range(step + 1) if f"number {number}\n" not in days] == []


async def test_start_waits_for_a_stop_that_goes_on(tmp_path: Path) -> None:
    """Whoever gave up waiting for a stop may start again at once: the same memory owns the folder and answers."""
    memory = Memory(MemoryConfig(root=tmp_path, watch=False))
    async with EventBus() as bus:
        await memory.start(bus)
        stopping = asyncio.create_task(memory.stop())
        await asyncio.sleep(0)
        stopping.cancel()
        await asyncio.wait([stopping])
        assert stopping.cancelled()
        await memory.start(bus)
        assert memory.status().running
        assert memory.status().owner is None
        assert (await bus.request(say("again"))).success
        await memory.stop()


async def test_started_twice_is_refused_and_stop_waits_for_a_start(tmp_path: Path) -> None:
    """Whoever starts and stops at once is served one after the other; in the end the folder is free."""
    memory = Memory(MemoryConfig(root=tmp_path, watch=False))
    async with EventBus() as bus:
        starting = asyncio.create_task(memory.start(bus))
        await asyncio.sleep(0)
        stopping = asyncio.create_task(memory.stop())
        await asyncio.wait([starting, stopping])
        assert starting.exception() is None
        assert stopping.exception() is None
        assert not memory.status().running
        await memory.start(bus)
        with pytest.raises(AlreadyStartedError, match="stop it first"):
            await memory.start(bus)
        assert (await bus.request(say("again"))).success
        await asyncio.gather(memory.stop(), memory.start(bus))
        assert memory.status().owner is None
        assert (await bus.request(say("and again"))).success
        await memory.stop()
    async with remembering(tmp_path) as it:
        assert it.memory.status().owner is None


async def test_stop_in_a_handler_that_another_stop_waits_for_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It would wait for itself."""
    memory = Memory(MemoryConfig(root=tmp_path, watch=False))
    write, refused = Writer.write_waiting, []
    stopping: asyncio.Task[None] | None = None

    async def stops(self: Writer, *arguments: Any) -> Any:
        nonlocal stopping
        stopping = asyncio.create_task(memory.stop(), context=contextvars.Context())
        await asyncio.sleep(0)
        await asyncio.sleep(0)
        with pytest.raises(DrainInHandlerError) as caught:
            await memory.stop()
        refused.append(caught)
        return await write(self, *arguments)

    monkeypatch.setattr(Writer, "write_waiting", stops)
    async with EventBus() as bus:
        await memory.start(bus)
        assert (await bus.request(say("hello"))).success
        assert stopping is not None
        await stopping
    assert len(refused) == 1
