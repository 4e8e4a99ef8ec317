"""Handlers that publish in circles through full queues never stand still, and memory stays bounded where it can."""

from __future__ import annotations

import asyncio
import contextlib
from typing import ClassVar

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bus import EventBus, HandlerFailedError, Payload, Request, RequestCycleError


class Hop(Payload):
    event_type: ClassVar[str] = "hop"
    left: int
    number: int = 0


class HopA(Hop):
    event_type: ClassVar[str] = "hop:a"


class HopB(Hop):
    event_type: ClassVar[str] = "hop:b"


class HopC(Hop):
    event_type: ClassVar[str] = "hop:c"


HOPS = [HopA, HopB, HopC]


class Answer(Payload):
    event_type: ClassVar[str] = "answer"


class AskA(Request[Answer]):
    event_type: ClassVar[str] = "ask:a"
    reply_type: ClassVar[type[Payload]] = Answer
    lane: int = 0
    nested: bool = False


class AskB(AskA):
    event_type: ClassVar[str] = "ask:b"


def key_of(event):
    return event.data.number % 3


@pytest.mark.parametrize("keyed", [False, True])
@pytest.mark.parametrize("concurrency", [1, 2, 5])
@pytest.mark.parametrize("size", [1, 2, 3])
async def test_cycle_never_stands_still(bus, size, concurrency, keyed):
    """Self, two and three: each event fans out into two at the next, through queues of one place."""
    handled = 0

    def passes_on(index):
        async def handle(event):
            nonlocal handled
            handled += 1
            await asyncio.sleep(0)
            if event.data.left:
                for copy in range(2):
                    await bus.publish(
                        HOPS[(index + 1) % size](left=event.data.left - 1, number=event.data.number + copy)
                    )

        return handle

    for index in range(size):
        bus.subscribe(HOPS[index], passes_on(index), capacity=1, concurrency=concurrency, key=key_of if keyed else None)
    await asyncio.gather(*(bus.publish(HopA(left=5, number=number)) for number in range(4)))
    report = await bus.drain(timeout=1)
    assert report.quiescent
    assert handled == 4 * (2**6 - 1)
    assert report.failed == 0
    assert bus.statistics().pending_requests == 0
    assert not bus._hub.waiting


async def test_cycle_that_loses_events_is_bounded(bus):
    """A circle in which as much ends as begins goes over the bound by little, whatever comes in from outside."""
    seen = 0

    async def back(event):
        await bus.publish(HopA(left=0))

    async def forth(event):
        nonlocal seen
        seen += 1
        if event.data.left:
            await bus.publish(HopB(left=0))

    first = bus.subscribe(HopA, forth, capacity=4)
    second = bus.subscribe(HopB, back, capacity=4)
    for _ in range(2000):
        await bus.publish(HopA(left=1))
    assert (await bus.drain(timeout=1)).quiescent
    assert seen == 4000
    assert first.statistics().high_water <= 8
    assert second.statistics().high_water <= 8


async def test_pipeline_is_no_cycle(bus):
    """Back-pressure of a slow stage is no reason to go over any bound."""

    async def forward(event):
        await bus.publish(HopB(left=0))

    async def further(event):
        await bus.publish(HopC(left=0))

    async def slow(event):
        await asyncio.sleep(1)

    stages = [
        bus.subscribe(kind, handler, capacity=2, concurrency=workers)
        for kind, handler, workers in ((HopA, forward, 3), (HopB, further, 1), (HopC, slow, 2))
    ]
    for _ in range(50):
        await bus.publish(HopA(left=0))
    assert (await bus.drain()).quiescent
    assert [stage.statistics().overcommitted for stage in stages] == [0, 0, 0]


async def test_request_in_cycle_of_queues(bus):
    """A asks B while B's worker waits for room at A: room is given, both go on."""
    done = []

    async def a(event):
        if isinstance(event.data, HopA):
            await asyncio.sleep(1)
            await bus.request(AskB(), timeout=None)
            done.append("asked")

    async def b(event):
        if isinstance(event.data, AskB):
            await bus.reply(event, Answer())
        else:
            for _ in range(4):
                await bus.publish(HopC(left=0))
            done.append("published")

    bus.subscribe(["hop:a", "hop:c"], a, capacity=1)
    bus.subscribe(["hop:b", "ask:b"], b, capacity=1, answers=True)
    await bus.publish(HopA(left=0))
    await bus.publish(HopB(left=0))
    report = await bus.drain(timeout=60)
    assert report.quiescent
    assert sorted(done) == ["asked", "published"]


async def test_requests_crossing(bus):
    """A's handler asks B while B's handler asks A, from unrelated events: one is refused at once, nobody hangs."""
    outcomes = []

    def asks(kind, own):
        async def handle(event):
            if isinstance(event.data, own):
                await bus.reply(event, Answer())
                return
            await asyncio.sleep(1)
            try:
                await bus.request(kind(), timeout=None)
                outcomes.append("answered")
            except RequestCycleError:
                outcomes.append("refused")

        return handle

    bus.subscribe(["hop:a", "ask:a"], asks(AskB, AskA), answers=True)
    bus.subscribe(["hop:b", "ask:b"], asks(AskA, AskB), answers=True)
    await bus.publish(HopA(left=0))
    await bus.publish(HopB(left=0))
    assert (await bus.drain(timeout=60)).quiescent
    assert sorted(outcomes) == ["answered", "refused"]


