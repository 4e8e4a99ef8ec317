"""Requests: answered, refused, timed out, cancelled; nothing is left behind."""

from __future__ import annotations

import asyncio
import gc
import weakref
from typing import ClassVar

import pytest

from bus import (
    BusClosedError,
    HandlerFailedError,
    NoResponderError,
    Overflow,
    Payload,
    QueueFullError,
    ReplyTypeError,
    Request,
    RequestCycleError,
    RequestTimeoutError,
    ResponderClosedError,
)


class Answer(Payload):
    event_type: ClassVar[str] = "q:answer"
    number: int = 0


class Ask(Request[Answer]):
    event_type: ClassVar[str] = "q:ask"
    reply_type: ClassVar[type[Payload]] = Answer
    number: int = 0


class AskAgain(Request[Answer]):
    event_type: ClassVar[str] = "q:again"
    reply_type: ClassVar[type[Payload]] = Answer
    number: int = 0


class Other(Payload):
    event_type: ClassVar[str] = "q:other"
    number: int = 0


def answering(bus):
    async def answer(event):
        await bus.reply(event, Answer(number=event.data.number + 1))

    return answer


@pytest.fixture(autouse=True)
async def nothing_left(bus):
    """Whatever a test does, no request waits at its end."""
    yield
    assert bus.statistics().pending_requests == 0


async def test_request_returns_reply(bus, recorder):
    """The requester gets the payload; the reply is published too, correlated with the request."""
    got = recorder()
    bus.subscribe(Ask, answering(bus), answers=True)
    bus.subscribe("q:*", got)
    assert await bus.request(Ask(number=1)) == Answer(number=2)
    await bus.drain()
    ask, reply = got.events
    assert reply.correlation_id == reply.causation_id == ask.id


async def test_reply_from_a_callback(bus, recorder):
    """`reply_nowait` answers at once, and gives what is left to wait for where a queue is full."""
    gate = asyncio.Event()
    seen = []

    async def watch(event):
        await gate.wait()
        seen.append(event.data.number)

    async def answer(event):
        kept.append(event)

    kept = []
    bus.subscribe(Ask, answer, answers=True)
    bus.subscribe(Answer, watch, capacity=1)
    asked = [asyncio.create_task(bus.request(Ask(number=number))) for number in range(3)]
    await asyncio.sleep(0)
    await bus.drain()
    assert bus.reply_nowait(kept[0], Answer(number=0)) is None
    await asyncio.sleep(0)
    assert bus.reply_nowait(kept[1], Answer(number=1)) is None
    full = bus.reply_nowait(kept[2], Answer(number=2))
    assert full is not None
    # The requesters have their answers all the same.
    assert [answer.number for answer in await asyncio.gather(*asked)] == [0, 1, 2]
    gate.set()
    await full
    await bus.drain()
    assert seen == [0, 1, 2]
    with pytest.raises(ReplyTypeError):
        bus.reply_nowait(kept[0], Other())


async def test_requests_side_by_side(bus):
    """Each requester gets its own answer."""
    bus.subscribe(Ask, answering(bus), answers=True, concurrency=3)
    answers = await asyncio.gather(*(bus.request(Ask(number=number)) for number in range(200)))
    assert [answer.number for answer in answers] == list(range(1, 201))


async def test_nobody_answers(bus, recorder):
    """Fails at once and says how to answer; who only watches does not count, and sees nothing."""
    got = recorder()
    bus.subscribe("q:*", got)
    with pytest.raises(NoResponderError, match=r"'q:ask'.*answers=True"):
        await bus.request(Ask(), timeout=None)
    await bus.drain()
    assert got.events == []


async def test_timeout(bus):
    """Too slow an answer is an error; the late reply is counted and published, no fault."""
    release = asyncio.Event()

    async def slow(event):
        await release.wait()
        await bus.reply(event, Answer())

    bus.subscribe(Ask, slow, answers=True, name="slow")
    start = asyncio.get_running_loop().time()
    with pytest.raises(RequestTimeoutError, match=r"'q:ask'.*2.5 s by slow"):
        await bus.request(Ask(), timeout=2.5)
    assert asyncio.get_running_loop().time() - start == pytest.approx(2.5)
    assert bus.statistics().pending_requests == 0
    release.set()
    await bus.drain()
    assert bus.statistics().late_replies == 1
    assert bus.statistics().of("slow").failed == 0


