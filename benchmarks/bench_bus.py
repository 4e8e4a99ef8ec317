"""How fast the bus is, beside a plain `asyncio.Queue` that carries the same payloads, pyee, blinker and bubus.

`python -m benchmarks.bench_bus` prints a table; with `--check` it ends with 1 when the bus misses its limits. All
contenders take turns within each repetition, so that a busy machine is unfair to none; figures are medians. Payloads
are built before the clock starts. Nobody's handler does anything but count.
"""

from __future__ import annotations

import argparse
import asyncio
import gc
import importlib
import logging
import statistics
import sys
import time
import tracemalloc
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar, Protocol

from rich import box
from rich.console import Console
from rich.table import Table

from bus import Event, EventBus, Payload, Request

BURST = 50_000
CAPACITY = 1024
OURS = "bus"
QUEUE = "asyncio.Queue"


class Tock(Payload):
    """The reply."""

    event_type: ClassVar[str] = "bench:tock"
    number: int


class Tick(Request[Tock]):
    """The event that everybody carries."""

    event_type: ClassVar[str] = "bench:tick"
    reply_type: ClassVar[type[Payload]] = Tock
    number: int


class Contender(Protocol):
    """One way to carry events. What it cannot do, it says in words."""

    name: str
    events: int
    """Events of one throughput run."""

    async def carry(self, ticks: Sequence[Tick], subscribers: int) -> float:
        """Carry all `ticks` to so many subscribers; return the seconds."""

    async def round_trips(self, count: int) -> list[float] | str:
        """Ask and be answered `count` times; return the seconds of each."""

    async def burst(self, count: int) -> int | str:
        """Publish `count` events without a pause; return the most events that lay somewhere at once."""


class PlainQueue:
    """A bounded queue a subscriber: the least that any bus on asyncio has to do."""

    name = QUEUE
    events = 20_000

    async def carry(self, ticks: Sequence[Tick], subscribers: int) -> float:
        """Put each tick into every queue."""
        queues: list[asyncio.Queue[Tick]] = [asyncio.Queue(CAPACITY) for _ in range(subscribers)]
        counts = [0] * subscribers

        async def consume(index: int) -> None:
            queue = queues[index]
            for _ in range(len(ticks)):
                await queue.get()
                counts[index] += 1

        consumers = [asyncio.create_task(consume(index)) for index in range(subscribers)]
        start = time.perf_counter()
        for tick in ticks:
            for queue in queues:
                await queue.put(tick)
        await asyncio.gather(*consumers)
        seconds = time.perf_counter() - start
        assert counts == [len(ticks)] * subscribers
        return seconds

    async def round_trips(self, count: int) -> list[float] | str:
        """Send a future along with the tick."""
        queue: asyncio.Queue[tuple[Tick, asyncio.Future[Tock]]] = asyncio.Queue(CAPACITY)

        async def answer() -> None:
            while True:
                tick, future = await queue.get()
                future.set_result(Tock(number=tick.number))

        async def ask() -> None:
            future: asyncio.Future[Tock] = asyncio.get_running_loop().create_future()
            await queue.put((Tick(number=1), future))
            await future

        task = asyncio.create_task(answer())
        seconds = await _time_each(ask, count)
        task.cancel()
        return seconds

    async def burst(self, count: int) -> int | str:
        """See how full the queue gets."""
        queue: asyncio.Queue[Tick] = asyncio.Queue(CAPACITY)
        most = 0

        async def consume() -> None:
            nonlocal most
            for _ in range(count):
                most = max(most, queue.qsize())
                await queue.get()

        consumer = asyncio.create_task(consume())
        for number in range(count):
            await queue.put(Tick(number=number))
        await consumer
        return most