async def test_requests_crossing_with_workers_to_spare(bus):
    """With a second worker each, both are answered: nothing is refused that could be done."""
    outcomes = []

    def asks(kind, own):
        async def handle(event):
            if isinstance(event.data, own):
                await bus.reply(event, Answer())
                return
            await asyncio.sleep(1)
            await bus.request(kind(), timeout=None)
            outcomes.append("answered")

        return handle

    bus.subscribe(["hop:a", "ask:a"], asks(AskB, AskA), answers=True, concurrency=2)
    bus.subscribe(["hop:b", "ask:b"], asks(AskA, AskB), answers=True, concurrency=2)
    await bus.publish(HopA(left=0))
    await bus.publish(HopB(left=0))
    assert (await bus.drain(timeout=60)).quiescent
    assert outcomes == ["answered", "answered"]


@pytest.mark.parametrize("lane", [0, 1])
async def test_request_crossing_into_a_lane(bus, lane):
    """With a key, only the lane that waits is closed; a request into another lane is answered."""
    outcomes = []

    async def keyed(event):
        if isinstance(event.data, AskA):
            await bus.reply(event, Answer())
            return
        await bus.request(AskB(), timeout=None)
        outcomes.append("keyed")

    async def plain(event):
        if isinstance(event.data, AskB):
            await bus.reply(event, Answer())
            return
        await asyncio.sleep(1)
        await bus.request(AskA(lane=lane), timeout=None)
        outcomes.append("plain")

    bus.subscribe(
        ["hop:a", "ask:a"], keyed, answers=True, concurrency=4, key=lambda event: getattr(event.data, "lane", 0)
    )
    bus.subscribe(["hop:b", "ask:b"], plain, answers=True)
    await bus.publish(HopB(left=0))
    await bus.publish(HopA(left=0))
    assert (await bus.drain(timeout=60)).quiescent
    assert outcomes == (["plain", "keyed"] if lane == 1 else ["keyed"])


async def test_late_replier_is_not_taken_for_stuck(bus, recorder):
    """A responder that has taken the request and replies later, from another task, is waited for."""
    kept = recorder()
    bus.subscribe(AskB, kept, answers=True)
    done = []

    async def asks(event):
        await bus.request(AskB(), timeout=None)
        done.append(True)

    bus.subscribe(HopA, asks)
    await bus.publish(HopA(left=0))
    await kept.entered.wait()
    await asyncio.sleep(1)
    await bus.reply(kept.events[0], Answer())
    await bus.drain()
    assert done == [True]


async def test_order_is_kept_when_going_over_the_bound(bus):
    """An event that caused another is received before it, also where room is given over the bound."""
    seen = []

    async def echo(event):
        await bus.publish(HopB(left=0, number=event.data.number))

    async def both(event):
        seen.append((event.type, event.data.number))
        if event.type == "hop:a":
            await bus.publish(HopC(left=0, number=event.data.number))

    bus.subscribe(HopA, echo, capacity=1)
    bus.subscribe("hop:*", both, capacity=1)
    await asyncio.gather(*(bus.publish(HopA(left=0, number=number)) for number in range(30)))
    assert (await bus.drain(timeout=1)).quiescent
    for number in range(30):
        assert seen.index(("hop:a", number)) < seen.index(("hop:b", number))
        assert seen.index(("hop:a", number)) < seen.index(("hop:c", number))
    assert [number for kind, number in seen if kind == "hop:a"] == list(range(30))


@settings(deadline=None)
@given(
    st.lists(
        st.tuples(st.integers(1, 3), st.integers(1, 3), st.lists(st.integers(0, 2), max_size=3), st.booleans()),
        min_size=3,
        max_size=3,
    )
)
def test_any_graph_comes_to_rest(stages):
    """Any three subscriptions that publish to any others, with any capacity and concurrency, handle everything."""

    async def run():
        handled = made = 0
        async with EventBus() as bus:

            def handler(targets, pauses):
                async def handle(event):
                    nonlocal handled, made
                    handled += 1
                    if pauses:
                        await asyncio.sleep(0)
                    for target in targets if event.data.left else ():
                        made += 1
                        await bus.publish(HOPS[target](left=event.data.left - 1))

                return handle

            for kind, (capacity, concurrency, targets, pauses) in zip(HOPS, stages, strict=True):
                bus.subscribe(kind, handler(targets, pauses), capacity=capacity, concurrency=concurrency)
            for kind in HOPS * 2:
                made += 1
                await bus.publish(kind(left=3))
            report = await bus.drain(timeout=5)
            assert report.quiescent
            assert handled == made

    asyncio.run(run())