async def test_timeout_is_also_a_standard_timeout(bus, recorder):
    """`except TimeoutError` catches it."""
    bus.subscribe(Ask, recorder(), answers=True)
    with pytest.raises(TimeoutError):
        await bus.request(Ask(), timeout=1)


async def test_each_request_has_its_own_time_limit(bus, recorder):
    """Those that wait share a timer; each ends when it said, whatever the others said before or after it."""
    bus.subscribe(Ask, recorder(), answers=True, concurrency=8)
    loop, ended = asyncio.get_running_loop(), {}

    async def ask(start: float, seconds: float | None) -> None:
        await asyncio.sleep(start)
        with pytest.raises(RequestTimeoutError, match=f"{seconds}"):
            await bus.request(Ask(), timeout=seconds)
        ended[start, seconds] = loop.time() - begun

    begun = loop.time()
    waits = [(0, 5), (0, 1), (0.5, 3), (2, 1), (2, 2), (2, 10), (6, 0)]
    async with asyncio.TaskGroup() as group:
        for start, seconds in waits:
            group.create_task(ask(start, seconds))
    assert ended == {wait: pytest.approx(sum(wait)) for wait in waits}
    assert bus.statistics().pending_requests == 0


async def test_an_ended_request_leaves_nothing_to_the_garbage_collector(bus):
    """Event, reply and future are free when nobody has them: a busy bus would collect all the time."""

    async def answer(event):
        await bus.reply(event, Answer())

    bus.subscribe(Ask, answer, answers=True)
    asked = Ask()
    freed = weakref.ref(asked)
    gc.collect()
    gc.disable()
    try:
        await bus.request(asked)
        await bus.drain()
        del asked
        assert freed() is None
    finally:
        gc.enable()


async def test_timeout_while_queue_is_full(bus, recorder, settle):
    """The time limit holds for room in the queue too; the request leaves the line and is counted."""
    slow = recorder()
    slow.gate.clear()
    subscription = bus.subscribe(["q:ask", "q:other"], slow, answers=True, capacity=1)
    for _ in range(2):
        await bus.publish(Other())
        await settle()
    with pytest.raises(RequestTimeoutError):
        await bus.request(Ask(), timeout=1)
    assert subscription.statistics().waiting == 0
    assert subscription.statistics().dropped == 1
    slow.gate.set()
    await bus.drain()
    assert [event.type for event in slow.events] == ["q:other", "q:other"]


async def test_reply_is_kept_when_only_an_observer_is_stuck(bus, recorder, settle):
    """A full observer delays the requester up to its time limit; then it loses the event, not the reply."""
    stuck = recorder()
    stuck.gate.clear()
    watcher = bus.subscribe(["q:ask", "q:other"], stuck, capacity=1)
    bus.subscribe(Ask, answering(bus), answers=True)
    for _ in range(2):
        await bus.publish(Other())
        await settle()
    assert await bus.request(Ask(), timeout=1) == Answer(number=1)
    assert watcher.statistics().dropped == 1


async def test_cancelled_requester(bus, recorder, settle):
    """It leaves nothing behind; the answer is late."""
    slow = recorder()
    slow.gate.clear()

    async def answer(event):
        await slow(event)
        await bus.reply(event, Answer())

    bus.subscribe(Ask, answer, answers=True)
    task = asyncio.create_task(bus.request(Ask()))
    await slow.entered.wait()
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert bus.statistics().pending_requests == 0
    slow.gate.set()
    await bus.drain()
    assert bus.statistics().late_replies == 1


async def test_cancelled_at_the_same_moment_as_failed(bus, recorder, caplog):
    """An error that the cancelled requester never saw is not reported as forgotten."""
    got = recorder()
    got.gate.clear()
    bus.subscribe(Ask, got, answers=True)
    task = asyncio.create_task(bus.request(Ask()))
    await got.entered.wait()
    bus._hub.requests.fail_all(BusClosedError("wait"))
    task.cancel()
    with pytest.raises((asyncio.CancelledError, BusClosedError)):
        await task
    del task
    gc.collect()
    assert "never retrieved" not in caplog.text


async def test_handler_fails_before_reply(bus):
    """The requester learns at once what happened."""

    async def fails(event):
        raise LookupError("no such thing")

    bus.subscribe(Ask, fails, answers=True, name="clerk")
    with pytest.raises(HandlerFailedError, match=r"'clerk' failed at 'q:ask'.*LookupError: no such thing") as caught:
        await bus.request(Ask(), timeout=None)
    assert isinstance(caught.value.error, LookupError)