class Ours:
    """The bus of this project."""

    name = OURS
    events = 20_000

    async def carry(self, ticks: Sequence[Tick], subscribers: int) -> float:
        """Publish to so many subscriptions."""
        bus = EventBus(capacity=CAPACITY)
        counts = [0] * subscribers

        def counter(index: int) -> Callable[[Event[Tick]], Awaitable[None]]:
            async def count(event: Event[Tick]) -> None:
                counts[index] += 1

            return count

        for index in range(subscribers):
            bus.subscribe(Tick, counter(index))
        start = time.perf_counter()
        for tick in ticks:
            await bus.publish(tick)
        await bus.drain()
        seconds = time.perf_counter() - start
        await bus.close()
        assert counts == [len(ticks)] * subscribers
        return seconds

    async def round_trips(self, count: int) -> list[float] | str:
        """Request, with the default time limit."""
        async with EventBus(capacity=CAPACITY) as bus:

            async def answer(event: Event[Tick]) -> None:
                await bus.reply(event, Tock(number=event.data.number))

            async def ask() -> None:
                await bus.request(Tick(number=1))

            bus.subscribe(Tick, answer, answers=True)
            return await _time_each(ask, count)

    async def burst(self, count: int) -> int | str:
        """See what the statistics say."""
        async with EventBus(capacity=CAPACITY) as bus:

            async def ignore(event: Event[Tick]) -> None:
                pass

            subscription = bus.subscribe(Tick, ignore)
            for number in range(count):
                await bus.publish(Tick(number=number))
            await bus.drain()
            return subscription.statistics().high_water


class Pyee:
    """An event emitter that starts a task for each handler call."""

    name = "pyee"
    events = 5_000

    def __init__(self) -> None:
        self._emitter: Any = importlib.import_module("pyee.asyncio").AsyncIOEventEmitter

    async def carry(self, ticks: Sequence[Tick], subscribers: int) -> float:
        """Emit, then wait for the tasks; every 1,000 events too, or they would pile up."""
        emitter = self._emitter()
        left = len(ticks) * subscribers

        def counter() -> Callable[[Tick], Awaitable[None]]:
            async def count(tick: Tick) -> None:
                nonlocal left
                left -= 1

            return count

        for _ in range(subscribers):
            emitter.add_listener("tick", counter())
        start = time.perf_counter()
        for number, tick in enumerate(ticks):
            emitter.emit("tick", tick)
            if number % CAPACITY == CAPACITY - 1:
                await emitter.wait_for_complete()
        await emitter.wait_for_complete()
        seconds = time.perf_counter() - start
        assert left == 0
        return seconds

    async def round_trips(self, count: int) -> list[float] | str:
        """There are no replies."""
        return "no requests"

    async def burst(self, count: int) -> int | str:
        """Each event is a task until it has run."""
        emitter = self._emitter()
        waiting = most = 0

        async def ignore(tick: Tick) -> None:
            nonlocal waiting
            waiting -= 1

        emitter.add_listener("tick", ignore)
        for number in range(count):
            waiting += 1
            most = max(most, waiting)
            emitter.emit("tick", Tick(number=number))
        await emitter.wait_for_complete()
        return most


class Blinker:
    """Signals: the publisher calls the handlers itself and waits for them."""

    name = "blinker"
    events = 10_000

    def __init__(self) -> None:
        self._signal: Any = importlib.import_module("blinker").Signal

    async def carry(self, ticks: Sequence[Tick], subscribers: int) -> float:
        """Send and wait for all receivers."""
        signal = self._signal()
        counts = [0] * subscribers

        def counter(index: int) -> Callable[..., Awaitable[None]]:
            async def count(sender: object, tick: Tick) -> None:
                counts[index] += 1

            return count

        receivers = [counter(index) for index in range(subscribers)]
        for receiver in receivers:
            signal.connect(receiver)
        start = time.perf_counter()
        for tick in ticks:
            await signal.send_async(None, tick=tick)
        seconds = time.perf_counter() - start
        assert counts == [len(ticks)] * subscribers
        return seconds

    async def round_trips(self, count: int) -> list[float] | str:
        """The receiver's result, without a queue or a task in between."""
        signal = self._signal()

        async def answer(sender: object, tick: Tick) -> Tock:
            return Tock(number=tick.number)

        async def ask() -> None:
            ((_, _tock),) = await signal.send_async(None, tick=Tick(number=1))

        signal.connect(answer)
        return await _time_each(ask, count)

    async def burst(self, count: int) -> int | str:
        """Nothing is ever queued."""
        return "no queue"


