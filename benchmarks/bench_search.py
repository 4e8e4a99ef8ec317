"""How fast a question is answered from 10,000, 100,000 or a million messages, beside bare engines on the same terms.

`python -m benchmarks.bench_search` prints two tables; with `--check` it ends with 1 when the index misses its limits.
All contenders hold the same messages, cut into the same terms, and take turns of a few questions each, so that neither
a busy machine nor what another one left in the processor's caches is unfair to one. What ours does beyond a bare
engine: it gives whole messages with exact scores, of equals the newest, and asks for each whether it may be shown.
Building and opening run in processes of their own, whose memory is told. `--cpu` counts the processor's time instead of
the clock's, for a machine that has other things to do.
"""

from __future__ import annotations

import argparse
import itertools
import json
import multiprocessing
import random
import re
import statistics
import sys
import tempfile
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any, TypeVar

from rich import box
from rich.console import Console
from rich.table import Table

from openclaw_memory.retrieval.blocks import Block
from openclaw_memory.retrieval.engines import EngineName, SafeIndex, open_index
from openclaw_memory.retrieval.terms import query_terms, terms

SIZES = (10_000, 100_000)
MILLION = 1_000_000
LIMIT = 50
"""Hits that are asked for."""
WORDS = 6
"""Terms of a question."""
TURN = 20
"""Questions that a contender answers before the next one has its turn."""
BATCH = 5_000
"""Messages that are committed together while an index is built; the most that one commit takes in by default."""
A_DAY = 400
"""Messages of a day's file."""
OURS, OURS_SQLITE, TANTIVY, FTS5, BM25S = "ours (tantivy)", "ours (sqlite)", "tantivy", "FTS5", "bm25s"

MOST_ABOVE = 0.001
"""Seconds that ours may take above bare tantivy, at the median."""
LEAST_RATE = 10_000
"""Messages a second that are cut, stored and committed."""
LONGEST_OPENING = 0.5
MOST_MEMORY = 350_000_000
"""Bytes of a process that has opened an index and searched it."""

Item = TypeVar("Item")

Search = Callable[[Sequence[str]], int]
"""From the terms of a question to the number of hits."""


class Messages:
    """Messages from a vocabulary, the same for the same seed; a third is Chinese unless a dialogue gives the words."""

    def __init__(self, dialogue: Path | None = None, seed: int = 1) -> None:
        self._seed = seed
        chance = random.Random(seed)
        if dialogue is None:
            letters, han = "etaoinshrdlucmfwypvbgkjqxz", [chr(0x4E00 + 7 * number) for number in range(2_000)]
            words = ["".join(chance.choices(letters, k=chance.randint(2, 9))) for _ in range(20_000)]
            chinese = ["".join(chance.choices(han, k=chance.randint(1, 3))) for _ in range(20_000)]
            likely = [1 / (rank + 10) for rank in range(20_000)]
            self._tongues = [(words, likely, " "), (words, likely, " "), (chinese, likely, "")]
        else:
            counts = Counter(re.findall(r"\S+", " ".join(_texts(json.loads(dialogue.read_text("utf-8"))))))
            self._tongues = [(list(counts), [float(count) for count in counts.values()], " ")]

    def texts(self, count: int) -> Iterator[str]:
        """Give texts of 4 to 40 words."""
        chance = random.Random(self._seed + 1)
        sums = [list(itertools.accumulate(likely)) for _, likely, _ in self._tongues]
        for number in range(count):
            which = number % len(self._tongues)
            words, _, joint = self._tongues[which]
            yield joint.join(chance.choices(words, cum_weights=sums[which], k=chance.randint(4, 40)))

    def blocks(self, count: int) -> Iterator[Block]:
        """Give messages, a minute apart, in sessions of sixty."""
        start = datetime(2020, 1, 1, tzinfo=UTC)
        for number, text in enumerate(self.texts(count)):
            day = f"conversations/{number // A_DAY:05d}.md"
            when = start + timedelta(minutes=number)
            yield Block(
                key=f"{day}#{number:026d}",
                layer="conversation",
                path=day,
                start_line=number % A_DAY * 4 + 1,
                end_line=number % A_DAY * 4 + 3,
                text=text,
                time=when,
                session=f"session-{number // 60}",
                role="user",
            )

    def questions(self, count: int, among: int) -> list[list[str]]:
        """Take the terms of questions from messages: each is answered by one of them at least."""
        chance = random.Random(self._seed + 2)
        chosen = set(chance.sample(range(among), min(4 * count, among)))
        asked = []
        for number, text in enumerate(self.texts(among)):
            if number in chosen and len(found := query_terms(text)) >= WORDS:
                asked.append(chance.sample(found, WORDS))
        return asked[:count]


