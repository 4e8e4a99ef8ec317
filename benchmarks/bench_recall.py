"""Measure how much of the evidence that LoCoMo's questions rest on comes back within a budget of tokens.

Run as `python -m benchmarks.bench_recall --dataset ../shared/data/locomo` (a folder of LoCoMo files, or one). A turn
counts as returned when its whole text stands in the context; a question's recall is the share of its evidence turns, a
row is the mean over the questions of categories 1 to 4 (5 has no answer), asked at the end of the conversation. The
first row is plain BM25 over turns, each written as `[date] speaker: text`; each further row changes one thing.
"""

from __future__ import annotations

import argparse
import json
import math
import re
import sys
import time
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

from rich.console import Console
from rich.table import Table

from contracts.prompt import prompt_text
from examples.dialogue import Turn
from examples.locomo import parse
from openclaw_memory.context import Material, TokenCounter, build_context, make_counter
from openclaw_memory.retrieval import Block, InMemoryIndex, Recency, Searcher

BUDGETS = (500, 1_000, 2_000, 4_000)
MAIN_BUDGET = 2_000
CATEGORIES = {1: "multi-hop", 2: "temporal", 3: "open domain", 4: "single-hop"}
HITS = 200
THREE_YEARS = timedelta(days=1_096)

Answer = Callable[[str, Sequence[int]], list[str]]
"""From a question and budgets to the contexts for them."""


@dataclass(frozen=True, slots=True)
class Question:
    """A question, its category, and the keys of the turns that answer it."""

    text: str
    category: int
    evidence: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Conversation:
    """A conversation as blocks, oldest first, and its questions."""

    name: str
    blocks: tuple[Block, ...]
    questions: tuple[Question, ...]

    @property
    def end(self) -> datetime:
        """Give the time of the last turn."""
        return max(block.time for block in self.blocks if block.time is not None)


def load(path: Path) -> Conversation:
    """Read a LoCoMo file."""
    text = path.read_text(encoding="utf-8")
    raw = json.loads(text)
    ids = [
        turn["dia_id"]
        for number in sorted(int(key[8:]) for key in raw["conversation"] if re.fullmatch(r"session_\d+", key))
        for turn in raw["conversation"][f"session_{number}"]
    ]
    blocks = tuple(_blocks(zip(ids, parse(text, path=path, timezone="UTC"), strict=True)))
    known = set(ids)
    questions = []
    for asked in raw["qa"]:
        named = re.findall(r"D\d+:\d+", " ".join(asked["evidence"]))
        evidence = tuple(dia_id for dia_id in named if dia_id in known)
        if asked["category"] in CATEGORIES and evidence:
            questions.append(Question(asked["question"], asked["category"], evidence))
    return Conversation(path.stem, blocks, tuple(questions))


def _blocks(turns: Iterable[tuple[str, Turn]]) -> Iterable[Block]:
    """Give the turns the lines that they would have in the day's file: header, label, blank, text, blank."""
    lines: dict[str, int] = defaultdict(lambda: 8)
    for dia_id, turn in turns:
        path = f"conversations/{turn.time.date()}.md"
        start, height = lines[path], 4 + turn.content.count("\n")
        lines[path] = start + height + 1
        yield Block(
            key=dia_id,
            layer="conversation",
            path=path,
            start_line=start,
            end_line=start + height - 1,
            text=turn.content,
            time=turn.time,
            session=turn.session,
            role=turn.role,
        )


class WithoutNeighbours(InMemoryIndex):
    """An index whose messages stand alone."""

    def around(self, block: Block, reach: int) -> list[tuple[int, Block]]:
        """Give no neighbours."""
        return []


def ours(
    talk: Conversation,
    counter: TokenCounter,
    index: InMemoryIndex,
    recency: Recency = "off",
    back: timedelta = timedelta(),
) -> Answer:
    """Answer by our search and context; `back` moves all turns into the past."""
    index.add(replace(block, time=block.time - back) for block in talk.blocks if block.time is not None)
    searcher = Searcher(index)

    def answer(question: str, budgets: Sequence[int]) -> list[str]:
        hits = tuple(searcher.search(question, now=talk.end, limit=HITS, recency=recency))
        material = Material(recalled=hits)
        return [prompt_text(build_context(material, budget, counter, tz=UTC, language="en")) for budget in budgets]

    return answer


