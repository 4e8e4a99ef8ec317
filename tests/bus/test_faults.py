"""A handler's fault is its own: published, and nobody else is touched (raises, hangs, is slow, is cancelled)."""

from __future__ import annotations

import asyncio
import logging
from typing import Any, ClassVar

import pytest

from bus import HandlerFailed, Payload


class Said(Payload):
    event_type: ClassVar[str] = "talk:said"
    number: int = 0


class Opaque(Payload):
    event_type: ClassVar[str] = "talk:opaque"
    anything: Any


async def fails(event):
    raise ValueError(f"cannot do {event.data.number}")


async def test_fault_is_isolated_and_published(bus, recorder):
    """Others get the event; the notice has the original event, the handler, the error."""
    got, notices = recorder(), recorder()
    subscription = bus.subscribe(Said, fails, name="broken")
    bus.subscribe(Said, got)
    bus.subscribe(HandlerFailed, notices)
    events = [await bus.publish(Said(number=number)) for number in range(3)]
    await bus.drain()
    assert got.numbers == [0, 1, 2]
    for number, (event, notice) in enumerate(zip(events, notices.events, strict=True)):
        assert notice.data == HandlerFailed(
            event=event.to_wire(), handler="broken", error=f"cannot do {number}", error_type="ValueError"
        )
        assert notice.causation_id == event.id
        assert notice.to_wire()["data"]["errorType"] == "ValueError"
    assert (subscription.statistics().handled, subscription.statistics().failed) == (0, 3)


async def test_fault_that_nobody_watches_is_logged(bus, caplog):
    """It must not vanish."""
    bus.subscribe(Said, fails, name="broken")
    await bus.publish(Said(number=4))
    await bus.drain()
    assert "broken" in caplog.text
    assert "cannot do 4" in caplog.text


async def test_fault_in_handler_of_faults(bus, caplog):
    """It is logged and goes round in no circle; `*` receives faults too."""
    calls = []

    async def always_fails(event):
        calls.append(event.type)
        raise RuntimeError("again")

    bus.subscribe("*", always_fails)
    with caplog.at_level(logging.ERROR, "bus"):
        await bus.publish(Said())
        await bus.drain()
    assert calls == ["talk:said", "bus:handler_failed"]
    assert len(caplog.records) == 1


async def test_error_that_cannot_be_told(bus, recorder):
    """An exception whose text raises does not take the worker along."""
    notices = recorder()

    class WordlessError(Exception):
        def __str__(self):
            raise RuntimeError("no words")

    async def worse(event):
        raise WordlessError

    bus.subscribe(Said, worse)
    bus.subscribe("bus:*", notices)
    await bus.publish(Said())
    await bus.publish(Said())
    await bus.drain()
    assert [notice.error_type for notice in notices.data] == ["WordlessError"] * 2


async def test_event_that_cannot_be_written(bus, recorder):
    """A payload that is no JSON is reported by its envelope; the worker goes on."""
    notices = recorder()

    async def broken(event):
        raise RuntimeError("broken")

    bus.subscribe(Opaque, broken)
    bus.subscribe("bus:*", notices)
    event = await bus.publish(Opaque(anything=object()))
    await bus.publish(Opaque(anything=1))
    await bus.drain()
    assert notices.data[0].event["id"] == event.id
    assert len(notices.data) == 2


async def test_hanging_handler_is_cancelled(bus, recorder):
    """After `timeout` seconds it is reported, and the next event is handled."""
    notices, done = recorder(), []

    async def hangs(event):
        if event.data.number == 0:
            await asyncio.Event().wait()
        done.append(event.data.number)

    bus.subscribe(Said, hangs, name="hanging", timeout=3)
    bus.subscribe("bus:*", notices)
    start = asyncio.get_running_loop().time()
    await bus.publish(Said(number=0))
    await bus.publish(Said(number=1))
    await bus.drain()
    assert done == [1]
    assert [(n.handler, n.error_type) for n in notices.data] == [("hanging", "HandlerTimeoutError")]
    assert asyncio.get_running_loop().time() - start == pytest.approx(3)


async def test_each_handler_has_its_own_time(bus, recorder):
    """Handlers that are quick enough are left alone, however long they take together."""
    notices = recorder()

    async def slow(event):
        await asyncio.sleep(2)

    subscription = bus.subscribe(Said, slow, timeout=3, concurrency=2)
    bus.subscribe("bus:*", notices)
    for _ in range(9):
        await bus.publish(Said())
    await bus.drain()
    assert notices.events == []
    assert subscription.statistics().handled == 9


async def test_handler_that_swallows_the_cancellation(bus):
    """It is asked again, and when it ends at last it has run out of time all the same; the next event is handled."""
    asked = 0

    async def stubborn(event):
        nonlocal asked
        while event.data.number == 0 and asked < 2:
            try:
                await asyncio.Event().wait()
            except asyncio.CancelledError:
                asked += 1

    subscription = bus.subscribe(Said, stubborn, timeout=1)
    await bus.publish(Said(number=0))
    await bus.publish(Said(number=1))
    await bus.drain()
    assert asked == 2
    assert (subscription.statistics().failed, subscription.statistics().handled) == (1, 1)


async def test_slow_handler_does_not_stop_others(bus, recorder):
    """Others go on at their own speed."""
    slow, quick = recorder(), recorder()
    slow.gate.clear()
    bus.subscribe(Said, slow)
    sub = bus.subscribe(Said, quick)
    for number in range(10):
        await bus.publish(Said(number=number))
    await sub.drain()
    assert quick.numbers == list(range(10))
    assert slow.events == []
    slow.gate.set()


async def test_handler_that_awaits_something_cancelled(bus, recorder):
    """A cancelled future inside a handler is a fault, not the end of the worker."""
    notices = recorder()

    async def unlucky(event):
        future = asyncio.get_running_loop().create_future()
        future.cancel()
        await future

    bus.subscribe(Said, unlucky)
    bus.subscribe("bus:*", notices)
    await bus.publish(Said())
    await bus.publish(Said())
    await bus.drain()
    assert len(notices.events) == 2


async def test_cancelled_worker_is_no_fault(bus, recorder, settle):
    """A worker that is cancelled from outside gives up its event, which is counted, and the next gets a new worker."""
    notices, got = recorder(), recorder()
    got.gate.clear()
    subscription = bus.subscribe(Said, got)
    bus.subscribe("bus:*", notices)
    await bus.publish(Said(number=0))
    await got.entered.wait()
    subscription.crew.tasks()[0].cancel()
    await settle()
    got.gate.set()
    await bus.publish(Said(number=1))
    await bus.drain()
    assert got.numbers == [1]
    assert notices.events == []
    assert subscription.statistics().dropped == 1


async def test_idle_worker_cancelled(bus, recorder, settle):
    """A worker that is cancelled while it rests is replaced, also when an event comes in that very moment."""
    got = recorder()
    subscription = bus.subscribe(Said, got)
    await bus.publish(Said(number=0))
    await bus.drain()
    subscription.crew.tasks()[0].cancel()
    await bus.publish(Said(number=1))
    await bus.drain()
    await settle()
    await bus.publish(Said(number=2))
    await bus.drain()
    assert got.numbers == [0, 1, 2]
