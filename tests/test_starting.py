"""A start that fails, or is cancelled: nothing of it is left, and the next one owns the folder."""

from __future__ import annotations

import asyncio
import itertools
import logging
import threading
from contextlib import AsyncExitStack
from pathlib import Path
from typing import Any

import anyio
import pytest

from bus import BusClosedError, EventBus, NoResponderError
from contracts import MemoryWrite
from openclaw_memory import Memory, MemoryConfig
from openclaw_memory.guest import Guest
from openclaw_memory.owner import Owner
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


async def test_start_that_is_cancelled_at_any_step_lets_go_of_the_folder(tmp_path: Path) -> None:
    """Whatever operation of the disk it is at: no thread is left of it, and the next one owns the folder."""
    async with remembering(tmp_path) as it:
        await it.ask(say("hello"))
    config = MemoryConfig(root=tmp_path, watch=False)
    threads = {thread.name for thread in threading.enumerate() if "AnyIO" not in thread.name}

    async def cancelled_at(step: int) -> bool:
        loop, steps = asyncio.get_running_loop(), itertools.count()

        def cancel(operation: str, path: Path) -> None:
            if next(steps) == step:
                loop.call_soon_threadsafe(scope.cancel)

        memory = Memory(config, files=FaultyFiles(cancel))
        async with EventBus() as bus:
            with anyio.CancelScope() as scope:
                await memory.start(bus)
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


async def test_take_over_that_cannot_serve_what_waits_works_all_the_same(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    """The inbox can't be read in the moment when a guest takes the owner's place: files are rewritten nevertheless."""
    async with AsyncExitStack() as stack:
        owner = await stack.enter_async_context(remembering(tmp_path))
        guest = await stack.enter_async_context(remembering(tmp_path))
        await owner.memory.stop()

        async def fails(self: Owner) -> None:
            raise OSError("no luck")

        monkeypatch.setattr(Owner, "serve_what_waits", fails)
        with caplog.at_level(logging.CRITICAL, "openclaw_memory"):
            assert not (await guest.ask(say("hello"))).success
        monkeypatch.undo()
        now = guest.memory._owner
        assert now is not None
        assert now._background._tasks
        assert (await guest.ask(say("again"))).success