class Bubus:
    """An event bus on pydantic, with history and parents."""

    name = "bubus"
    events = 40

    def __init__(self) -> None:
        self._module: Any = importlib.import_module("bubus")
        logging.getLogger("bubus").setLevel(logging.CRITICAL)
        base = self._module.BaseEvent
        self._tick: Any = type("BubusTick", (base,), {"__annotations__": {"number": int}, "__module__": __name__})

    async def carry(self, ticks: Sequence[Tick], subscribers: int) -> float:
        """Dispatch up to 20 at once, it takes no more than 50; its own events are built before."""
        bus = self._module.EventBus(max_history_size=None)
        events = [self._tick(number=tick.number) for tick in ticks]
        count = 0

        def counter(index: int) -> Callable[[Any], Awaitable[None]]:
            async def handle(event: Any) -> None:
                nonlocal count
                count += 1

            handle.__name__ = f"handle_{index}"
            return handle

        for index in range(subscribers):
            bus.on(self._tick, counter(index))
        start = time.perf_counter()
        for position in range(0, len(events), 20):
            for event in events[position : position + 20]:
                bus.dispatch(event)
            await bus.wait_until_idle()
        seconds = time.perf_counter() - start
        await bus.stop(clear=True)
        assert count == len(ticks) * subscribers
        return seconds

    async def round_trips(self, count: int) -> list[float] | str:
        """Dispatch and wait for the handler's result."""
        bus = self._module.EventBus()

        async def answer(event: Any) -> int:
            number: int = event.number
            return number

        async def ask() -> None:
            await (await bus.dispatch(self._tick(number=1))).event_result()

        bus.on(self._tick, answer)
        seconds = await _time_each(ask, min(count, 50))
        await bus.stop(clear=True)
        return seconds

    async def burst(self, count: int) -> int | str:
        """It raises instead of waiting."""
        bus = self._module.EventBus()

        async def ignore(event: Any) -> None:
            pass

        bus.on(self._tick, ignore)
        outcome: int | str = count
        for number in range(count):
            try:
                bus.dispatch(self._tick(number=number))
            except RuntimeError:
                outcome = f"refuses at {number}"
                break
        await bus.wait_until_idle()
        await bus.stop(clear=True)
        return outcome


@dataclass
class Figures:
    """What was measured of one contender."""

    one: list[float] = field(default_factory=list)
    """Events a second with 1 subscriber, one figure a repetition."""
    ten: list[float] = field(default_factory=list)
    trips: list[float] | str = field(default_factory=list)
    """Seconds of each round trip."""
    most: int | str = 0
    """Most events that lay somewhere during the burst."""
    peak: int = 0
    """Most bytes allocated during the burst."""


async def _time_each(ask: Callable[[], Awaitable[None]], count: int) -> list[float]:
    for _ in range(min(count, 20)):
        await ask()
    seconds = []
    for _ in range(count):
        start = time.perf_counter()
        await ask()
        seconds.append(time.perf_counter() - start)
    return seconds


def find_contenders() -> tuple[list[Contender], list[str]]:
    """Return who takes part, and the names of peers that are not installed."""
    contenders: list[Contender] = [PlainQueue(), Ours()]
    missing = []
    for peer in (Pyee, Blinker, Bubus):
        try:
            contenders.append(peer())
        except ImportError:
            missing.append(peer.__name__.lower())
    return contenders, missing


