"""Measure what comes back of facts that were contradicted later.

Run as `python -m benchmarks.supersession PATH`, PATH a folder with `*.jsonl` of `{facts, contradicting_facts, question,
supporting_fact_indices}`. All facts are written as plain notes, one a note, then, days later, those that contradict
them, all into one memory. Each question is asked of `memory:read` some days after that. Counted is how often the newer
fact comes back, and how often it stands above every older one that it contradicts, in the prompt and among the hits of
`memory:search`; beside it `bm25s` over the same texts. And the other way round: how often the right fact stays in front
where nothing contradicts it, while newer notes about the same people are there.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import tempfile
import time
from collections.abc import AsyncIterator, Iterable, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import bm25s  # type: ignore[import-untyped]
from rich.console import Console
from rich.table import Table

from bus import EventBus, Gateway
from contracts import BatchContent, MemoryRead, MemorySearch, MemoryWrite
from openclaw_memory import ManualClock, Memory, MemoryConfig
from openclaw_memory.retrieval.terms import terms

FIRST_DAY = datetime(2026, 1, 5, 9, tzinfo=UTC)
DAY = 86_400.0
PER_NOTE = 40
"""Notes of one event."""

HITS = 50


@dataclass(frozen=True, slots=True)
class Asked:
    """A question, the newer fact that answers it, and the older ones that it contradicts."""

    question: str
    newer: str
    older: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Counts:
    """Of all questions, for how many the newer fact came back, and stood above every older one."""

    back: int
    above: int
    asked: int

    def row(self) -> tuple[str, str]:
        """Give both as shares."""
        return f"{self.back / self.asked:.3f}", f"{self.above / self.asked:.3f}"


def read_rows(folder: Path) -> list[Mapping[str, Any]]:
    """Read all lines of a folder's files."""
    return [json.loads(line) for path in sorted(folder.glob("*.jsonl")) for line in path.read_text().splitlines()]


def one_line(text: str) -> str:
    """Give a fact as one line without the quotation marks that some have around them."""
    return " ".join(text.strip().strip('"').split())


def asked_of(rows: Iterable[Mapping[str, Any]]) -> list[Asked]:
    """List the questions whose newer fact is another text than the older ones."""
    found = []
    for row in rows:
        facts = list(map(one_line, row["facts"]))
        together = zip(row["question"], row["contradicting_facts"], row["supporting_fact_indices"], strict=True)
        for question, newer, places in together:
            older = tuple(facts[place] for place in places if place < len(facts))
            if older and one_line(newer) not in facts:
                found.append(Asked(question, one_line(newer), older))
    return found


def placed(order: Sequence[str], asked: Asked) -> tuple[bool, bool]:
    """Tell whether the newer fact is among some texts, and above every older one.

    `order` are texts, best first, one of which may hold several facts.
    """
    whole = "\n".join(order)
    newer = whole.find(asked.newer)
    older = [place for text in asked.older if (place := whole.find(text)) >= 0]
    return newer >= 0, newer >= 0 and all(newer < place for place in older)


def counted(orders: Sequence[Sequence[str]], questions: Sequence[Asked]) -> Counts:
    """Count over all questions."""
    told = [placed(order, asked) for order, asked in zip(orders, questions, strict=True)]
    return Counts(sum(back for back, _ in told), sum(above for _, above in told), len(questions))


def by_bm25s(texts: Sequence[str], questions: Sequence[Asked], most: int) -> list[list[str]]:
    """Rank with `bm25s`, with our terms; of equals the newest first."""
    newest = list(reversed(texts))
    ranker = bm25s.BM25()
    ranker.index([terms(text) for text in newest], show_progress=False)
    found = []
    for asked in questions:
        places, scores = ranker.retrieve([terms(asked.question)], k=most, show_progress=False)
        found.append([newest[place] for place, score in zip(places[0], scores[0], strict=True) if score > 0])
    return found


async def remember(bus: EventBus, clock: ManualClock, texts: Sequence[str]) -> None:
    """Write notes, one a text, an hour of one day."""
    for start in range(0, len(texts), PER_NOTE):
        items = [
            {"event": "memory:write", "data": {"type": "note", "content": {"text": text}, "sessionId": "talk"}}
            for text in texts[start : start + PER_NOTE]
        ]
        content = BatchContent.model_validate({"items": items})
        written = await bus.request(MemoryWrite(type="batch", content=content, session_id="talk"), timeout=60)
        assert written.success, written.message
        clock.advance(60)


