"""How fast a whole `memory:read` of 2,000 tokens is answered over the bus, beside 10,000 or 100,000 messages.

`python -m benchmarks.bench_read` prints a table; with `--check` it ends with 1 when memory misses its limits, with
`--million` a million messages are read beside as well. The store is written over the bus, then opened by a process of
its own, whose start, memory and longest pause of the event loop are told. Each read asks from another session, with ten
messages of its own, and each question is asked once: what a read leaves in caches helps the next only as it does in
life. Times are of the clock, as somebody who waits sees them; `--cpu` counts the process's own work instead, for a
machine that has other things to do.
"""

from __future__ import annotations

import argparse
import asyncio
import itertools
import multiprocessing
import statistics
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from rich import box
from rich.console import Console
from rich.table import Table

import openclaw_memory.reading.gathering
from benchmarks.bench_search import MILLION, Messages
from bus import Gateway
from contracts import MemoryContext, MemoryRead, MemoryWrite
from openclaw_memory import Memory, MemoryConfig
from openclaw_memory.retrieval.engines import SafeIndex
from openclaw_memory.retrieval.search import Searcher

SIZES = (10_000, 100_000)
MOST = {10_000: 0.008, 100_000: 0.012, MILLION: 0.025}
"""Seconds of a read, at the median."""
MOST_ASSEMBLY = 0.003
LONGEST_START = 0.5
LONGEST_PAUSE = 0.050
MOST_MEMORY = 350_000_000
TOKENS = 2_000
A_WRITE = 500
"""Messages of one write while the store is made."""
WARM_UP = 5
BEAT = 0.001
"""Seconds between two looks at how late the event loop is."""
TIMEOUT = 60

Clock = Callable[[], float]


@dataclass
class Figures:
    """What was measured. Seconds of each read, and of its parts; bytes."""

    size: int
    start: float = 0.0
    whole: list[float] = field(default_factory=list)
    index: list[float] = field(default_factory=list)
    """Looking into the index for the ranking."""
    ranking: list[float] = field(default_factory=list)
    """The ranking's own."""
    assembly: list[float] = field(default_factory=list)
    """From what was found to the context, tokens counted."""
    pause: float = 0.0
    memory: int = 0
    own_memory: int = 0


