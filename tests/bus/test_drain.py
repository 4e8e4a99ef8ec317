"""Drain and close: what they wait for, what they report, what they refuse."""

from __future__ import annotations

import asyncio
from typing import ClassVar

import pytest

from bus import (
    BusClosedError,
    DrainInHandlerError,
    Dropped,
    EventBus,
    Payload,
    Request,
    ResponderClosedError,
)


class Step(Payload):
    event_type: ClassVar[str] = "step"
    left: int = 0


class Answer(Payload):
    event_type: ClassVar[str] = "answer"


class Ask(Request[Answer]):
    event_type: ClassVar[str] = "ask"
    reply_type: ClassVar[type[Payload]] = Answer


async def test_drain_of_quiet_bus(bus):
    """Nothing to wait for."""
    report = await bus.drain(timeout=0)
    assert report.quiescent
    assert report.handled == report.dropped_count == 0


async def test_drain_waits_for_what_handlers_publish(bus):
    """Also for chains, with pauses in between."""
    last = []

    async def step(event):
        await asyncio.sleep(1)
        if event.data.left:
            await bus.publish(Step(left=event.data.left - 1))
        else:
            last.append(event)

    bus.subscribe(Step, step)
    await bus.publish(Step(left=5))
    report = await bus.drain()
    assert len(last) == 1
    assert (report.quiescent, report.handled, report.failed, report.dropped) == (True, 6, 0, ())


async def test_drain_waits_for_waiting_publishers(bus, recorder, settle):
    """Who stands in the line is waited for."""
    slow = recorder()
    slow.gate.clear()
    bus.subscribe(Step, slow, capacity=1)
    tasks = [asyncio.create_task(bus.publish(Step())) for _ in range(5)]
    await settle()
    drain = asyncio.create_task(bus.drain())
    await settle()
    assert not drain.done()
    slow.gate.set()
    assert (await drain).quiescent
    assert len(slow.events) == 5
    await asyncio.gather(*tasks)


async def test_drain_after_last_publisher_gave_up(bus, recorder, settle):
    """A publisher that is cancelled while a drain waits for it does not leave the drain waiting."""
    slow = recorder()
    slow.gate.clear()
    subscription = bus.subscribe(Step, slow, capacity=1)
    publisher = asyncio.create_task(bus.publish(Step()))
    await slow.entered.wait()
    drain = asyncio.create_task(subscription.drain())
    await settle()
    slow.gate.set()
    publisher.cancel()
    assert (await drain).quiescent


async def test_drain_that_runs_out_of_time(bus, recorder):
    """It says so and names who is not done; nothing is dropped by that."""
    slow = recorder()
    slow.gate.clear()
    bus.subscribe(Step, slow, name="slow")
    await bus.publish(Step())
    report = await bus.drain(timeout=2)
    assert (report.quiescent, report.stuck, report.dropped) == (False, ("slow",), ())
    slow.gate.set()
    assert (await bus.drain()).quiescent


async def test_cancel_during_drain(bus, recorder, settle):
    """It leaves nothing behind."""
    slow = recorder()
    slow.gate.clear()
    bus.subscribe(Step, slow)
    await bus.publish(Step())
    task = asyncio.create_task(bus.drain())
    await settle()
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    slow.gate.set()
    assert (await bus.drain()).quiescent


async def test_subscription_drains_alone(bus, recorder):
    """Others may be busy."""
    slow, quick = recorder(), recorder()
    slow.gate.clear()
    bus.subscribe(Step, slow)
    subscription = bus.subscribe(Step, quick)
    await bus.publish(Step())
    report = await subscription.drain()
    assert report.quiescent
    assert len(quick.events) == 1
    slow.gate.set()


@pytest.mark.parametrize("action", ["drain", "close"])
async def test_waiting_for_oneself_refused(bus, recorder, action):
    """A handler that drains or closes its bus would wait for itself."""
    notices = recorder()

    async def drains(event):
        await getattr(bus, action)()

    bus.subscribe(Step, drains, name="drainer")
    bus.subscribe("bus:*", notices)
    await bus.publish(Step())
    await bus.drain()
    assert notices.data[0].error_type == DrainInHandlerError.__name__
    assert "drainer" in notices.data[0].error


async def test_subscription_drained_in_another_handler(bus, recorder):
    """One handler may wait for another subscription, not for its own."""
    got = recorder()
    outcome = []

    async def waits(event):
        outcome.append((await other.drain()).quiescent)
        with pytest.raises(DrainInHandlerError):
            await own.drain()

    other = bus.subscribe(Step, got)
    own = bus.subscribe(Step, waits)
    await bus.publish(Step())
    await bus.drain()
    assert outcome == [True]
    assert own.statistics().failed == 0


async def test_close_waits_for_what_handlers_publish():
    """Also for what they publish while the bus is closing (and what their replies publish)."""
    bus = EventBus()
    seen = []

    async def step(event):
        await asyncio.sleep(1)
        seen.append(event.data.left)
        if event.data.left:
            await bus.publish(Step(left=event.data.left - 1))

    bus.subscribe(Step, step)
    await bus.publish(Step(left=3))
    report = await bus.close()
    assert seen == [3, 2, 1, 0]
    assert (report.quiescent, report.handled, report.dropped) == (True, 4, ())


async def test_close_reports_what_was_dropped(recorder):
    """What is left when the time is over: by subscription, event and reason."""
    bus = EventBus()
    slow = recorder()
    slow.gate.clear()
    bus.subscribe(Step, slow, name="slow", capacity=10)
    for _ in range(4):
        await bus.publish(Step())
    report = await bus.close(timeout=2)
    assert not report.quiescent
    assert report.stuck == ("slow",)
    assert report.dropped == (Dropped("slow", "step", "bus closed", 3), Dropped("slow", "step", "handler cancelled", 1))
    assert report.dropped_count == 4