@asynccontextmanager
async def memory_of(older: Sequence[str], later: Sequence[str], **ranking: bool) -> AsyncIterator[EventBus]:
    """Open a memory in which facts were noted, ten days later those that contradict them, and ten days passed."""
    clock = ManualClock(FIRST_DAY)
    with tempfile.TemporaryDirectory() as folder:
        settings: dict[str, Any] = {"heartbeat": {"enabled": False}, "index": {"type": "memory"}, "ranking": ranking}
        config = MemoryConfig(root=Path(folder), timezone="UTC", watch=False, **settings)
        async with Gateway() as gateway:
            await gateway.register(Memory(config, clock=clock))
            for texts in (older, later):
                await remember(gateway.bus, clock, texts)
                clock.advance(10 * DAY)
            yield gateway.bus


async def searched(bus: EventBus, questions: Sequence[Asked], most: int) -> list[list[str]]:
    """Search for each question."""
    found = [await bus.request(MemorySearch(query=one.question, max_results=most), timeout=60) for one in questions]
    return [[hit.snippet for hit in results.results] for results in found]


def still_there(orders: Sequence[Sequence[str]], questions: Sequence[Asked], most: int) -> str:
    """Give the share of questions for which one of the older facts is among the first so many."""
    held = [any(text in order[:most] for text in asked.older) for order, asked in zip(orders, questions, strict=True)]
    return f"{sum(held) / len(held):.3f}"


async def measured(rows: Sequence[Mapping[str, Any]], questions: Sequence[Asked], budgets: Sequence[int]) -> Table:
    """Write, ask, count, and give the table of what was contradicted."""
    facts, newer = texts_of(rows, questions)
    title = f"{len(questions)} questions, {len(facts)} facts, {len(newer)} that contradict them"
    table = Table("", "newer comes back", "newer above older", title=title)
    async with memory_of(facts, newer) as bus:
        for budget in budgets:
            reads = []
            for asked in questions:
                read = MemoryRead(query=asked.question, session_id="other", max_tokens=budget)
                reads.append((await bus.request(read, timeout=60)).recalled)
            table.add_row(f"memory:read, {budget:,} tokens", *counted(reads, questions).row())
        searches = await searched(bus, questions, HITS)
        table.add_row(f"memory:search, {HITS} hits", *counted(searches, questions).row())
    async with memory_of(facts, newer, newer=False) as bus:
        searches = await searched(bus, questions, HITS)
        table.add_row("the same, `ranking.newer: false`", *counted(searches, questions).row())
    table.add_row(f"bm25s, {HITS} hits", *counted(by_bm25s([*facts, *newer], questions, HITS), questions).row())
    return table


async def control(rows: Sequence[Mapping[str, Any]], questions: Sequence[Asked]) -> Table:
    """Tell what becomes of facts that nobody contradicted: every second question's newer fact is not written."""
    facts, _ = texts_of(rows, questions)
    standing, other = questions[::2], [asked.newer for asked in questions[1::2]]
    newer = [text for text in dict.fromkeys(other) if text not in {asked.newer for asked in standing}]
    title = f"{len(standing)} questions that nothing contradicts, {len(newer)} newer facts about other things"
    table = Table("the right fact is", "first", "of the first 3", "of the first 5", title=title)
    for name, on in (("memory:search", True), ("the same, `ranking.newer: false`", False)):
        async with memory_of(facts, newer, newer=on) as bus:
            found = await searched(bus, standing, HITS)
            table.add_row(name, *(still_there(found, standing, most) for most in (1, 3, 5)))
    return table


def texts_of(rows: Sequence[Mapping[str, Any]], questions: Sequence[Asked]) -> tuple[list[str], list[str]]:
    """List all facts, and all that contradict some, each once."""
    facts = list(dict.fromkeys(one_line(fact) for row in rows for fact in row["facts"]))
    return facts, list(dict.fromkeys(asked.newer for asked in questions))


def main() -> None:
    """Read the command line and print the table."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.supersession", description=__doc__)
    parser.add_argument("path", type=Path, metavar="PATH")
    parser.add_argument("--budget", type=int, action="append", help="tokens; may be repeated [500, 2000]")
    given = parser.parse_args()
    rows = read_rows(given.path)
    if not rows:
        parser.error(f"{given.path} has no *.jsonl")
    begun = time.perf_counter()
    questions, out = asked_of(rows), Console()
    out.print(asyncio.run(measured(rows, questions, given.budget or [500, 2_000])))
    out.print(asyncio.run(control(rows, questions)))
    out.print(f"{time.perf_counter() - begun:.0f} s")


if __name__ == "__main__":
    main()
