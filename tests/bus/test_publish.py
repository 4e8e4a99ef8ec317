"""Who receives what, in which order."""

from __future__ import annotations

import asyncio
import time
from typing import ClassVar

import pytest

from bus import EventBus, PatternError, Payload, PayloadTypeError
from bus.eventbus import OUTBOX_LIMIT


class Said(Payload):
    event_type: ClassVar[str] = "talk:said"
    number: int = 0


class Heard(Payload):
    event_type: ClassVar[str] = "talk:heard"
    number: int = 0


class Walked(Payload):
    event_type: ClassVar[str] = "walk:walked"
    number: int = 0


@pytest.mark.parametrize(
    ("patterns", "expected"),
    [
        ("talk:said", ["talk:said"]),
        (Said, ["talk:said"]),
        ("talk:*", ["talk:said", "talk:heard"]),
        ("*", ["talk:said", "talk:heard", "walk:walked"]),
        (["walk:*", Heard], ["talk:heard", "walk:walked"]),
        (["talk:*", "talk:said", Said], ["talk:said", "talk:heard"]),
        ("talk:nothing", []),
        ("talk:s", []),
    ],
)
async def test_pattern_matches(bus, recorder, patterns, expected):
    """A type matches itself, a prefix with `*` what begins with it; two matching patterns deliver once."""
    got = recorder()
    bus.subscribe(patterns, got)
    for payload in (Said(), Heard(), Walked()):
        await bus.publish(payload)
    await bus.drain()
    assert [event.type for event in got.events] == expected


@pytest.mark.parametrize("pattern", ["", "*said", "talk:*:more", "talk: said", [], Payload, int, 3, [None]])
async def test_bad_pattern_refused(bus, recorder, pattern):
    """A pattern that could never match is refused, by name."""
    with pytest.raises((PatternError, TypeError)):
        bus.subscribe(pattern, recorder())


@pytest.mark.parametrize("value", [{"number": 1}, None, "talk:said", Said])
async def test_publish_of_no_payload_refused(bus, value):
    """Only payloads can be published."""
    with pytest.raises(PayloadTypeError):
        await bus.publish(value)


@pytest.mark.parametrize("terms", [{"capacity": 0}, {"concurrency": 0}, {"timeout": 0}, {"timeout": -1}])
async def test_senseless_terms_refused(bus, recorder, terms):
    """A queue without room, no worker, no time: refused with the name of the setting."""
    with pytest.raises(ValueError, match=next(iter(terms))):
        bus.subscribe(Said, recorder(), **terms)


async def test_order_of_one_publisher(bus, recorder):
    """Everybody receives events in the order of publishing, also across types."""
    first, second = recorder(), recorder()
    bus.subscribe("talk:*", first)
    bus.subscribe("talk:*", second, capacity=2)
    for number in range(300):
        await bus.publish((Said, Heard)[number % 2](number=number))
    await bus.drain()
    assert first.numbers == second.numbers == list(range(300))


async def test_one_event_object_for_all(bus, recorder):
    """Subscribers share the event, which nobody can change."""
    first, second = recorder(), recorder()
    bus.subscribe(Said, first)
    bus.subscribe(Said, second)
    event = await bus.publish(Said())
    await bus.drain()
    assert first.events == second.events == [event]
    for name in ("data", "id", "time", "source", "anything"):
        with pytest.raises(AttributeError):
            setattr(event, name, None)


async def test_publish_from_handler_comes_after_event(bus, recorder):
    """What a handler publishes reaches everybody after the event being handled, also those with full queues."""
    slow = recorder()
    slow.gate.clear()

    async def echo(event):
        await bus.publish(Heard(number=event.data.number))

    bus.subscribe(Said, echo)
    bus.subscribe("talk:*", slow, capacity=1)
    publishing = [asyncio.create_task(bus.publish(Said(number=number))) for number in range(5)]
    await slow.entered.wait()
    slow.gate.set()
    await asyncio.gather(*publishing)
    await bus.drain()
    seen = [(event.type, event.data.number) for event in slow.events]
    for number in range(5):
        assert seen.index(("talk:said", number)) < seen.index(("talk:heard", number))
    assert len(seen) == 10


async def test_publish_in_handler_returns_at_once(bus, recorder):
    """It goes out when the handler has ended."""
    got = recorder()
    seen_inside = []

    async def echo(event):
        await bus.publish(Heard())
        await asyncio.sleep(1)
        seen_inside.extend(got.events)

    bus.subscribe(Said, echo)
    bus.subscribe(Heard, got)
    await bus.publish(Said())
    await bus.drain()
    assert seen_inside == []
    assert len(got.events) == 1


async def test_published_before_fault_goes_out(bus, recorder):
    """A handler that fails has said what it has said."""
    got = recorder()

    async def fails(event):
        await bus.publish(Heard())
        raise RuntimeError("late")

    bus.subscribe(Said, fails)
    bus.subscribe(["talk:heard", "bus:*"], got)
    await bus.publish(Said())
    await bus.drain()
    assert [event.type for event in got.events] == ["talk:heard", "bus:handler_failed"]