async def test_close_reports_outbox_of_cancelled_handler():
    """What a handler had published and could not send is told too."""
    bus = EventBus()

    async def publishes(event):
        await bus.publish(Answer())
        await asyncio.Event().wait()

    bus.subscribe(Step, publishes, name="pub")
    await bus.publish(Step())
    report = await bus.close(timeout=1)
    assert Dropped("pub", "answer", "published by a handler that was cancelled", 1) in report.dropped


async def test_closed_bus_refuses():
    """Every door says what it cannot do."""
    bus = EventBus()
    await bus.close()
    for action in (
        lambda: bus.publish(Step()),
        lambda: bus.request(Ask()),
        lambda: bus.receive({}),
    ):
        with pytest.raises(BusClosedError):
            await action()
    with pytest.raises(BusClosedError):
        bus.subscribe(Step, bus.publish)
    assert (await bus.drain()).quiescent


async def test_close_twice(recorder):
    """The same report, also for who calls while the first call waits."""
    bus = EventBus()
    got = recorder()
    bus.subscribe(Step, got)
    await bus.publish(Step())
    first, second = await asyncio.gather(bus.close(), bus.close())
    assert first is second is await bus.close()


async def test_cancel_during_close(recorder, settle):
    """It can be closed again."""
    bus = EventBus()
    slow = recorder()
    slow.gate.clear()
    bus.subscribe(Step, slow)
    await bus.publish(Step())
    task = asyncio.create_task(bus.close())
    await slow.entered.wait()
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    slow.gate.set()
    assert (await bus.close()).quiescent


async def test_close_ends_waiting_requests(recorder):
    """A request whose late reply never came fails when the bus closes."""
    bus = EventBus()
    kept = recorder()
    bus.subscribe(Ask, kept, answers=True)
    task = asyncio.create_task(bus.request(Ask(), timeout=None))
    await kept.entered.wait()
    await bus.close()
    with pytest.raises(ResponderClosedError):
        await task


async def test_reply_while_closing(recorder, settle):
    """Somebody outside the handlers may still reply while the bus is closing."""
    bus = EventBus()
    kept, slow = recorder(), recorder()
    slow.gate.clear()
    bus.subscribe(Ask, kept, answers=True)
    bus.subscribe(Step, slow)
    request = asyncio.create_task(bus.request(Ask()))
    await bus.publish(Step())
    await kept.entered.wait()
    closing = asyncio.create_task(bus.close())
    await settle()
    with pytest.raises(BusClosedError):
        await bus.publish(Step())
    await bus.reply(kept.events[0], Answer())
    assert await request == Answer()
    slow.gate.set()
    assert (await closing).quiescent
    with pytest.raises(BusClosedError):
        await bus.reply(kept.events[0], Answer())


async def test_closing_leaves_no_task():
    """Every worker has ended."""
    before = asyncio.all_tasks()
    bus = EventBus()

    async def handle(event):
        await asyncio.sleep(1)

    bus.subscribe(Step, handle, concurrency=4)
    for _ in range(8):
        await bus.publish(Step())
    await bus.close()
    assert asyncio.all_tasks() == before


async def test_statistics(bus, recorder, settle):
    """Queued, waiting, running, capacity: what one needs to see who is slow."""
    slow = recorder()
    slow.gate.clear()
    bus.subscribe("step", slow, name="slow", capacity=2)
    publisher = asyncio.create_task(bus.publish(Step()))
    await slow.entered.wait()
    tasks = [asyncio.create_task(bus.publish(Step())) for _ in range(3)]
    await settle()
    await bus.publish(Answer())
    now = bus.statistics()
    slow_now = now.of("slow")
    assert (slow_now.queued, slow_now.capacity, slow_now.waiting, slow_now.running) == (2, 2, 1, 1)
    assert (now.published, now.unheard) == (5, 1)
    with pytest.raises(KeyError):
        now.of("nobody")
    slow.gate.set()
    await asyncio.gather(publisher, *tasks)
    await bus.drain()
    assert bus.statistics().of("slow").handled == 4


async def test_close_while_outbox_is_sent(recorder, settle):
    """The event whose handler has ended counts as handled; what could not be sent any more is told."""
    bus = EventBus()
    slow = recorder()
    slow.gate.clear()

    async def publishes(event):
        for _ in range(4):
            await bus.publish(Answer())

    publisher = bus.subscribe(Step, publishes, name="pub")
    bus.subscribe(Answer, slow, name="slow", capacity=1)
    await bus.publish(Step())
    await slow.entered.wait()
    await settle()
    assert publisher.statistics().handled == 1
    assert publisher.statistics().running == 1
    report = await bus.close(timeout=1)
    assert report.stuck == ("pub", "slow")
    assert [drop for drop in report.dropped if drop.event_type == "step"] == []
    assert sum(drop.count for drop in report.dropped if drop.event_type == "answer") == 4


async def test_task_publishes_while_outbox_is_sent(bus, recorder, settle):
    """The handler has ended: what its left-over task publishes now is not its own."""
    slow, watch = recorder(), recorder()
    slow.gate.clear()
    go = asyncio.Event()

    async def later():
        await go.wait()
        await bus.publish(Ask())

    async def publishes(event):
        tasks.append(asyncio.create_task(later()))
        for _ in range(3):
            await bus.publish(Answer())

    tasks = []
    bus.subscribe(Step, publishes)
    bus.subscribe(Answer, slow, capacity=1)
    bus.subscribe(Ask, watch)
    await bus.publish(Step())
    await slow.entered.wait()
    await settle()
    go.set()
    await tasks[0]
    await watch.entered.wait()
    assert watch.events[0].causation_id is None
    slow.gate.set()
