"""The seam: the same promises hold when events travel as JSON through something else."""

from __future__ import annotations

import asyncio
import json
from typing import ClassVar

import pytest

from bus import EventBus, InMemoryTransport, Payload, Request, RequestTimeoutError


class Answer(Payload):
    event_type: ClassVar[str] = "q:answer"
    number: int = 0


class Ask(Request[Answer]):
    event_type: ClassVar[str] = "q:ask"
    reply_type: ClassVar[type[Payload]] = Answer
    number: int = 0


class Broker:
    """Carries events as bytes over a queue, as a message broker would; some messages may be lost."""

    def __init__(self, *, lost=()):
        self.lost = lost
        self.carried = []
        self.stopped = 0

    def start(self, inlet):
        self.inlet = inlet
        self.messages = asyncio.Queue()
        self.task = None

    def send(self, event):
        if self.task is None:
            self.task = asyncio.get_running_loop().create_task(self.carry())
        self.messages.put_nowait(json.dumps(event.to_wire()).encode())
        return

    async def carry(self):
        while True:
            message = await self.messages.get()
            kind = json.loads(message)["type"]
            self.carried.append(kind)
            if kind not in self.lost:
                await self.inlet.receive(message)

    async def stop(self):
        self.stopped += 1
        if self.task is not None:
            self.task.cancel()


async def test_request_over_a_broker(recorder):
    """Request and reply travel as bytes; the requester gets its answer, watchers see both."""
    broker = Broker()
    async with EventBus(transport=broker, payload_types=[Ask, Answer]) as bus:
        got = recorder()

        async def answer(event):
            await bus.reply(event, Answer(number=event.data.number + 1))

        bus.subscribe(Ask, answer, answers=True)
        bus.subscribe("q:*", got)
        assert (await bus.request(Ask(number=1))).number == 2
        await asyncio.sleep(1)
        await bus.drain()
        assert [event.type for event in got.events] == ["q:ask", "q:answer"]
        assert got.events[1].correlation_id == got.events[0].id
    assert broker.carried == ["q:ask", "q:answer"]
    assert broker.stopped == 1


async def test_lost_by_the_broker(recorder):
    """A request that the broker loses times out and leaves nothing."""
    async with EventBus(transport=Broker(lost=["q:ask"]), payload_types=[Ask, Answer]) as bus:
        bus.subscribe(Ask, recorder(), answers=True)
        with pytest.raises(RequestTimeoutError):
            await bus.request(Ask(), timeout=1)
        assert bus.statistics().pending_requests == 0


async def test_in_memory_hands_over_the_object(recorder):
    """Nothing is copied within the process."""
    got = recorder()
    ask = Ask()
    async with EventBus(transport=InMemoryTransport()) as bus:
        bus.subscribe(Ask, got)
        await bus.publish(ask)
    assert got.data[0] is ask