def _texts(value: Any) -> Iterator[str]:
    if isinstance(value, dict):
        yield from (text for name, text in value.items() if name in ("text", "content") and isinstance(text, str))
    if isinstance(value, dict | list):
        yield from itertools.chain.from_iterable(map(_texts, value.values() if isinstance(value, dict) else value))


# -- ours ---------------------------------------------------------------------------------------------------------


@dataclass
class Built:
    """What building and opening cost. Times in seconds, memory in bytes."""

    rate: float
    peak: int
    disk: int
    opened: float = 0.0
    memory: int = 0
    own_memory: int = 0
    """Of `memory` what is the process's own; the rest are pages of mapped files, which the system takes back."""


def build(folder: Path, engine: EngineName, messages: Messages, size: int, cpu: bool) -> Built:
    """Fill an index, as the first start on a folder does. By the processor's time all threads count."""
    clock = time.process_time if cpu else time.perf_counter
    index = open_index(folder, "bench", engine)
    taken = 0.0
    for batch in _batches(messages.blocks(size), BATCH):
        begin = clock()
        index.add(batch)
        while not index.commit():
            assert index.problem is None, index.problem
        taken += clock() - begin
    made = Built(size / taken, _memory("VmHWM"), index.status().bytes_on_disk)
    index.close()
    return made


def reopen(folder: Path, engine: EngineName, asked: Sequence[Sequence[str]], made: Built, cpu: bool) -> Built:
    """Open the index again, and search it."""
    clock = time.process_time if cpu else time.perf_counter
    begin = clock()
    index = open_index(folder, "bench", engine)
    search = searching(index)
    search(asked[0])
    made.opened = clock() - begin
    assert index.problem is None, index.problem
    for words in asked:
        search(words)
    made.memory, made.own_memory = _memory("VmRSS"), _memory("RssAnon")
    index.close()
    return made


def searching(index: SafeIndex) -> Search:
    """Give a search that may show everything."""
    return lambda words: len(index.search(words, limit=LIMIT, allow=lambda block: True))


def _memory(name: str) -> int:
    for line in Path("/proc/self/status").read_text("ascii").splitlines():
        if line.startswith(f"{name}:"):
            return int(line.split()[1]) * 1024
    return 0


def _batches(items: Iterable[Item], size: int) -> Iterator[list[Item]]:
    iterator = iter(items)
    while batch := list(itertools.islice(iterator, size)):
        yield batch


def in_process(work: Callable[..., Built], *arguments: Any) -> Built:
    """Do something in a new process, whose memory is its own."""
    with multiprocessing.get_context("spawn").Pool(1) as pool:
        return pool.apply(work, arguments)


# -- bare engines ---------------------------------------------------------------------------------------------------


def bare_tantivy(folder: Path, texts: Iterable[str]) -> Search:
    """Tantivy alone: terms in, numbers of documents and scores out."""
    import tantivy

    builder = tantivy.SchemaBuilder()
    builder.add_text_field("words", tokenizer_name="cut", index_option="freq")
    schema = builder.build()
    index = tantivy.Index(schema, path=str(folder))
    index.register_tokenizer("cut", tantivy.TextAnalyzerBuilder(tantivy.Tokenizer.whitespace()).build())
    writer = index.writer(heap_size=100_000_000, num_threads=1)
    for text in texts:
        writer.add_document(tantivy.Document(words=" ".join(terms(text))))
    writer.commit()
    writer.wait_merging_threads()
    index.reload()
    searcher = index.searcher()

    def search(words: Sequence[str]) -> int:
        asked = [(tantivy.Occur.Should, tantivy.Query.term_query(schema, "words", word, "freq")) for word in words]
        return len(searcher.search(tantivy.Query.boolean_query(asked), LIMIT, count=False).hits)

    return search