async def test_handler_fails_after_reply(bus, recorder):
    """The reply counts, the fault is published."""
    got = recorder()

    async def fails(event):
        await bus.reply(event, Answer(number=7))
        raise LookupError("too late")

    bus.subscribe(Ask, fails, answers=True)
    bus.subscribe("bus:*", got)
    assert (await bus.request(Ask())).number == 7
    await bus.drain()
    assert len(got.events) == 1


async def test_observer_fails(bus):
    """A fault of who only watches does not touch the requester."""

    async def fails(event):
        raise LookupError("mine alone")

    bus.subscribe("q:ask", fails)
    bus.subscribe(Ask, answering(bus), answers=True)
    assert await bus.request(Ask()) == Answer(number=1)


async def test_one_of_two_responders_fails(bus):
    """As long as one is left who may answer, the request waits."""

    async def fails(event):
        raise LookupError("not me")

    bus.subscribe(Ask, fails, answers=True)
    bus.subscribe(Ask, answering(bus), answers=True)
    assert await bus.request(Ask()) == Answer(number=1)


async def test_two_replies(bus):
    """The first counts, the second is late."""
    bus.subscribe(Ask, answering(bus), answers=True)
    bus.subscribe(Ask, answering(bus), answers=True)
    assert await bus.request(Ask()) == Answer(number=1)
    await bus.drain()
    assert bus.statistics().late_replies == 1


async def test_reply_after_handler_returned(bus, recorder):
    """A reply may come from any task, long after the handler."""
    kept = recorder()
    bus.subscribe(Ask, kept, answers=True)
    task = asyncio.create_task(bus.request(Ask()))
    await kept.entered.wait()
    await bus.drain()
    assert not task.done()
    await bus.reply(kept.events[0], Answer(number=5))
    assert (await task).number == 5


async def test_reply_to_published_event(bus, recorder):
    """Who publishes a request instead of asking finds the reply by its correlation id."""
    got = recorder()
    bus.subscribe(Ask, answering(bus), answers=True)
    bus.subscribe(Answer, got)
    event = await bus.publish(Ask())
    await bus.drain()
    assert got.events[0].correlation_id == event.id
    assert bus.statistics().late_replies == 0


async def test_reply_of_wrong_type(bus):
    """It is the responder's fault, and both learn of it."""

    async def wrong(event):
        await bus.reply(event, Other())

    bus.subscribe(Ask, wrong, answers=True)
    with pytest.raises(HandlerFailedError, match="answered by Answer, not by Other") as caught:
        await bus.request(Ask())
    assert isinstance(caught.value.error, ReplyTypeError)


async def test_responder_closes_with_request_queued(bus, recorder):
    """The requester learns at once."""
    slow = recorder()
    slow.gate.clear()
    subscription = bus.subscribe(Ask, slow, answers=True, name="clerk")
    await bus.publish(Ask())
    task = asyncio.create_task(bus.request(Ask(number=1), timeout=None))
    await slow.entered.wait()
    subscription.close()
    with pytest.raises(ResponderClosedError, match="'clerk'"):
        await task
    slow.gate.set()


async def test_responder_closes_after_handler_returned(bus, recorder):
    """A reply that was to come later does not come any more."""
    kept = recorder()
    subscription = bus.subscribe(Ask, kept, answers=True)
    task = asyncio.create_task(bus.request(Ask(), timeout=None))
    await kept.entered.wait()
    await bus.drain()
    subscription.close()
    with pytest.raises(ResponderClosedError):
        await task


async def test_responder_closes_in_its_handler(bus):
    """A handler that is running may still reply, though its subscription is closed."""

    async def once(event):
        subscription.close()
        await asyncio.sleep(1)
        await bus.reply(event, Answer(number=3))

    subscription = bus.subscribe(Ask, once, answers=True)
    assert (await bus.request(Ask())).number == 3
    with pytest.raises(NoResponderError):
        await bus.request(Ask())


async def test_responder_closes_in_its_handler_and_says_nothing(bus):
    """When it ends without a reply, the requester learns of it."""

    async def once(event):
        subscription.close()

    subscription = bus.subscribe(Ask, once, answers=True)
    with pytest.raises(ResponderClosedError):
        await bus.request(Ask(), timeout=None)


async def test_request_from_own_handler_refused(bus):
    """It could only be answered after the handler that waits for it; with more workers too."""
    errors = []

    async def asks_itself(event):
        try:
            await bus.request(Ask(), timeout=None)
        except RequestCycleError as error:
            errors.append(str(error))
        await bus.reply(event, Answer(number=9))

    bus.subscribe(Ask, asks_itself, answers=True, name="clerk", concurrency=4)
    assert (await bus.request(Ask())).number == 9
    assert len(errors) == 1
    assert "clerk waits for clerk" in errors[0]


