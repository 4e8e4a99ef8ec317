"""Events of one key in order, different keys side by side."""

from __future__ import annotations

import asyncio
from collections import defaultdict
from typing import ClassVar

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bus import EventBus, Payload
from bus.events import Event, Origin
from bus.lanes import Lanes


class Step(Payload):
    event_type: ClassVar[str] = "lane:step"
    number: int
    lane: str = "a"


def lane_of(event):
    return event.data.lane


async def test_keys_side_by_side(bus):
    """A lane that is held up holds up no other."""
    gates = defaultdict(asyncio.Event)
    seen = []

    async def handle(event):
        if event.data.number == 0:
            await gates[event.data.lane].wait()
        seen.append((event.data.lane, event.data.number))

    bus.subscribe(Step, handle, concurrency=2, key=lane_of)
    for number in range(3):
        await bus.publish(Step(number=number, lane="a"))
    for number in range(1, 4):
        await bus.publish(Step(number=number, lane="b"))
    gates["b"].set()
    await asyncio.sleep(1)
    assert seen == [("b", 1), ("b", 2), ("b", 3)]
    gates["a"].set()
    await bus.drain()
    assert seen[3:] == [("a", 0), ("a", 1), ("a", 2)]


async def test_no_more_than_concurrency(bus):
    """However many keys, at most `concurrency` handlers run."""
    running = most = 0

    async def handle(event):
        nonlocal running, most
        running += 1
        most = max(most, running)
        await asyncio.sleep(1)
        running -= 1

    subscription = bus.subscribe(Step, handle, concurrency=3, key=lane_of)
    for number in range(12):
        await bus.publish(Step(number=number, lane=str(number)))
    await asyncio.sleep(0.5)
    assert subscription.statistics().running == 3
    await bus.drain()
    assert most == 3


async def test_concurrency_without_key(bus):
    """Without a key any worker takes the next event."""
    start = asyncio.get_running_loop().time()

    async def handle(event):
        await asyncio.sleep(1)

    bus.subscribe(Step, handle, concurrency=5)
    for number in range(10):
        await bus.publish(Step(number=number))
    await bus.drain()
    assert asyncio.get_running_loop().time() - start == pytest.approx(2)


async def test_lanes_take_turns(bus, recorder):
    """One lane with much to do does not keep the others waiting to its end."""
    got = recorder()
    bus.subscribe(Step, got, key=lane_of)
    for number in range(50):
        await bus.publish(Step(number=number, lane="busy"))
    await bus.publish(Step(number=0, lane="rare"))
    await bus.drain()
    assert [step.lane for step in got.data].index("rare") < 3


@pytest.mark.parametrize("fault", [lambda event: 1 / 0, lambda event: []])
async def test_key_function_fails(bus, recorder, fault):
    """A key that raises, or that cannot be hashed, is the subscriber's fault: published, and others get the event."""
    got, faults = recorder(), recorder()
    subscription = bus.subscribe(Step, recorder(), key=fault, name="keyed")
    bus.subscribe(Step, got)
    bus.subscribe("bus:*", faults)
    await bus.publish(Step(number=1))
    await bus.drain()
    assert got.numbers == [1]
    assert [failed.handler for failed in faults.data] == ["keyed"]
    assert subscription.statistics().failed == 1


@settings(deadline=None)
@given(st.lists(st.tuples(st.sampled_from("abc"), st.booleans()), max_size=60), st.integers(1, 4), st.integers(1, 5))
def test_order_of_each_key(steps, concurrency, capacity):
    """Whatever the keys, pauses, workers and room: each key's events are handled in order, one at a time."""
    running: set[str] = set()
    seen: dict[str, list[int]] = defaultdict(list)

    async def handle(event):
        lane, number = event.data.lane, event.data.number
        assert lane not in running
        running.add(lane)
        if steps[number][1]:
            await asyncio.sleep(0)
        running.remove(lane)
        seen[lane].append(number)

    async def run():
        async with EventBus() as bus:
            subscription = bus.subscribe(Step, handle, concurrency=concurrency, key=lane_of, capacity=capacity)
            for number, (lane, _) in enumerate(steps):
                await bus.publish(Step(number=number, lane=lane))
            await bus.drain()
            assert subscription.statistics().high_water <= capacity
            assert subscription.statistics().failed == 0

    asyncio.run(run())
    for lane, numbers in seen.items():
        assert numbers == [number for number, step in enumerate(steps) if step[0] == lane]
    assert sum(map(len, seen.values())) == len(steps)


@settings(deadline=None)
@given(st.data())
def test_lanes_against_model(data):
    """Taking, finishing, removing and clearing in any order: lengths and order agree with a plain list."""
    lanes, queued, running = Lanes(lane_of), [], []
    origin = Origin("test", "")
    for number in range(data.draw(st.integers(0, 30))):
        action = data.draw(st.sampled_from(["append", "append", "take", "done", "remove", "clear"]))
        busy_lanes = {lane_of(event) for event in running}
        if action == "append":
            event = Event(Step(number=number, lane=data.draw(st.sampled_from("abc"))), number, origin, 0)
            lanes.append(event)
            queued.append(event)
        elif action == "take" and lanes:
            event = lanes.popleft()
            lane = lane_of(event)
            assert lane not in busy_lanes
            assert event is next(one for one in queued if lane_of(one) == lane)
            queued.remove(event)
            running.append(event)
        elif action == "done" and running:
            lanes.done(running.pop(data.draw(st.integers(0, len(running) - 1))))
        elif action == "remove" and queued:
            lanes.remove(queued.pop(data.draw(st.integers(0, len(queued) - 1))))
        elif action == "clear":
            lanes.clear()
            queued.clear()
        assert list(lanes) == queued
        assert len(lanes) == len(queued)
        busy_lanes = {lane_of(event) for event in running}
        assert bool(lanes) == any(lane_of(event) not in busy_lanes for event in queued)
