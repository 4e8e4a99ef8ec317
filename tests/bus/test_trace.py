"""Hooks see what happens, and cannot do harm."""

from __future__ import annotations

from typing import ClassVar

import pytest

from bus import EventBus, Overflow, Payload, QueueFullError, Request, RequestTimeoutError


class Answer(Payload):
    event_type: ClassVar[str] = "q:answer"


class Ask(Request[Answer]):
    event_type: ClassVar[str] = "q:ask"
    reply_type: ClassVar[type[Payload]] = Answer


class Refused(Payload):
    event_type: ClassVar[str] = "q:refused"
    overflow: ClassVar[Overflow] = Overflow.RAISE


class Said(Payload):
    event_type: ClassVar[str] = "q:said"


class Log:
    def __init__(self):
        self.lines = []
        self.infos = []

    def __call__(self, name, info):
        self.lines.append((name, info["event"].type))
        self.infos.append(info)


async def test_request_and_reply():
    """Start and end of the request, the handling, and the reply that is published after it."""
    log = Log()
    async with EventBus(trace=log) as bus:

        async def answer(event):
            await bus.reply(event, Answer())

        bus.subscribe(Ask, answer, answers=True, name="clerk")
        await bus.request(Ask())
    assert sorted(log.lines) == sorted(
        [
            ("request.started", "q:ask"),
            ("handle.started", "q:ask"),
            ("publish.started", "q:answer"),
            ("handle.complete", "q:ask"),
            ("publish.complete", "q:answer"),
            ("request.complete", "q:ask"),
        ]
    )
    assert log.lines[:2] == [("request.started", "q:ask"), ("handle.started", "q:ask")]
    by_name = dict(zip([name for name, _ in log.lines], log.infos, strict=True))
    assert by_name["handle.started"]["subscription"] == "clerk"
    assert by_name["request.complete"]["reply"] == Answer()


async def test_failures(recorder):
    """Each kind of failure is told with its error."""
    log = Log()
    async with EventBus(trace=log, capacity=1) as bus:

        async def fails(event):
            raise LookupError

        bus.subscribe(Said, fails)
        await bus.publish(Said())
        await bus.drain()
        slow = recorder()
        slow.gate.clear()
        bus.subscribe(["q:ask", "q:refused"], slow, answers=True)
        with pytest.raises(RequestTimeoutError):
            await bus.request(Ask(), timeout=1)
        await bus.publish(Refused())
        with pytest.raises(QueueFullError):
            await bus.publish(Refused())
        slow.gate.set()
    errors = {
        name: type(info["error"]) for (name, _), info in zip(log.lines, log.infos, strict=True) if "error" in info
    }
    assert errors == {
        "handle.failed": LookupError,
        "request.failed": RequestTimeoutError,
        "publish.failed": QueueFullError,
    }


async def test_hook_that_fails(caplog, recorder):
    """It is logged and stops nothing."""

    def broken(name, info):
        raise RuntimeError("no exporter")

    got = recorder()
    async with EventBus(trace=broken) as bus:
        bus.subscribe(Said, got)
        await bus.publish(Said())
    assert len(got.events) == 1
    assert "no exporter" in caplog.text