class Stopwatch:
    """Adds up what parts of a read take, by name."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self.taken: dict[str, float] = {}

    def watch(self, owner: Any, name: str, part: str) -> None:
        """Put a function in the place of another that does the same and is timed."""
        inner = getattr(owner, name)

        def timed(*arguments: Any, **named: Any) -> Any:
            begin = self._clock()
            try:
                return inner(*arguments, **named)
            finally:
                self.taken[part] = self.taken.get(part, 0.0) + self._clock() - begin

        setattr(owner, name, timed)

    def lap(self) -> dict[str, float]:
        """Give what was added up since the last lap."""
        taken, self.taken = self.taken, {}
        return taken


async def fill(folder: Path, messages: Messages, size: int) -> None:
    """Write a store over the bus, session by session.

    Raises: `RuntimeError` when a write is refused.
    """
    async with Gateway() as gateway:
        await gateway.register(Memory(_config(folder)))
        for session, blocks in itertools.groupby(messages.blocks(size), key=lambda block: block.session or ""):
            said = [{"role": one.role, "content": one.text, "timestamp": one.time} for one in blocks]
            for at in range(0, len(said), A_WRITE):
                content = {"messages": said[at : at + A_WRITE]}
                write = MemoryWrite(type="conversation", content=content, session_id=session)
                written = await gateway.bus.request(write, timeout=TIMEOUT)
                if not written.success:
                    raise RuntimeError(f"{session}: {written.message}")


def fill_in_process(folder: Path, messages: Messages, size: int) -> None:
    """Write a store; for a process of its own."""
    asyncio.run(fill(folder, messages, size))


def read_in_process(folder: Path, size: int, questions: Sequence[str], cpu: bool) -> Figures:
    """Open a store and read from it; for a process of its own."""
    return asyncio.run(read(folder, size, questions, time.process_time if cpu else time.perf_counter))


async def read(folder: Path, size: int, questions: Sequence[str], clock: Clock) -> Figures:
    """Open a store and ask each question once."""
    figures, stopwatch = Figures(size), Stopwatch(clock)
    for name in ("search", "spots_after", "around_many", "find_many"):
        stopwatch.watch(SafeIndex, name, "index")
    stopwatch.watch(Searcher, "search", "search")
    stopwatch.watch(openclaw_memory.reading.gathering, "build_context", "assembly")
    async with Gateway() as gateway:
        begin = clock()
        await gateway.register(Memory(_config(folder)))
        figures.start = clock() - begin
        for number, question in enumerate(questions):
            if number == WARM_UP:
                beating = asyncio.create_task(_beat(figures))
            ask = MemoryRead(query=question, session_id=f"session-{number % (size // 60)}", max_tokens=TOKENS)
            stopwatch.lap()
            begin = clock()
            context = await gateway.bus.request(ask, timeout=TIMEOUT)
            taken, parts = clock() - begin, stopwatch.lap()
            assert isinstance(context, MemoryContext)
            assert not context.degraded, context.notice
            assert context.recalled
            if number >= WARM_UP:
                index = parts.get("index", 0.0)
                figures.whole.append(taken)
                figures.index.append(index)
                figures.ranking.append(parts["search"] - index)
                figures.assembly.append(parts["assembly"])
        beating.cancel()
        figures.memory, figures.own_memory = _memory("VmRSS"), _memory("RssAnon")
    return figures


async def _beat(figures: Figures) -> None:
    while True:
        begin = time.perf_counter()
        await asyncio.sleep(BEAT)
        figures.pause = max(figures.pause, time.perf_counter() - begin - BEAT)


def _config(folder: Path) -> MemoryConfig:
    return MemoryConfig(root=folder, timezone="UTC", language="en", watch=False)


def _memory(name: str) -> int:
    for line in Path("/proc/self/status").read_text("ascii").splitlines():
        if line.startswith(f"{name}:"):
            return int(line.split()[1]) * 1024
    return 0


def measure(size: int, messages: Messages, count: int, folder: Path, cpu: bool) -> Figures:
    """Make a store, and read from it."""
    questions = [" ".join(words) for words in messages.questions(count + WARM_UP, size)]
    with multiprocessing.get_context("spawn").Pool(1, maxtasksperchild=1) as pool:
        pool.apply(fill_in_process, (folder, messages, size))
    with multiprocessing.get_context("spawn").Pool(1) as pool:
        return pool.apply(read_in_process, (folder, size, questions, cpu))


def shortfalls(figures: Sequence[Figures]) -> list[str]:
    """Name the limits that are missed."""
    missed = []
    for one in figures:
        name = f"{one.size:,} messages"
        limits = (
            ("a read", statistics.median(one.whole), MOST.get(one.size)),
            ("its assembly", statistics.median(one.assembly), MOST_ASSEMBLY),
            ("the start", one.start, LONGEST_START),
            ("the event loop's longest pause", one.pause, LONGEST_PAUSE),
        )
        missed += [
            f"{name}: {what} took {taken * 1e3:.1f} ms, not below {limit * 1e3:.0f}"
            for what, taken, limit in limits
            if limit is not None and taken >= limit
        ]
        if one.memory >= MOST_MEMORY:
            missed.append(f"{name}: {one.memory / 1e6:.0f} MB in memory, not below {MOST_MEMORY / 1e6:.0f}")
    return missed


def table(figures: Sequence[Figures]) -> Table:
    """Show what was measured."""
    shown = Table(box=box.SIMPLE, title=f"memory:read of {TOKENS:,} tokens over the bus, ms (p50 / p99)")
    for title in ("messages", "read", "index", "ranking", "assembly", "start", "longest pause", "memory MB", "own MB"):
        shown.add_column(title, justify="right")
    for one in figures:
        parts = (_quantiles(taken) for taken in (one.whole, one.index, one.ranking, one.assembly))
        once = (f"{one.start * 1e3:.0f}", f"{one.pause * 1e3:.1f}")
        sizes = (f"{one.memory / 1e6:.0f}", f"{one.own_memory / 1e6:.0f}")
        shown.add_row(f"{one.size:,}", *parts, *once, *sizes)
    return shown


def _quantiles(taken: Sequence[float]) -> str:
    if len(taken) < 2:
        return "-"
    return f"{statistics.median(taken) * 1e3:.1f} / {statistics.quantiles(taken, n=100)[98] * 1e3:.1f}"


def main(arguments: Sequence[str] | None = None) -> int:
    """Measure, print, and with `--check` judge."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sizes", type=int, nargs="+", default=list(SIZES), help="numbers of messages")
    parser.add_argument("--million", action="store_true", help="a million messages as well; takes some minutes")
    parser.add_argument("--reads", type=int, default=200)
    parser.add_argument("--dialogue", type=Path, help="a JSON file whose texts give the vocabulary")
    parser.add_argument("--folder", type=Path, help="where the stores are made; on the disk that is to be measured")
    parser.add_argument("--cpu", action="store_true", help="count the processor's time")
    parser.add_argument("--check", action="store_true", help="end with 1 when a limit is missed")
    options = parser.parse_args(arguments)
    console = Console()
    messages = Messages(options.dialogue)
    figures = []
    for size in [*options.sizes, *([MILLION] if options.million else [])]:
        with tempfile.TemporaryDirectory(dir=options.folder) as folder:
            figures.append(measure(size, messages, options.reads, Path(folder), options.cpu))
    console.print(table(figures))
    missed = shortfalls(figures)
    for told in missed:
        console.print(f"Limit missed: {told}", style="red")
    return 1 if options.check and missed else 0


if __name__ == "__main__":
    sys.exit(main())