async def test_request_back_to_requester_refused(bus):
    """A asks B, whose handler asks A: refused at once, also over a chain."""

    async def first(event):
        answer = await bus.request(AskAgain(), timeout=None)
        await bus.reply(event, answer)

    async def second(event):
        await bus.request(Ask(), timeout=None)

    bus.subscribe(Ask, first, answers=True, name="first", concurrency=2)
    bus.subscribe(AskAgain, second, answers=True, name="second")
    with pytest.raises(HandlerFailedError, match="first waits for second waits for first"):
        await bus.request(Ask(), timeout=None)


async def test_request_in_handler_overtakes_outbox(bus, recorder):
    """It does not wait behind what the handler has published."""
    got = recorder()
    bus.subscribe(AskAgain, answering(bus), answers=True)
    bus.subscribe(["q:again", "q:other"], got)

    async def asks(event):
        await bus.publish(Other())
        await bus.reply(event, await bus.request(AskAgain()))

    bus.subscribe(Ask, asks, answers=True)
    assert (await bus.request(Ask())).number == 1
    await bus.drain()
    assert [event.type for event in got.events] == ["q:again", "q:other"]


async def test_requests_gathered_in_handler(bus):
    """Several at once, from child tasks of the handler."""
    bus.subscribe(AskAgain, answering(bus), answers=True)

    async def asks(event):
        answers = await asyncio.gather(*(bus.request(AskAgain(number=number)) for number in range(5)))
        await bus.reply(event, Answer(number=sum(answer.number for answer in answers)))

    bus.subscribe(Ask, asks, answers=True)
    assert (await bus.request(Ask())).number == 15


class Pushy(Request[Answer]):
    event_type: ClassVar[str] = "q:pushy"
    reply_type: ClassVar[type[Payload]] = Answer
    overflow: ClassVar[Overflow] = Overflow.DROP_OLDEST
    number: int = 0

    def can_replace(self, pending):
        return True


class Merging(Pushy):
    event_type: ClassVar[str] = "q:merging"
    overflow: ClassVar[Overflow] = Overflow.COALESCE


class Refused(Pushy):
    event_type: ClassVar[str] = "q:refused"
    overflow: ClassVar[Overflow] = Overflow.RAISE


@pytest.mark.parametrize("kind", [Pushy, Merging])
async def test_awaited_request_is_never_dropped(bus, kind):
    """Neither dropped for a newer one nor coalesced away, whatever the policy."""
    bus.subscribe(kind, answering(bus), answers=True, capacity=1)
    answers = await asyncio.gather(*(bus.request(kind(number=number)) for number in range(20)))
    assert [answer.number for answer in answers] == list(range(1, 21))


async def test_request_refused_by_full_queue(bus, recorder, settle):
    """With `Overflow.RAISE` the requester learns at once."""
    slow = recorder()
    slow.gate.clear()
    bus.subscribe(Refused, slow, answers=True, capacity=1)
    await bus.publish(Refused())
    await settle()
    await bus.publish(Refused())
    with pytest.raises(QueueFullError):
        await bus.request(Refused(), timeout=None)


async def test_answered_request_is_freed(bus):
    """Nothing keeps a request alive once it is answered."""
    bus.subscribe(Ask, answering(bus), answers=True)
    ask = Ask(number=1)
    gone = weakref.ref(ask)
    await bus.request(ask)
    await bus.drain()
    del ask
    gc.collect()
    assert gone() is None


async def test_cancelled_before_it_could_see_the_failure(bus, recorder, settle, caplog):
    """Its responder failed while it waited for room, then it was cancelled: no forgotten error is reported."""
    stuck = recorder()
    stuck.gate.clear()

    async def fails(event):
        raise LookupError

    bus.subscribe(["q:ask", "q:other"], stuck, capacity=1)
    bus.subscribe(Ask, fails, answers=True)
    bus.subscribe("bus:*", recorder())  # else the fault is logged, and the log keeps everything alive
    for _ in range(2):
        await bus.publish(Other())
        await settle()
    task = asyncio.create_task(bus.request(Ask(), timeout=None))
    await settle()
    assert not task.done()
    task.cancel()
    await settle()
    assert task.cancelled()
    del task
    gc.collect()
    assert "never retrieved" not in caplog.text