def measure(contenders: Sequence[Contender], repetitions: int) -> dict[str, Figures]:
    """Let all contenders take turns, `repetitions` times."""
    ticks = [Tick(number=number) for number in range(max(contender.events for contender in contenders))]
    figures = {contender.name: Figures() for contender in contenders}
    for repetition in range(repetitions):
        turns = contenders if repetition % 2 == 0 else contenders[::-1]
        for contender in turns:
            mine, own = figures[contender.name], ticks[: contender.events]
            gc.collect()
            mine.one.append(len(own) / asyncio.run(contender.carry(own, 1)))
            few = own[: max(1, len(own) // 4)]
            mine.ten.append(len(few) / asyncio.run(contender.carry(few, 10)))
            trips = asyncio.run(contender.round_trips(1_000))
            mine.trips = trips if isinstance(trips, str) else [*mine.trips, *trips]
    for contender in contenders:
        gc.collect()
        tracemalloc.start()
        figures[contender.name].most = asyncio.run(contender.burst(BURST))
        figures[contender.name].peak = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
    return figures


def ratio(figures: dict[str, Figures], name: str, subscribers: int) -> float:
    """Return the median, over the repetitions, of a contender's throughput divided by that of the queue beside it."""
    mine, queue = figures[name], figures[QUEUE]
    pairs = zip(mine.one, queue.one, strict=True) if subscribers == 1 else zip(mine.ten, queue.ten, strict=True)
    return statistics.median(one / other for one, other in pairs)


def shortfalls(figures: dict[str, Figures]) -> list[str]:
    """Return the limits that the bus misses: half the queue to 1 subscriber, all of it to 10, 50 µs, its capacity."""
    ours = figures[OURS]
    assert not isinstance(ours.trips, str)
    median = statistics.median(ours.trips) * 1e6
    limits = [
        (ratio(figures, OURS, 1) >= 0.5, f"1 subscriber: {ratio(figures, OURS, 1):.2f} of the queue, not 0.50"),
        (ratio(figures, OURS, 10) >= 1.0, f"10 subscribers: {ratio(figures, OURS, 10):.2f} of the queue, not 1.00"),
        (median < 50, f"round trip: {median:.0f} µs at the median, not below 50"),
        (isinstance(ours.most, int) and ours.most <= CAPACITY, f"burst: {ours.most} events queued, not {CAPACITY}"),
    ]
    return [told for kept, told in limits if not kept]


def table(figures: dict[str, Figures]) -> Table:
    """Lay the figures out."""
    title = "Thousand events/s to 1 and 10 subscribers (times the queue); round trip in µs; burst of 50,000"
    shown = Table(title=title, box=box.SIMPLE)
    for heading in ("", "to 1", "to 10", "p50 / p99", "most queued", "peak"):
        shown.add_column(heading, justify="left" if not heading else "right", no_wrap=True)
    for name, mine in figures.items():
        if isinstance(mine.trips, str):
            trips = mine.trips
        else:
            p99 = statistics.quantiles(mine.trips, n=100)[98]
            trips = f"{statistics.median(mine.trips) * 1e6:,.0f} / {p99 * 1e6:,.0f}"
        shown.add_row(
            name,
            f"{statistics.median(mine.one) / 1_000:,.1f} ({ratio(figures, name, 1):.2f})",
            f"{statistics.median(mine.ten) / 1_000:,.1f} ({ratio(figures, name, 10):.2f})",
            trips,
            mine.most if isinstance(mine.most, str) else f"{mine.most:,}",
            f"{mine.peak / 1_000_000:.1f} MB",
        )
    return shown


def main(arguments: Sequence[str] | None = None) -> int:
    """Measure, print, and with `--check` judge."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--check", action="store_true", help="end with 1 when the bus misses its limits")
    parser.add_argument("--repetitions", type=int, default=9, help="how often everything is measured (default: 9)")
    options = parser.parse_args(arguments)
    contenders, missing = find_contenders()
    figures = measure(contenders, options.repetitions)
    console = Console()
    if not console.is_terminal:
        console = Console(width=110)
    console.print(table(figures))
    if missing:
        console.print(f"Not installed, hence not measured: {', '.join(missing)} (extra `bench`)")
    missed = shortfalls(figures)
    for told in missed:
        console.print(f"Limit missed: {told}", style="red")
    return 1 if options.check and missed else 0


if __name__ == "__main__":
    sys.exit(main())