def bare_fts5(folder: Path, texts: Iterable[str]) -> Search:
    """FTS5 alone: terms in, row ids out."""
    import apsw

    connection = apsw.Connection(str(folder / "bare.sqlite"))
    connection.execute("PRAGMA journal_mode = WAL")
    connection.execute(
        "CREATE VIRTUAL TABLE cut USING fts5(words, content='', tokenize=\"ascii tokenchars '#+-_.:/@'\")"
    )
    with connection:
        rows = ((number, " ".join(terms(text))) for number, text in enumerate(texts))
        connection.executemany("INSERT INTO cut(rowid, words) VALUES (?, ?)", rows)

    def search(words: Sequence[str]) -> int:
        match = " OR ".join(f'"{word}"' for word in words)
        question = "SELECT rowid FROM cut WHERE cut MATCH ? ORDER BY rank LIMIT ?"
        return len(connection.execute(question, (match, LIMIT)).fetchall())

    return search


def bm25s_in_memory(texts: Iterable[str]) -> Search:
    """bm25s: scores of all documents as sparse matrices, in memory; it can't be changed."""
    import bm25s  # type: ignore[import-untyped]

    retriever = bm25s.BM25(k1=1.2, b=0.75)
    retriever.index([terms(text) for text in texts], show_progress=False)

    def search(words: Sequence[str]) -> int:
        found, _ = retriever.retrieve([list(words)], k=LIMIT, show_progress=False)
        return int(found.shape[1])

    return search


# -- measuring ------------------------------------------------------------------------------------------------------


@dataclass
class Figures:
    """What was measured at one size. Seconds of each search, by contender."""

    size: int
    searches: dict[str, list[float]] = field(default_factory=dict)
    ours: dict[str, Built] = field(default_factory=dict)
    committing: list[float] = field(default_factory=list)
    """Seconds of searches while commits ran."""
    narrow: list[float] = field(default_factory=list)
    """Seconds of searches by a session that may see sixty messages of all."""

    def median(self, name: str) -> float:
        """Give the median time of a contender."""
        return statistics.median(self.searches[name])

    @property
    def above(self) -> float:
        """Tell how much longer ours takes than bare tantivy, at the median of the same questions."""
        pairs = zip(self.searches[OURS], self.searches[TANTIVY], strict=True)
        return statistics.median(ours - bare for ours, bare in pairs)


def measure(
    size: int, messages: Messages, count: int, folder: Path, console: Console, *, peers: bool, cpu: bool
) -> Figures:
    """Build everything at one size, and let all answer the same questions in turn."""
    from openclaw_memory.retrieval.scope import Audience, Scope

    clock = time.thread_time if cpu else time.perf_counter
    figures = Figures(size)
    asked = messages.questions(count, size)
    contenders: dict[str, Search] = {}
    indexes = []
    engines: tuple[tuple[str, EngineName], ...] = ((OURS, "tantivy"), (OURS_SQLITE, "sqlite"))
    for name, engine in engines:
        console.print(f"{size:,}: building {name}", style="dim")
        place = folder / engine
        made = in_process(build, place, engine, messages, size, cpu)
        figures.ours[name] = in_process(reopen, place, engine, asked, made, cpu)
        index = open_index(place, "bench", engine)
        indexes.append(index)
        contenders[name] = searching(index)
    (folder / "bare").mkdir()
    console.print(f"{size:,}: building bare engines", style="dim")
    contenders[TANTIVY] = bare_tantivy(folder / "bare", messages.texts(size))
    if peers:
        contenders[FTS5] = bare_fts5(folder / "bare", messages.texts(size))
        contenders[BM25S] = bm25s_in_memory(messages.texts(size))
    for words in asked[:20]:
        for search in contenders.values():
            search(words)
    for turn in _batches(asked, TURN):
        for name, search in contenders.items():
            for words in turn:
                begin = clock()
                search(words)
                figures.searches.setdefault(name, []).append(clock() - begin)
    scope = Scope(audiences=(Audience(sessions=frozenset({"session-7"})),))
    for words in asked:
        begin = clock()
        indexes[0].search(words, limit=LIMIT, allow=lambda block: True, scope=scope)
        figures.narrow.append(clock() - begin)
    figures.committing = while_committing(indexes[0], contenders[OURS], asked, clock)
    for index in indexes:
        index.close()
    return figures


def while_committing(
    index: SafeIndex, search: Search, asked: Sequence[Sequence[str]], clock: Callable[[], float]
) -> list[float]:
    """Search while messages are added and a thread commits without a pause."""
    more = list(Messages(seed=7).blocks(10_000))
    over = threading.Event()

    def work() -> None:
        while not over.is_set():
            index.commit()
            time.sleep(0.001)

    thread = threading.Thread(target=work)
    thread.start()
    taken = []
    try:
        for number, words in enumerate(itertools.islice(itertools.cycle(asked), 400)):
            index.add(more[number * 5 : number * 5 + 5])
            begin = clock()
            search(words)
            taken.append(clock() - begin)
    finally:
        over.set()
        thread.join()
    return taken


