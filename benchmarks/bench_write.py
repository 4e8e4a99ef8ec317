"""How fast memory acknowledges durable writes, beside SQLite and a plain append that store the same messages.

`python -m benchmarks.bench_write` prints a table and two lines; with `--check` it ends with 1 when memory misses its
limits. All contenders take turns within each repetition, on the same file system, so that a busy machine is unfair to
none; figures are medians, ratios are taken within a repetition. Memory is the real one: on the bus, with layers, index
and files, and with the settings that it has by default.
"""

from __future__ import annotations

import argparse
import asyncio
import gc
import itertools
import os
import random
import sqlite3
import statistics
import sys
import tempfile
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path

from rich import box
from rich.console import Console
from rich.table import Table

from bus import Gateway
from contracts import MemoryWrite, MessageContent, MessagesContent
from openclaw_memory import Memory, MemoryConfig
from openclaw_memory.context.tokens import EstimateCounter
from openclaw_memory.storage.files import PRIVATE_FILE, LocalFiles, OpenFile

WRITERS = (1, 8, 64)
OURS, SQLITE, APPEND = "memory", "SQLite", "append + fsync"
LEAST = {1: 0.4, 64: 1.5}
"""Times SQLite, by writers."""
MOST_AMPLIFIED = 12.0
LONGEST_PAUSE = 0.020
PACE = 50
"""Messages a second of the paced run."""
SESSIONS = 8
"""Sessions of the paced run."""
WARM_UP = 0.2
"""Seconds of writing before the clock starts."""
BEAT = 0.001
"""Seconds between two looks at how late the event loop is."""

Write = Callable[[], Awaitable[object]]
Opened = AbstractAsyncContextManager[list[Iterator[Write]]]
Contender = Callable[[Path, Sequence[str], int], Opened]
"""From a folder, texts and a number of writers to an endless row of writes for each of them."""


class CountingFiles(LocalFiles):
    """The real disk, with a count of the bytes that are written to it."""

    def __init__(self) -> None:
        self.written = 0

    def create(self, path: Path, mode: int = PRIVATE_FILE) -> OpenFile:
        """Open a new file."""
        return _CountingFile(super().create(path, mode), self)

    def open_append(self, path: Path) -> OpenFile:
        """Open a file for appending."""
        return _CountingFile(super().open_append(path), self)


class _CountingFile:
    def __init__(self, inner: OpenFile, files: CountingFiles) -> None:
        self._files = files
        self._append, self._append_synced = inner.append, inner.append_synced
        self.sync, self.stamp, self.close = inner.sync, inner.stamp, inner.close
        self.has_name = inner.has_name

    def append(self, data: bytes) -> None:
        self._files.written += len(data)
        self._append(data)

    def append_synced(self, data: bytes) -> None:
        self._files.written += len(data)
        self._append_synced(data)


