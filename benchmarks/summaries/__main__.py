"""Measure, on LoCoMo's questions with one place that answers them, what summaries keep of the answers.

`python -m benchmarks.summaries ../shared/data/locomo`. What was said is shortened to a tenth and a thirtieth of its
tokens: each session by itself (some 800 tokens, of which a thirtieth is two sentences), and all sessions of a file
together (some 15,000, the day of seed 000 section 2.4). A question is still answerable when the telling words that its
answer and its evidence have in common stand in the summary: all of them (`all`), or at least half (`half`); `terms` is
the mean share of these words, `turn` that of the telling words of the evidence's own turn. Ours is counted with its
headings and numbers.
"""

from __future__ import annotations

import json
import re
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated, Any

import typer

from benchmarks.summaries.peers import beginning, text_rank
from openclaw_memory.context.tokens import make_counter
from openclaw_memory.lifecycle.summaries.extractive import Extractive, telling
from openclaw_memory.lifecycle.summaries.passages import Material, passages_of
from openclaw_memory.markdown.messages import Message
from openclaw_memory.markdown.summary_items import SummaryItems, without_sources, write_items

SINGLE_HOP = 4
RATIOS = (10, 30)

Shorten = Callable[[Sequence[Message], int], str]


@dataclass(frozen=True, slots=True)
class Asked:
    """A question's words: those of the answer that its evidence holds, and those of the evidence's turn."""

    session: int
    answer: frozenset[str]
    turn: frozenset[str]


def ways_of(count: Callable[[str], int]) -> dict[str, Shorten]:
    """Give the ways of shortening, by name."""
    return {
        "first tokens": lambda said, tokens: beginning([one.content for one in said], tokens, count),
        "TextRank": lambda said, tokens: text_rank([one.content for one in said], tokens, count),
        "extractive": lambda said, tokens: _ours(said, tokens, count),
    }


def main(paths: Annotated[list[Path], typer.Argument(help="Files of LoCoMo, or folders of them.")]) -> None:
    """Print a table: what each way of shortening keeps, over all files."""
    count = make_counter().count
    files = [load(path) for path in sorted(_files(paths))]
    print(f"{'of':<10}{'to':>6}  {'way':<14}{'all':>7}{'half':>7}{'terms':>7}{'turn':>7}{'tokens':>8}{'seconds':>9}")
    for of, texts in (("a session", _by_session(files)), ("a file", _by_file(files))):
        whole = sum(count(one.content) for said, _ in texts for one in said)
        for ratio in RATIOS:
            for name, shorten in ways_of(count).items():
                began = time.process_time()
                kept, tokens = [], 0
                for said, asked in texts:
                    text = shorten(said, sum(count(one.content) for one in said) // ratio)
                    tokens += count(text)
                    kept += [_kept(one, telling(text)) for one in asked]
                means = "".join(f"{sum(column) / len(kept):>7.3f}" for column in zip(*kept, strict=True))
                seconds = time.process_time() - began
                print(f"{of:<10}{f'1:{ratio}':>6}  {name:<14}{means}{tokens / whole:>8.3f}{seconds:>9.2f}")
    print(f"{sum(len(asked) for _, asked in files)} questions")


Talk = tuple[list[Message], list[Asked]]


def _by_session(files: Sequence[tuple[dict[int, list[Message]], list[Asked]]]) -> list[Talk]:
    return [
        (said, [one for one in asked if one.session == number])
        for sessions, asked in files
        for number, said in sessions.items()
    ]


def _by_file(files: Sequence[tuple[dict[int, list[Message]], list[Asked]]]) -> list[Talk]:
    return [([message for said in sessions.values() for message in said], asked) for sessions, asked in files]


def kept_of(asked: Sequence[Asked], text: str) -> list[float]:
    """Give the means of `all`, `half`, `terms` and `turn`."""
    kept = [_kept(one, telling(text)) for one in asked]
    return [sum(column) / len(kept) for column in zip(*kept, strict=True)]


def _kept(asked: Asked, summary: frozenset[str]) -> tuple[float, ...]:
    share = len(asked.answer & summary) / len(asked.answer)
    return float(share == 1.0), float(share >= 0.5), share, len(asked.turn & summary) / len(asked.turn)


def _ours(said: Sequence[Message], tokens: int, count: Callable[[str], int]) -> str:
    day = said[0].time.date()
    material = Material("daily", day.isoformat(), "en", passages_of(said, day))

    def text(items: SummaryItems) -> str:
        return without_sources(write_items(items, language="en"))

    items = Extractive(count).items(material, lambda items: count(text(items)) <= tokens, tokens)
    return text(items)


def _files(paths: Sequence[Path]) -> Iterator[Path]:
    for path in paths:
        yield from path.glob("*.json") if path.is_dir() else [path]


def load(path: Path) -> tuple[dict[int, list[Message]], list[Asked]]:
    """Read the sessions of a file, and its questions with one answer in one place.

    Raises: `OSError`, `ValueError`, `KeyError` where it has another shape.
    """
    raw = json.loads(path.read_text(encoding="utf-8"))
    said: dict[str, Any] = raw["conversation"]
    numbers = sorted(int(name[8:]) for name in said if re.fullmatch(r"session_\d+", name))
    texts: dict[str, tuple[int, str]] = {}
    sessions: dict[int, list[Message]] = {}
    for number in numbers:
        sessions[number] = []
        for place, turn in enumerate(said[f"session_{number}"]):
            role = "user" if turn["speaker"] == said["speaker_a"] else "assistant"
            time_of = datetime(2023, 1, 1, 12, place // 60, place % 60, tzinfo=UTC)
            sessions[number].append(Message(turn["dia_id"], "s", role, time_of, turn["text"]))  # type: ignore[arg-type]
            texts[turn["dia_id"]] = (number, turn["text"])
    asked = []
    for question in raw["qa"]:
        evidence = [texts[one] for one in question.get("evidence", ()) if one in texts]
        if question["category"] != SINGLE_HOP or len(evidence) != 1:
            continue
        session, text = evidence[0]
        answer = telling(str(question["answer"])) & telling(text)
        if answer:
            asked.append(Asked(session, answer, telling(text)))
    return sessions, asked


if __name__ == "__main__":
    typer.run(main)