def shortfalls(figures: Sequence[Figures]) -> list[str]:
    """Name every limit that was missed."""
    missed = []
    for one in figures:
        made = one.ours[OURS]
        size = f"{one.size:,} messages"
        if one.above > MOST_ABOVE:
            missed.append(f"{size}: {one.above * 1e3:.2f} ms above bare tantivy, limit {MOST_ABOVE * 1e3:g} ms")
        if made.rate < LEAST_RATE:
            missed.append(f"{size}: built at {made.rate:,.0f} messages/s, limit {LEAST_RATE:,}")
        if made.opened > LONGEST_OPENING:
            missed.append(f"{size}: opened in {made.opened:.2f} s, limit {LONGEST_OPENING:g} s")
        if made.memory > MOST_MEMORY:
            missed.append(f"{size}: {made.memory / 1e6:.0f} MB in memory, limit {MOST_MEMORY / 1e6:.0f} MB")
    return missed


def search_table(figures: Sequence[Figures]) -> Table:
    """Show how long searches take."""
    table = Table(box=box.SIMPLE, title=f"best {LIMIT} of an OR of {WORDS} terms, ms: p50 / p95")
    table.add_column("")
    for one in figures:
        table.add_column(f"{one.size:,}", justify="right")
    names = dict.fromkeys(name for one in figures for name in one.searches)
    for name in names:
        table.add_row(name, *(_quantiles(one.searches.get(name, [])) for one in figures))
    table.add_row("ours above bare tantivy", *(f"{one.above * 1e3:+.2f}" for one in figures))
    table.add_row("ours, a scope of 60 messages", *(_quantiles(one.narrow) for one in figures))
    table.add_row("ours, while commits run", *(_quantiles(one.committing) for one in figures))
    return table


def build_table(figures: Sequence[Figures]) -> Table:
    """Show what building, opening and holding an index costs."""
    table = Table(box=box.SIMPLE, title="the index: built, opened and first search, memory, disk")
    for title in ("messages", "engine", "built/s", "peak MB", "opened ms", "memory MB", "own MB", "disk MB"):
        table.add_column(title, justify="right")
    for one in figures:
        for name, made in one.ours.items():
            sizes = (f"{value / 1e6:.0f}" for value in (made.memory, made.own_memory, made.disk))
            built = (f"{made.rate:,.0f}", f"{made.peak / 1e6:.0f}", f"{made.opened * 1e3:.0f}")
            table.add_row(f"{one.size:,}", name, *built, *sizes)
    return table


def _quantiles(taken: Sequence[float]) -> str:
    if len(taken) < 2:
        return "-"
    return f"{statistics.median(taken) * 1e3:.2f} / {statistics.quantiles(taken, n=20)[18] * 1e3:.2f}"


def main(arguments: Sequence[str] | None = None) -> int:
    """Measure, print, and with `--check` judge."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sizes", type=int, nargs="+", default=list(SIZES), help="numbers of messages")
    parser.add_argument("--million", action="store_true", help="a million messages as well; takes some minutes")
    parser.add_argument("--questions", type=int, default=300)
    parser.add_argument("--dialogue", type=Path, help="a JSON file whose texts give the vocabulary")
    parser.add_argument("--no-peers", action="store_true", help="leave out FTS5 and bm25s")
    parser.add_argument("--folder", type=Path, help="where the indexes are made; on the disk that is to be measured")
    parser.add_argument("--cpu", action="store_true", help="count the processor's time")
    parser.add_argument("--check", action="store_true", help="end with 1 when a limit is missed")
    options = parser.parse_args(arguments)
    console = Console()
    messages = Messages(options.dialogue)
    figures = []
    for size in [*options.sizes, *([MILLION] if options.million else [])]:
        with tempfile.TemporaryDirectory(dir=options.folder) as folder:
            how = {"peers": not options.no_peers, "cpu": options.cpu}
            figures.append(measure(size, messages, options.questions, Path(folder), console, **how))
    console.print(search_table(figures))
    console.print(build_table(figures))
    missed = shortfalls(figures)
    for told in missed:
        console.print(f"Limit missed: {told}", style="red")
    return 1 if options.check and missed else 0


if __name__ == "__main__":
    sys.exit(main())