def texts(count: int, seed: int = 1) -> list[str]:
    """Make messages as long as people's and assistants' are: 30 to 1,000 bytes, 390 on average; a third is Chinese."""
    chance = random.Random(seed)
    letters, han = "etaoinshrdlucmfwypvbgkjqxz", [chr(0x4E00 + 7 * number) for number in range(2_000)]
    words = ["".join(chance.choices(letters, k=chance.randint(2, 9))) for _ in range(8_000)]
    chinese = ["".join(chance.choices(han, k=chance.randint(1, 3))) for _ in range(8_000)]
    likely = list(itertools.accumulate(1 / (rank + 10) for rank in range(len(words))))
    made = []
    for number in range(count):
        size = chance.randint(30, 250) if number % 2 == 0 else chance.randint(200, 1_000)
        if chance.random() < 1 / 3:
            made.append("".join(chance.choices(chinese, cum_weights=likely, k=size // 6)))
        else:
            made.append(" ".join(chance.choices(words, cum_weights=likely, k=size // 6)))
    return made


@asynccontextmanager
async def remembering(
    folder: Path, texts: Sequence[str], writers: int, files: LocalFiles | None = None
) -> AsyncIterator[list[Iterator[Write]]]:
    """Memory on a bus; each writer is a session, and waits for its reply."""
    memory = Memory(MemoryConfig(root=folder, timezone="UTC"), files=files, counter=EstimateCounter())
    async with Gateway() as gateway:
        await gateway.register(memory)
        bus = gateway.bus

        def write_of(writer: int, text: str) -> Write:
            content = MessageContent(role="user", content=text)
            payload = MemoryWrite(type="conversation", session_id=f"session-{writer}", content=content)

            async def write() -> None:
                reply = await bus.request(payload, timeout=60)
                assert reply.success, reply.message
                assert reply.durability == "synced"

            return write

        yield [
            itertools.cycle([write_of(writer, text) for text in texts[writer::writers]]) for writer in range(writers)
        ]


@asynccontextmanager
async def _in_thread(
    open_store: Callable[[], tuple[Callable[[str], None], Callable[[], None]]], texts: Sequence[str], writers: int
) -> AsyncIterator[list[Iterator[Write]]]:
    """Do what blocks in one thread of its own: one call a write, as a program on asyncio has to."""
    loop = asyncio.get_running_loop()
    with ThreadPoolExecutor(1) as thread:
        store, close = await loop.run_in_executor(thread, open_store)

        def write_of(text: str) -> Write:
            return lambda: loop.run_in_executor(thread, store, text)

        yield [itertools.cycle([write_of(text) for text in texts[writer::writers]]) for writer in range(writers)]
        await loop.run_in_executor(thread, close)


def sqlite(folder: Path, texts: Sequence[str], writers: int) -> Opened:
    """One connection in a thread, WAL and `synchronous=FULL`, one row a transaction; no full-text index."""

    def open_store() -> tuple[Callable[[str], None], Callable[[], None]]:
        connection = sqlite3.connect(folder / "messages.sqlite", isolation_level=None)
        connection.execute("PRAGMA journal_mode=WAL")
        connection.execute("PRAGMA synchronous=FULL")
        connection.execute("CREATE TABLE messages (id INTEGER PRIMARY KEY, time TEXT, content TEXT)")

        def store(text: str) -> None:
            now = datetime.now(UTC).isoformat()
            connection.execute("INSERT INTO messages (time, content) VALUES (?, ?)", (now, text))

        return store, connection.close

    return _in_thread(open_store, texts, writers)


def append(folder: Path, texts: Sequence[str], writers: int) -> Opened:
    """One line and one `fdatasync` a message."""

    def open_store() -> tuple[Callable[[str], None], Callable[[], None]]:
        descriptor = os.open(folder / "messages.log", os.O_WRONLY | os.O_APPEND | os.O_CREAT)

        def store(text: str) -> None:
            os.write(descriptor, f"{datetime.now(UTC).isoformat()} {text}\n".encode())
            os.fdatasync(descriptor)

        return store, lambda: os.close(descriptor)

    return _in_thread(open_store, texts, writers)


CONTENDERS: dict[str, Contender] = {OURS: remembering, SQLITE: sqlite, APPEND: append}


class Heart:
    """Beats every millisecond, and notes how late the event loop let it."""

    def __init__(self) -> None:
        self.late: list[float] = []

    @asynccontextmanager
    async def beating(self) -> AsyncIterator[None]:
        """Beat while the body runs."""
        task = asyncio.create_task(self._beat())
        try:
            yield
        finally:
            task.cancel()

    async def _beat(self) -> None:
        while True:
            start = time.perf_counter()
            await asyncio.sleep(BEAT)
            self.late.append(time.perf_counter() - start - BEAT)


@dataclass
class Figures:
    """What was measured of one contender with so many writers; one figure a repetition, but for `acknowledged`."""

    rates: list[float] = field(default_factory=list)
    acknowledged: list[float] = field(default_factory=list)
    """Seconds of each write."""
    pauses: list[float] = field(default_factory=list)
    """Longest pause of the event loop in seconds."""


@asynccontextmanager
async def started() -> AsyncIterator[None]:
    """Do what a program that has started should do: collect garbage, and have the collector pass over all that is left.

    Collecting goes on, and its pauses count. Without this each full collection goes through every object of the
    program, its modules and its history; that takes 50 to 200 ms.
    """
    gc.collect()
    gc.freeze()
    try:
        yield
    finally:
        gc.unfreeze()


async def storm(contender: Contender, texts: Sequence[str], writers: int, seconds: float, root: Path) -> Figures:
    """Let all write as fast as they can."""
    taken: list[float] = []
    heart = Heart()
    with tempfile.TemporaryDirectory(dir=root) as folder:
        async with contender(Path(folder), texts, writers) as rows, started():
            begin = time.perf_counter() + WARM_UP
            end = begin + seconds

            async def write_on(row: Iterator[Write]) -> None:
                for write in row:
                    start = time.perf_counter()
                    await write()
                    now = time.perf_counter()
                    if now > end:
                        return
                    if start >= begin:
                        taken.append(now - start)

            async with heart.beating(), asyncio.TaskGroup() as group:
                for row in rows:
                    group.create_task(write_on(row))
    return Figures([len(taken) / seconds], taken, [max(heart.late)])


@dataclass
class Paced:
    """What was measured at a steady pace: bytes that were written and that the messages have, the longest pause."""

    written: int
    content: int
    pause: float
    acknowledged: list[float]

    @property
    def amplified(self) -> float:
        """Bytes written for each byte of a message."""
        return self.written / self.content


async def remember_history(folder: Path, texts: Sequence[str]) -> None:
    """Fill a folder with the messages of earlier days, 500 a day."""
    async with Gateway() as gateway:
        await gateway.register(Memory(MemoryConfig(root=folder, timezone="UTC"), counter=EstimateCounter()))
        day = datetime.now(UTC) - timedelta(days=len(texts) // 500 + 1)
        for at in range(0, len(texts), 500):
            said = tuple(
                MessageContent(role="user", content=text, timestamp=day + timedelta(seconds=number))
                for number, text in enumerate(texts[at : at + 500])
            )
            content = MessagesContent(messages=said)
            await gateway.bus.request(
                MemoryWrite(type="conversation", session_id="earlier", content=content), timeout=60
            )
            day += timedelta(days=1)


async def pace(folder: Path, texts: Sequence[str], seconds: float) -> Paced:
    """Write `PACE` messages a second; all that is written from the first of them until memory was closed counts."""
    files, heart = CountingFiles(), Heart()
    taken: list[float] = []
    said = texts[: int(seconds * PACE)]
    async with remembering(folder, said, SESSIONS, files) as rows, started():
        before = files.written

        async def write(row: Iterator[Write]) -> None:
            start = time.perf_counter()
            await next(row)()
            taken.append(time.perf_counter() - start)

        start = time.perf_counter()
        async with heart.beating(), asyncio.TaskGroup() as group:
            for number in range(len(said)):
                await asyncio.sleep(max(0.0, start + number / PACE - time.perf_counter()))
                group.create_task(write(rows[number % SESSIONS]))
    return Paced(files.written - before, sum(len(text.encode()) for text in said), max(heart.late), taken)


Measured = dict[tuple[str, int], Figures]
"""Figures by contender and number of writers."""


def measure(repetitions: int, seconds: float, root: Path) -> Measured:
    """Let all contenders take turns, `repetitions` times."""
    said = texts(4_096)
    figures: Measured = {(name, writers): Figures() for name in CONTENDERS for writers in WRITERS}
    for repetition in range(repetitions):
        names = list(CONTENDERS) if repetition % 2 == 0 else list(CONTENDERS)[::-1]
        for writers in WRITERS:
            for name in names:
                one = asyncio.run(storm(CONTENDERS[name], said, writers, seconds, root))
                mine = figures[name, writers]
                mine.rates += one.rates
                mine.acknowledged += one.acknowledged
                mine.pauses += one.pauses
    return figures


def ratios(figures: Measured, name: str, writers: int) -> list[float]:
    """Return a contender's rate divided by that of SQLite beside it, for each repetition, sorted."""
    pairs = zip(figures[name, writers].rates, figures[SQLITE, writers].rates, strict=True)
    return sorted(one / other for one, other in pairs)


def shortfalls(figures: Measured, paced: Sequence[Paced]) -> list[str]:
    """Return the limits that memory misses, each judged by the median of the repetitions."""
    missed = []
    for writers, least in LEAST.items():
        ratio = statistics.median(ratios(figures, OURS, writers))
        if ratio < least:
            missed.append(f"{writers} writers: {ratio:.2f} of SQLite, not {least}")
    amplified = statistics.median(one.amplified for one in paced)
    if amplified >= MOST_AMPLIFIED:
        missed.append(f"{amplified:.1f} bytes written for each byte, not below {MOST_AMPLIFIED:.0f}")
    for what, pauses in (
        (f"at {PACE} messages/s", [one.pause for one in paced]),
        (f"with {WRITERS[-1]} writers", figures[OURS, WRITERS[-1]].pauses),
    ):
        if (pause := statistics.median(pauses)) >= LONGEST_PAUSE:
            missed.append(f"the event loop paused {pause * 1e3:.0f} ms {what}, not below {LONGEST_PAUSE * 1e3:.0f}")
    return missed


def table(figures: Measured) -> Table:
    """Lay the figures out."""
    shown = Table(title="Acknowledged durable writes", box=box.SIMPLE)
    for heading in ("", "writers", "a second", "times SQLite (spread)", "p50 / p99 ms", "longest pause ms (worst)"):
        shown.add_column(heading, justify="left" if not heading else "right", no_wrap=True)
    for (name, writers), mine in figures.items():
        times = ratios(figures, name, writers)
        p99 = statistics.quantiles(mine.acknowledged, n=100)[98]
        shown.add_row(
            name,
            str(writers),
            f"{statistics.median(mine.rates):,.0f}",
            f"{statistics.median(times):.2f} ({times[0]:.2f}-{times[-1]:.2f})",
            f"{statistics.median(mine.acknowledged) * 1e3:.2f} / {p99 * 1e3:.2f}",
            f"{statistics.median(mine.pauses) * 1e3:.1f} ({max(mine.pauses) * 1e3:.1f})",
            end_section=writers == WRITERS[-1],
        )
    return shown


def file_system(folder: Path) -> str:
    """Tell the kind of file system of a folder, where Linux says so."""
    try:
        mounts = Path("/proc/self/mounts").read_text(encoding="utf-8").splitlines()
    except OSError:
        return "a file system of unknown kind"
    kinds = {place: kind for _, place, kind, *_ in map(str.split, mounts)}
    return next(kinds[str(place)] for place in (folder, *folder.parents) if str(place) in kinds)


def main(arguments: Sequence[str] | None = None) -> int:
    """Measure, print, and with `--check` judge."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--check", action="store_true", help="end with 1 when memory misses its limits")
    parser.add_argument("--folder", type=Path, default=Path(), help="where the files are made (default: here)")
    parser.add_argument("--repetitions", type=int, default=5, help="how often everything is measured (default: 5)")
    parser.add_argument("--seconds", type=float, default=1.0, help="seconds of each storm (default: 1)")
    parser.add_argument("--paced-seconds", type=float, default=12.0, help="seconds of each paced run (default: 12)")
    parser.add_argument("--paced-repetitions", type=int, default=3, help="how often that is done (default: 3)")
    parser.add_argument("--history", type=int, default=20_000, help="messages held before (default: 20,000)")
    options = parser.parse_args(arguments)
    root: Path = options.folder.resolve()
    console = Console()
    if not console.is_terminal:
        console = Console(width=120)
    console.print(f"On {file_system(root)}, {os.cpu_count()} processors, Python {sys.version.split()[0]}")
    figures = measure(options.repetitions, options.seconds, root)
    console.print(table(figures))

    paced = []
    for seed in range(options.paced_repetitions):
        with tempfile.TemporaryDirectory(dir=root) as folder:
            asyncio.run(remember_history(Path(folder), texts(options.history)))
            gc.collect()
            said = texts(int(options.paced_seconds * PACE), seed=seed + 2)
            paced.append(asyncio.run(pace(Path(folder), said, options.paced_seconds)))
    taken = sorted(itertools.chain.from_iterable(one.acknowledged for one in paced))
    console.print(
        f"{PACE} messages/s for {options.paced_seconds:g} s, {options.history:,} held before: "
        f"{statistics.median(one.amplified for one in paced):.1f} bytes written for each byte of a message; "
        f"acknowledged after {statistics.median(taken) * 1e3:.2f} / {statistics.quantiles(taken, n=100)[98] * 1e3:.2f} "
        f"ms (p50 / p99); longest pause {statistics.median(one.pause for one in paced) * 1e3:.1f} ms "
        f"({max(one.pause for one in paced) * 1e3:.1f} at worst)"
    )
    missed = shortfalls(figures, paced)
    for told in missed:
        console.print(f"Limit missed: {told}", style="red")
    return 1 if options.check and missed else 0


if __name__ == "__main__":
    sys.exit(main())
