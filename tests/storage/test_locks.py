"""Locks by name: fair, cancellable, and gone when nobody needs them."""

from __future__ import annotations

import anyio
import anyio.lowlevel

from openclaw_memory.storage.locks import KeyedLocks


async def test_waiters_are_served_in_order() -> None:
    """Who asked first goes first."""
    locks, order, all_ask = KeyedLocks(), [], anyio.Event()

    async def worker(number: int) -> None:
        async with locks.hold(["a"]):
            await all_ask.wait()
            order.append(number)

    async with anyio.create_task_group() as group:
        for number in range(5):
            group.start_soon(worker, number)
        await anyio.wait_all_tasks_blocked()
        assert (order, len(locks)) == ([], 1)
        all_ask.set()
    assert order == [0, 1, 2, 3, 4]
    assert len(locks) == 0


async def test_cancel_while_waiting_leaves_nothing_behind() -> None:
    """A waiter that is cancelled is forgotten with all that it holds, and the lock serves the next."""
    locks, served = KeyedLocks(), []

    async def worker(names: list[str]) -> None:
        async with locks.hold(names):
            served.append(names)

    async with locks.hold(["b"]):
        async with anyio.create_task_group() as group:
            group.start_soon(worker, ["a", "b"])
            await anyio.wait_all_tasks_blocked()
            assert len(locks) == 2
            group.cancel_scope.cancel()
        assert len(locks) == 1
    assert (len(locks), served) == (0, [])
    await worker(["a", "b"])
    assert served == [["a", "b"]]


async def test_batches_in_opposite_order_do_not_block_each_other() -> None:
    """Names are taken in sorted order, whatever order they are given in."""
    locks, done = KeyedLocks(), []

    async def worker(names: list[str]) -> None:
        async with locks.hold(names):
            await anyio.lowlevel.checkpoint()
            done.append(names)

    with anyio.fail_after(5):
        async with anyio.create_task_group() as group:
            for _ in range(10):
                group.start_soon(worker, ["a", "b", "a"])
                group.start_soon(worker, ["b", "a"])
    assert len(done) == 20
    assert len(locks) == 0
