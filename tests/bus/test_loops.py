"""One bus belongs to one event loop; from other threads there is one door."""

from __future__ import annotations

import asyncio
import threading
from typing import ClassVar

import pytest

from bus import BusClosedError, EventBus, Payload, Request, WrongLoopError


class Said(Payload):
    event_type: ClassVar[str] = "talk:said"
    number: int = 0


class Ask(Request[Said]):
    event_type: ClassVar[str] = "talk:ask"
    reply_type: ClassVar[type[Payload]] = Said


async def test_publish_from_thread(bus, recorder):
    """The future gives the event; subscribers run in the bus's loop."""
    got = recorder()
    bus.subscribe(Said, got)
    await bus.drain()
    event = await asyncio.to_thread(lambda: bus.publish_threadsafe(Said(number=3)).result(5))
    await bus.drain()
    assert got.events == [event]


async def test_publish_from_many_threads(bus, recorder):
    """Nothing is lost, each thread's events stay in order."""
    got = recorder()
    bus.subscribe(Said, got, capacity=8)
    await bus.drain()

    def publish(start):
        for number in range(start, start + 50):
            bus.publish_threadsafe(Said(number=number)).result(5)

    await asyncio.gather(*(asyncio.to_thread(publish, start) for start in (0, 100, 200)))
    await bus.drain()
    assert sorted(got.numbers) == [*range(50), *range(100, 150), *range(200, 250)]
    for start in (0, 100, 200):
        mine = [number for number in got.numbers if start <= number < start + 50]
        assert mine == sorted(mine)


@pytest.mark.parametrize(
    "use",
    [
        lambda bus: bus.publish(Said()),
        lambda bus: bus.request(Ask()),
        lambda bus: bus.receive("{}"),
        lambda bus: bus.drain(),
        lambda bus: bus.close(),
    ],
    ids=["publish", "request", "receive", "drain", "close"],
)
async def test_other_loop_refused(bus, use):
    """The error names the door."""
    await bus.drain()
    caught = []

    async def elsewhere():
        with pytest.raises(WrongLoopError, match="publish_threadsafe") as error:
            await use(bus)
        caught.append(error)

    thread = threading.Thread(target=lambda: asyncio.run(elsewhere()))
    thread.start()
    thread.join()
    assert len(caught) == 1


def test_next_loop_of_same_thread_refused():
    """A bus that was used in one `asyncio.run` does not work in the next."""
    bus = EventBus()
    asyncio.run(bus.publish(Said()))

    async def again():
        with pytest.raises(WrongLoopError):
            await bus.publish(Said())

    asyncio.run(again())


async def test_subscribe_from_thread_refused(bus, recorder):
    """Queues belong to the loop's thread."""
    await bus.drain()
    subscription = bus.subscribe(Said, recorder())

    def use():
        with pytest.raises(WrongLoopError):
            bus.subscribe(Said, recorder)
        with pytest.raises(WrongLoopError):
            subscription.close()
        return True

    assert await asyncio.to_thread(use)


def test_subscribe_before_loop(recorder):
    """A bus may be set up before its loop runs."""
    bus = EventBus()
    seen = []

    async def handle(event):
        seen.append(event)

    bus.subscribe(Said, handle)

    async def run():
        await bus.publish(Said())
        await bus.close()

    asyncio.run(run())
    assert len(seen) == 1


def test_threadsafe_before_and_after_loop():
    """Without a loop there is nothing to publish in."""
    bus = EventBus()
    with pytest.raises(WrongLoopError, match="not been used"):
        bus.publish_threadsafe(Said())
    asyncio.run(bus.drain())
    with pytest.raises(BusClosedError):
        bus.publish_threadsafe(Said())
