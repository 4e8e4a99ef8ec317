"""What a full queue does, by the policy of the event."""

from __future__ import annotations

import asyncio
from typing import ClassVar

import pytest

from bus import Overflow, Payload, QueueFullError


class Waits(Payload):
    event_type: ClassVar[str] = "flow:waits"
    number: int


class Go(Payload):
    event_type: ClassVar[str] = "go"


class Raises(Waits):
    event_type: ClassVar[str] = "flow:raises"
    overflow: ClassVar[Overflow] = Overflow.RAISE


class Drops(Waits):
    event_type: ClassVar[str] = "flow:drops"
    overflow: ClassVar[Overflow] = Overflow.DROP_OLDEST


class Merges(Waits):
    event_type: ClassVar[str] = "flow:merges"
    overflow: ClassVar[Overflow] = Overflow.COALESCE
    of: str = "x"

    def can_replace(self, pending):
        return pending.of == self.of


@pytest.fixture
async def full(bus, recorder, settle):
    """Make a subscription whose handler is held up and whose queue holds the payloads given."""

    async def make(*queued, **terms):
        slow = recorder()
        slow.gate.clear()
        subscription = bus.subscribe("flow:*", slow, capacity=len(queued), name="slow", **terms)
        await bus.publish(Waits(number=-1))
        await settle()
        for payload in queued:
            await bus.publish(payload)
        return slow, subscription

    return make


async def finish(bus, slow):
    slow.gate.set()
    await bus.drain()
    return [payload.number for payload in slow.data if payload.number >= 0]


async def test_publisher_waits(bus, full, settle):
    """It goes on when there is room, and publishers are served in the order in which they came."""
    slow, subscription = await full(Waits(number=0), Waits(number=1))
    tasks = [asyncio.create_task(bus.publish(Waits(number=number))) for number in (2, 3)]
    await settle()
    assert not any(task.done() for task in tasks)
    assert subscription.statistics().waiting == 2
    assert await finish(bus, slow) == [0, 1, 2, 3]
    assert all(task.done() for task in tasks)
    assert subscription.statistics().high_water == 2


async def test_newcomer_does_not_overtake(bus, full, settle):
    """Who comes when a place has just become free stands behind those who waited for it."""
    slow, _ = await full(Waits(number=0))
    task = asyncio.create_task(bus.publish(Waits(number=1)))
    await settle()
    slow.gate.set()
    await asyncio.gather(task, bus.publish(Waits(number=2)))
    assert await finish(bus, slow) == [0, 1, 2]


async def test_cancel_during_publish(bus, full, settle):
    """A publisher that is cancelled leaves the line, and the others move up."""
    slow, subscription = await full(Waits(number=0))
    tasks = [asyncio.create_task(bus.publish(Waits(number=number))) for number in (1, 2)]
    await settle()
    tasks[0].cancel()
    await settle()
    assert subscription.statistics().waiting == 1
    assert await finish(bus, slow) == [0, 2]
    assert subscription.statistics().dropped == 1


async def test_cancel_after_acceptance(bus, full, settle):
    """Who is cancelled in the very turn in which the place was given has published."""
    slow, subscription = await full(Waits(number=0))
    task = asyncio.create_task(bus.publish(Waits(number=1)))
    await settle()
    subscription.mailbox.overcommit()
    task.cancel()
    await settle()
    assert await finish(bus, slow) == [0, 1]


async def test_raise_reaches_nobody(bus, full, recorder):
    """One full queue: the publisher gets an error naming it, and no other subscription gets the event."""
    other = recorder()
    bus.subscribe("flow:*", other)
    slow, _ = await full(Waits(number=0))
    late = recorder()
    bus.subscribe("flow:*", late)
    with pytest.raises(QueueFullError, match=r"'flow:raises' was delivered to nobody.*'slow'.*1 events"):
        await bus.publish(Raises(number=9))
    assert await finish(bus, slow) == [0]
    assert 9 not in other.numbers + late.numbers


