"""Plugins: started in order, failing cleanly, stopped in reverse without losing anything."""

from __future__ import annotations

import asyncio
from typing import ClassVar

import pytest

from bus import (
    DuplicatePluginError,
    EventBus,
    Gateway,
    GatewayClosedError,
    Payload,
    Plugin,
    PluginStartError,
    PluginStopError,
    Request,
)


class Written(Payload):
    event_type: ClassVar[str] = "p:written"
    number: int = 0


class Write(Request[Written]):
    event_type: ClassVar[str] = "p:write"
    reply_type: ClassVar[type[Payload]] = Written
    number: int = 0


class Noted(Payload):
    event_type: ClassVar[str] = "p:noted"
    number: int = 0


class Fake:
    """A plugin that writes into `log` what happens to it."""

    def __init__(self, name, log, *, start_error=None, stop_error=None):
        self.name = name
        self.log = log
        self.start_error = start_error
        self.stop_error = stop_error

    async def start(self, bus):
        self.bus = bus
        self.subscription = bus.subscribe("p:*", self.handle, name=self.name)
        self.log.append(f"start {self.name}")
        if self.start_error is not None:
            raise self.start_error

    async def stop(self):
        self.log.append(f"stop {self.name}")
        if self.stop_error is not None:
            raise self.stop_error

    async def handle(self, event):
        self.log.append(f"{self.name} {event.type}")


async def test_order():
    """Started in order, stopped in reverse; the bus is closed in the end."""
    log = []
    async with Gateway() as gateway:
        for name in "abc":
            plugin = Fake(name, log)
            assert isinstance(plugin, Plugin)
            await gateway.register(plugin)
        assert [plugin.name for plugin in gateway.plugins] == ["a", "b", "c"]
        assert gateway.report is None
    assert log == ["start a", "start b", "start c", "stop c", "stop b", "stop a"]
    assert gateway.report.quiescent
    assert gateway.plugins == ()


async def test_started_side_by_side():
    """Plugins registered at once are started one after the other."""
    log = []

    class Slow(Fake):
        async def start(self, bus):
            log.append(f"begin {self.name}")
            await asyncio.sleep(1)
            await super().start(bus)

    async with Gateway() as gateway:
        await asyncio.gather(*(gateway.register(Slow(name, log)) for name in "ab"))
    assert log[:4] == ["begin a", "start a", "begin b", "start b"]


async def test_start_fails():
    """The error names the plugin; its subscriptions are closed, others go on, and the name is free."""
    log = []
    async with Gateway() as gateway:
        await gateway.register(Fake("good", log))
        with pytest.raises(PluginStartError, match=r"'bad'.*OSError: no disk") as caught:
            await gateway.register(Fake("bad", log, start_error=OSError("no disk")))
        assert isinstance(caught.value.__cause__, OSError)
        await gateway.bus.publish(Noted())
        await gateway.bus.drain()
        await gateway.register(Fake("bad", log))
    assert log == ["start good", "start bad", "good p:noted", "start bad", "stop bad", "stop good"]


async def test_start_cancelled():
    """Cancelled in the middle of its start: nothing of it is left."""
    log = []

    class Hangs(Fake):
        async def start(self, bus):
            await super().start(bus)
            await asyncio.Event().wait()

    async with Gateway() as gateway:
        task = asyncio.create_task(gateway.register(Hangs("hangs", log)))
        await asyncio.sleep(1)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        assert gateway.bus.statistics().subscriptions == ()
    assert log == ["start hangs"]


async def test_start_error_ends_block():
    """When the error leaves the block, what was started is stopped."""
    log = []
    with pytest.raises(PluginStartError):  # noqa: PT012
        async with Gateway() as gateway:
            await gateway.register(Fake("good", log))
            await gateway.register(Fake("bad", log, start_error=OSError()))
    assert log[-1] == "stop good"


async def test_stop_fails():
    """The others are stopped, the bus is closed, then the error is raised; the report has it too."""
    log = []
    gateway = Gateway()
    with pytest.raises(PluginStopError, match="'b': OSError: full"):  # noqa: PT012
        async with gateway:
            await gateway.register(Fake("a", log))
            await gateway.register(Fake("b", log, stop_error=OSError("full")))
    assert log[-2:] == ["stop b", "stop a"]
    assert gateway.report.faults == ("b: OSError: full",)


async def test_stop_fails_after_block_failed():
    """The error of the block is what the caller sees."""
    with pytest.raises(LookupError):  # noqa: PT012
        async with Gateway() as gateway:
            await gateway.register(Fake("a", [], stop_error=OSError()))
            raise LookupError


async def test_nothing_is_lost_at_the_end(recorder):
    """A plugin that commits late: requests open at the end are answered, what it publishes in `stop` is received."""
    got = recorder()

    class Late:
        name = "late"

        async def start(self, bus):
            self.bus = bus
            self.kept = []
            bus.subscribe(Write, self.keep, answers=True)
            bus.subscribe(Noted, got)

        async def keep(self, event):
            self.kept.append(event)

        async def stop(self):
            for event in self.kept:
                await self.bus.reply(event, Written(number=event.data.number))
            await self.bus.publish(Noted())

    async with Gateway() as gateway:
        await gateway.register(Late())
        tasks = [asyncio.create_task(gateway.bus.request(Write(number=number), timeout=None)) for number in range(5)]
        await asyncio.sleep(0)
    assert [(await task).number for task in tasks] == list(range(5))
    assert len(got.events) == 1
    assert gateway.report.quiescent
    assert gateway.report.dropped == ()


async def test_report_of_what_hung():
    """A handler that hangs is given up after the time limit, and the report names it."""

    class Hangs(Fake):
        async def handle(self, event):
            await asyncio.Event().wait()

    start = asyncio.get_running_loop().time()
    async with Gateway(drain_timeout=2) as gateway:
        await gateway.register(Fake("first", []))
        await gateway.register(Hangs("hangs", []))
        await gateway.bus.publish(Noted())
        await gateway.bus.publish(Noted())
    assert not gateway.report.quiescent
    assert gateway.report.stuck == ("hangs",)
    assert asyncio.get_running_loop().time() - start == pytest.approx(2)
    assert {drop.reason: drop.count for drop in gateway.report.dropped} == {
        "subscription closed": 1,
        "handler cancelled": 1,
    }


async def test_duplicate_name():
    """Reports go by name."""
    async with Gateway() as gateway:
        await gateway.register(Fake("a", []))
        with pytest.raises(DuplicatePluginError, match="'a'"):
            await gateway.register(Fake("a", []))


async def test_register_outside_block():
    """Only an open Gateway takes plugins."""
    gateway = Gateway()
    with pytest.raises(GatewayClosedError):
        await gateway.register(Fake("a", []))
    async with gateway:
        pass
    with pytest.raises(GatewayClosedError):
        await gateway.register(Fake("a", []))


async def test_given_bus():
    """A bus may be given; it is closed with the Gateway."""
    bus = EventBus("mine")
    async with Gateway(bus) as gateway:
        assert gateway.bus is bus
    assert (await bus.close()).quiescent