@settings(deadline=None)
@given(st.lists(st.tuples(st.integers(1, 2), st.integers(0, 2), st.booleans()), min_size=3, max_size=3))
def test_any_requests_come_to_an_end(stages):
    """Any three responders that ask any others: each request is answered or refused, without any time limit."""

    kinds = [type(f"Ask{i}", (AskA,), {"event_type": f"ask:{i}", "__module__": __name__}) for i in range(3)]

    async def run():
        async with EventBus() as bus:

            def handler(target, pauses):
                async def handle(event):
                    if event.data.nested:
                        if pauses:
                            await asyncio.sleep(0)
                        left = event.data.lane
                        with contextlib.suppress(RequestCycleError, HandlerFailedError):
                            await bus.request(kinds[target](nested=left > 0, lane=left - 1), timeout=None)
                    await bus.reply(event, Answer())

                return handle

            for kind, (concurrency, target, pauses) in zip(kinds, stages, strict=True):
                bus.subscribe(kind, handler(target, pauses), answers=True, concurrency=concurrency, capacity=1)
            await asyncio.wait_for(
                asyncio.gather(
                    *(bus.request(kind(nested=True, lane=2), timeout=None) for kind in kinds * 2),
                    return_exceptions=True,
                ),
                timeout=5,
            )
            assert bus.statistics().pending_requests == 0

    asyncio.run(run())


async def test_request_into_a_closed_lane_refused_at_once(bus):
    """Though another lane of the responder is busy and will move: the lane that matters never would."""
    refused_at = []
    clock = asyncio.get_running_loop().time

    async def keyed(event):
        if isinstance(event.data, HopC):
            await asyncio.sleep(50)
        elif isinstance(event.data, HopA):
            await bus.request(AskB(), timeout=None)
        else:
            await bus.reply(event, Answer())

    async def plain(event):
        if isinstance(event.data, AskB):
            await bus.reply(event, Answer())
            return
        await asyncio.sleep(1)
        start = clock()
        with pytest.raises(RequestCycleError):
            await bus.request(AskA(lane=0), timeout=None)
        refused_at.append(clock() - start)

    bus.subscribe(
        ["hop:a", "hop:c", "ask:a"],
        keyed,
        answers=True,
        concurrency=4,
        key=lambda event: 1 if isinstance(event.data, HopC) else 0,
    )
    bus.subscribe(["hop:b", "ask:b"], plain, answers=True)
    for kind in (HopB, HopC, HopA):
        await bus.publish(kind(left=0))
    assert (await bus.drain()).quiescent
    assert refused_at == [0]


async def test_request_behind_a_late_reply_waits(bus, recorder):
    """Who waits for somebody who waits for a reply that comes later, from outside, is not stuck."""
    kept = recorder()
    done = []

    async def first(event):
        if isinstance(event.data, HopA):
            await bus.request(AskB(), timeout=None)
            done.append("first")
        else:
            await bus.reply(event, Answer())

    async def second(event):
        await bus.request(AskA(), timeout=None)
        done.append("second")

    bus.subscribe(["hop:a", "ask:a"], first, answers=True)
    bus.subscribe(AskB, kept, answers=True)
    bus.subscribe(HopC, second)
    await bus.publish(HopA(left=0))
    await kept.entered.wait()
    await asyncio.sleep(1)
    await bus.publish(HopC(left=0))
    await asyncio.sleep(1)
    await bus.reply(kept.events[0], Answer())
    await bus.drain()
    assert done == ["first", "second"]


async def test_observer_of_a_request_may_ask_the_requester(bus):
    """The requester does not wait for who only watches, so a request from there is no circle."""
    answered = []

    async def requester(event):
        if isinstance(event.data, HopA):
            await bus.request(AskB(), timeout=None)
        else:
            await bus.reply(event, Answer())

    async def responder(event):
        await asyncio.sleep(1)
        await bus.reply(event, Answer())

    async def observer(event):
        answered.append(await bus.request(AskA(), timeout=None))

    bus.subscribe(["hop:a", "ask:a"], requester, answers=True, concurrency=2)
    bus.subscribe(AskB, responder, answers=True)
    bus.subscribe("ask:b", observer)
    await bus.publish(HopA(left=0))
    assert (await bus.drain()).failed == 0
    assert answered == [Answer()]


@pytest.mark.parametrize("way", ["fails", "closes"])
async def test_request_fails_when_only_its_own_handler_is_left_to_answer(bus, way):
    """Two could answer, the other drops out: the requester is told at once, though it waits without a limit."""
    told = []
    asked = asyncio.Event()

    async def itself(event):
        if isinstance(event.data, HopA):
            try:
                await bus.request(AskA(), timeout=None)
            except RequestCycleError as error:
                told.append(error)
        else:
            await bus.reply(event, Answer())

    async def other(event):
        asked.set()
        if way == "fails":
            raise ValueError("no")
        await asyncio.Event().wait()

    bus.subscribe([HopA, AskA], itself, answers=True, name="itself")
    second = bus.subscribe(AskA, other, answers=True, name="other", timeout=5 if way == "closes" else None)
    await bus.publish(HopA(left=0))
    await asked.wait()
    if way == "closes":
        second.close()
    await bus.drain()
    assert len(told) == 1