def plain(talk: Conversation, counter: TokenCounter) -> Answer:
    """Answer by BM25 over lower-case words, nothing else."""
    texts = [f"[{block.time:%Y-%m-%d}] {block.role}: {block.text}" for block in talk.blocks]
    bags = [Counter(re.findall(r"\w+", block.text.lower())) for block in talk.blocks]
    lengths = [bag.total() for bag in bags]
    mean = sum(lengths) / len(lengths)
    frequency = Counter(word for bag in bags for word in bag)

    def score(words: Sequence[str], number: int) -> float:
        bag, norm, total = bags[number], 1.2 * (0.25 + 0.75 * lengths[number] / mean), 0.0
        for word in words:
            if bag[word]:
                idf = math.log(1 + (len(bags) - frequency[word] + 0.5) / (frequency[word] + 0.5))
                total += idf * bag[word] * 2.2 / (bag[word] + norm)
        return total

    def answer(question: str, budgets: Sequence[int]) -> list[str]:
        words = re.findall(r"\w+", question.lower())
        scores = [score(words, number) for number in range(len(bags))]
        order = sorted((number for number in range(len(bags)) if scores[number]), key=lambda number: -scores[number])
        return [_fitting((texts[number] for number in order), budget, counter) for budget in budgets]

    return answer


def _fitting(pieces: Iterable[str], budget: int, counter: TokenCounter) -> str:
    taken, left = [], budget
    for piece in pieces:
        cost = counter.count(piece + "\n")
        if cost > left:
            break
        taken.append(piece)
        left -= cost
    return "\n".join(taken)


Scores = dict[tuple[int, int], list[float]]
"""Recalls by budget and category."""


def measure(talk: Conversation, answer: Answer) -> tuple[Scores, list[float]]:
    """Give the recall of each question, and the seconds that each took for all budgets together."""
    texts = {block.key: block.text for block in talk.blocks}
    scores: Scores = defaultdict(list)
    seconds = []
    for question in talk.questions:
        begun = time.perf_counter()
        contexts = answer(question.text, BUDGETS)
        seconds.append(time.perf_counter() - begun)
        for budget, context in zip(BUDGETS, contexts, strict=True):
            held = sum(texts[key] in context for key in question.evidence)
            scores[budget, question.category].append(held / len(question.evidence))
    return scores, seconds


def _mean(values: Sequence[float]) -> float:
    return sum(values) / len(values) if values else math.nan


def _row(name: str, talks: Sequence[Conversation], make: Callable[[Conversation], Answer]) -> list[str]:
    measured = [measure(talk, make(talk)) for talk in talks]
    at: dict[int, list[float]] = {
        budget: [
            _mean([one for (b, _), many in scores.items() if b == budget for one in many]) for scores, _ in measured
        ]
        for budget in BUDGETS
    }
    kinds = [_mean([one for scores, _ in measured for one in scores[MAIN_BUDGET, category]]) for category in CATEGORIES]
    median = sorted(second for _, seconds in measured for second in seconds)[sum(len(s) for _, s in measured) // 2]
    figures = [*(_mean(values) for values in at.values()), *at[MAIN_BUDGET], *kinds]
    return [name, *(f"{figure:.3f}" for figure in figures), f"{median * 1_000:.1f}"]


def main(arguments: Sequence[str] | None = None) -> int:
    """Print the table."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.bench_recall", description=__doc__)
    parser.add_argument("--dataset", type=Path, required=True, help="a LoCoMo file, or a folder of them")
    dataset: Path = parser.parse_args(arguments).dataset
    files = sorted(dataset.glob("*.json")) if dataset.is_dir() else [dataset]
    if not files or not files[0].exists():
        print(f"no LoCoMo file at {dataset}: name a file or a folder that holds some", file=sys.stderr)
        return 2
    talks, counter = [load(path) for path in files], make_counter()
    rows: list[tuple[str, Callable[[Conversation], Answer]]] = [
        ("plain BM25", lambda talk: plain(talk, counter)),
        ("ours", lambda talk: ours(talk, counter, InMemoryIndex())),
        ("without neighbours", lambda talk: ours(talk, counter, WithoutNeighbours())),
        ("recency: half_life", lambda talk: ours(talk, counter, InMemoryIndex(), "half_life")),
        ("recency: steps", lambda talk: ours(talk, counter, InMemoryIndex(), "steps")),
        ("recency: exponential", lambda talk: ours(talk, counter, InMemoryIndex(), "exponential")),
        ("three years later", lambda talk: ours(talk, counter, InMemoryIndex(), back=THREE_YEARS)),
    ]
    table = Table(title=f"Evidence recall; by file and kind of question within {MAIN_BUDGET:,} tokens")
    table.add_column("")
    for name in (*(f"{budget:,}" for budget in BUDGETS), *(talk.name for talk in talks), *CATEGORIES.values(), "ms"):
        table.add_column(name, justify="right")
    for name, make in rows:
        table.add_row(*_row(name, talks, make))
    Console(width=max(150, Console().width)).print(table)
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