async def test_causation(bus, recorder):
    """An event knows which event's handler published it; those from outside have no cause."""
    got = recorder()

    async def echo(event):
        await asyncio.gather(bus.publish(Heard()), bus.publish(Heard()))

    bus.subscribe(Said, echo)
    bus.subscribe(Heard, got)
    said = await bus.publish(Said())
    await bus.drain()
    assert said.causation_id is None
    assert [event.causation_id for event in got.events] == [said.id, said.id]


async def test_task_that_outlives_handler_is_outside(bus, recorder):
    """A task that a handler started publishes like anybody once that run is over, also during the next."""
    got = recorder()
    go = asyncio.Event()
    tasks = []
    hold = asyncio.Event()

    async def later():
        await go.wait()
        await bus.publish(Heard())

    async def starts(event):
        if event.data.number == 0:
            tasks.append(asyncio.create_task(later()))
        else:
            await hold.wait()

    bus.subscribe(Said, starts)
    bus.subscribe(Heard, got)
    await bus.publish(Said(number=0))
    await bus.drain()
    await bus.publish(Said(number=1))
    go.set()
    await tasks[0]
    await got.entered.wait()
    assert got.events[0].causation_id is None
    hold.set()


async def test_handler_of_one_bus_publishes_on_another(bus, recorder):
    """The outbox of a handler is for its own bus."""
    got = recorder()
    async with EventBus("other") as other:
        other.subscribe(Heard, got)

        async def across(event):
            await other.publish(Heard())
            await got.entered.wait()

        bus.subscribe(Said, across)
        await bus.publish(Said())
        await bus.drain()
    assert got.events[0].source == "other"


async def test_outbox_is_bounded(bus, recorder):
    """A handler that publishes without end waits like everybody, so memory stays bounded."""
    got = recorder()
    most = 0

    async def floods(event):
        nonlocal most
        for number in range(4 * OUTBOX_LIMIT):
            await bus.publish(Heard(number=number))
            most = max(most, len(bus._hub.worker().outbox))

    flood = bus.subscribe(Said, floods)
    sink = bus.subscribe(Heard, got, capacity=16)
    await bus.publish(Said())
    await bus.drain()
    assert got.numbers == list(range(4 * OUTBOX_LIMIT))
    assert sink.statistics().high_water == 16
    assert most == OUTBOX_LIMIT
    assert flood.statistics().overcommitted == 0


async def test_burst_keeps_memory_bounded(bus, recorder):
    """50,000 events without a pause through three stages: no queue ever holds more than its capacity."""
    seen = 0

    async def first(event):
        await bus.publish(Heard(number=event.data.number))

    async def second(event):
        await bus.publish(Walked(number=event.data.number))

    async def third(event):
        nonlocal seen
        assert event.data.number == seen
        seen += 1

    stages = [
        bus.subscribe(Said, first, capacity=50),
        bus.subscribe(Heard, second, capacity=20),
        bus.subscribe(Walked, third, capacity=5),
    ]
    payload = Said()
    for number in range(50_000):
        await bus.publish(payload.model_copy(update={"number": number}) if number % 100 == 0 else Said(number=number))
    await bus.drain()
    assert seen == 50_000
    for stage in stages:
        statistics = stage.statistics()
        assert statistics.high_water <= statistics.capacity
        assert statistics.overcommitted == 0


async def test_busy_worker_lets_others_run(bus):
    """A handler that never waits does not keep the event loop for itself."""
    turns = 0
    done = asyncio.Event()

    async def compute(event):
        end = time.perf_counter() + 0.0002
        while time.perf_counter() < end:
            pass

    async def other():
        nonlocal turns
        while not done.is_set():
            turns += 1
            await asyncio.sleep(0)

    bus.subscribe(Said, compute)
    for number in range(100):
        await bus.publish(Said(number=number))
    task = asyncio.create_task(other())
    await bus.drain()
    done.set()
    await task
    assert turns >= 5


async def test_subscribe_in_handler(bus, recorder):
    """A subscription receives what is published after it was made."""
    got = recorder()

    async def subscribes(event):
        bus.subscribe("talk:*", got)
        await bus.publish(Heard())

    bus.subscribe(Said, subscribes)
    await bus.publish(Said())
    await bus.drain()
    assert [event.type for event in got.events] == ["talk:heard"]


async def test_context_of_publisher_does_not_leak(bus):
    """A worker has the context of its subscription, not that of whoever published first."""
    import contextvars

    variable = contextvars.ContextVar("variable", default="none")
    seen = []

    async def look(event):
        seen.append(variable.get())

    bus.subscribe(Said, look)
    variable.set("publisher")
    await bus.publish(Said())
    await bus.drain()
    assert seen == ["none"]