async def test_raise_in_handler(bus, full, recorder):
    """The handler that publishes gets the error."""
    slow, _ = await full(Waits(number=0))
    caught = []

    async def publishes(event):
        with pytest.raises(QueueFullError):
            await bus.publish(Raises(number=1))
        caught.append(True)

    subscription = bus.subscribe("go", publishes)
    await bus.publish(Go())
    await subscription.drain()
    assert caught == [True]
    assert await finish(bus, slow) == [0]


async def test_raise_while_outbox_is_sent(bus, full, recorder):
    """There was room when the handler published, and none when the event went out: the handler's fault is published."""
    got = recorder()
    slow, subscription = await full(Waits(number=0), Waits(number=1))
    subscription.mailbox.capacity = 3

    async def publishes(event):
        await bus.publish(Raises(number=2))
        await bus.publish(Raises(number=3))

    bus.subscribe("go", publishes, name="pushy")
    bus.subscribe("bus:*", got)
    await bus.publish(Go())
    await got.entered.wait()
    assert got.data[0].handler == "pushy"
    assert got.data[0].error_type == "QueueFullError"
    assert await finish(bus, slow) == [0, 1, 2]


@pytest.mark.parametrize("key", [None, lambda event: event.data.number % 2])
async def test_drop_oldest(bus, full, key):
    """The oldest queued event of the same type gives way; others stay."""
    slow, subscription = await full(
        Waits(number=0), Drops(number=1), Drops(number=2), key=key, concurrency=1 if key is None else 2
    )
    slow.gate.clear()
    await bus.publish(Drops(number=3))
    await bus.publish(Drops(number=5))
    assert sorted(await finish(bus, slow)) == [0, 3, 5]
    statistics = subscription.statistics()
    assert (statistics.dropped, statistics.high_water) == (2, 3)


async def test_drop_oldest_waits_without_own_kind(bus, full, settle):
    """An event drops its own kind only."""
    slow, subscription = await full(Waits(number=0))
    task = asyncio.create_task(bus.publish(Drops(number=1)))
    await settle()
    assert not task.done()
    assert await finish(bus, slow) == [0, 1]
    assert subscription.statistics().dropped == 0


async def test_drop_oldest_does_not_overtake(bus, full, settle):
    """The place that it makes goes to the first in the line."""
    slow, _ = await full(Drops(number=0))
    first = asyncio.create_task(bus.publish(Waits(number=1)))
    await settle()
    second = asyncio.create_task(bus.publish(Drops(number=2)))
    await settle()
    assert first.done()
    assert not second.done()
    assert await finish(bus, slow) == [1, 2]


async def test_coalesce(bus, full):
    """A newer event takes the place of all that it makes needless, at the end of the queue."""
    slow, subscription = await full(Merges(number=0), Merges(number=1, of="y"), Merges(number=2), Waits(number=3))
    await bus.publish(Merges(number=4))
    assert await finish(bus, slow) == [1, 3, 4]
    assert subscription.statistics().coalesced == 2


async def test_coalesce_only_when_full(bus, full):
    """As long as there is room, every event is delivered."""
    slow, subscription = await full(Merges(number=0), Merges(number=1), Merges(number=2))
    assert await finish(bus, slow) == [0, 1, 2]
    assert subscription.statistics().coalesced == 0


async def test_coalesce_waits_when_nothing_is_needless(bus, full, settle):
    """What `can_replace` denies stays."""
    slow, _ = await full(Merges(number=0, of="y"))
    task = asyncio.create_task(bus.publish(Merges(number=1)))
    await settle()
    assert not task.done()
    assert await finish(bus, slow) == [0, 1]


async def test_close_frees_publishers(bus, full, settle):
    """A subscription that closes lets those in its line go on, and counts what it loses."""
    slow, subscription = await full(Waits(number=0))
    task = asyncio.create_task(bus.publish(Waits(number=1)))
    await settle()
    subscription.close()
    await task
    assert await finish(bus, slow) == []


async def test_many_publishers_wait(bus, recorder):
    """Ten thousand that wait at once are served in order."""
    got = recorder()
    bus.subscribe("flow:*", got, capacity=1)
    await asyncio.gather(*(bus.publish(Waits(number=number)) for number in range(10_000)))
    await bus.drain()
    assert got.numbers == list(range(10_000))
