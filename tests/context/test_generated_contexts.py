"""Ten thousand contexts made up: none above its budget, nothing left out for something of less worth, no cut grapheme.

A context is drawn from a number by the standard library's generator, which is ten times as fast as drawing each text by
itself: a counterexample is the smallest number that fails, and tells which draw it was.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from random import Random

import pytest
import regex  # type: ignore[import-untyped]
from hypothesis import given, settings
from hypothesis import strategies as st

from contracts.prompt import prompt_text
from contracts.reading import HistoryMessage, MemoryContext, Task
from openclaw_memory.context import EstimateCounter, Line, Material, TokenCounter, build_context, divide
from openclaw_memory.context.choice import LITTLE
from openclaw_memory.retrieval import Block, Hit

NOW = datetime(2026, 5, 4, 12, tzinfo=UTC)
AMPLE = 1_000_000
CONTEXTS, QUARTERS = 10_000, 4
"""In four tests, so that they may run side by side."""

WORDS = [
    *["went hiking ", "the locker code is 4711 ", "DEC-0054 ", "x" * 40, "naïve café ", "\t", "   ", " ", "\n", "\n\n"],
    *["我喜欢喝茶，", "用React写。", "数据库迁移！", "雪", "「引用」", "／", "日本語のテキスト", "한국어 문장 ", "각"],
    *["👩‍👩‍👧", "🇨🇳🇫🇷", "👍🏽", "1️⃣", "！\ufe01", "e\u0301\u0302", " \u0301", "\u0600 ", "नमस्ते ", "สวัสดี", "مرحبا "],
    *["```\ncode\n```\n", "<|endoftext|>", "/etc/hosts", "- [ ] ", "### ", "\r\n", "…", "\u200b", "\x0b"],
]
"""Languages, emoji of several code points, marks that join, white space: what tokens and cuts stumble on."""


@dataclass(frozen=True)
class Drawn:
    """A material, a budget, and the groups of messages that belong together."""

    material: Material
    max_tokens: int
    units: tuple[tuple[int, ...], ...]


class Draw:
    """Draws a context from a number. Every text has a number of its own in it, so that it can be told from others."""

    def __init__(self, seed: int) -> None:
        self._random = Random(seed)
        self._number = 0

    def text(self, most: int = 8) -> str:
        self._number += 1
        words = self._random.choices(WORDS, k=self._random.randint(0, most))
        words.insert(self._random.randint(0, len(words)), f"№{self._number};")
        return "".join(words)

    def lines(self, most: int, essential: float = 0.0) -> tuple[Line, ...]:
        number = self._random.randint(0, most)
        return tuple(Line(self.text(), f"k{n}", self._random.random() < essential) for n in range(number))

    def material(self) -> Material:
        random = self._random
        history = tuple(self._message(number) for number in range(random.choice([0, 1, 2, 3, 6, 10, 14])))
        return Material(
            facts=self.lines(6, essential=0.6),
            memory=self.lines(3),
            tasks=tuple(self._task(number) for number in range(random.randint(0, 4))),
            summaries=self.lines(3),
            notes=tuple(Line(line.text, line.key, said=random.random() < 0.4) for line in self.lines(4)),
            recalled=tuple(self._hit(number, history) for number in range(random.choice([0, 0, 1, 4, 12]))),
            history=history,
            important=frozenset(message.key for message in history if random.random() < 0.1),
        )

    def budget(self) -> int:
        return self._random.randint(1, self._random.choice([10, 60, 60, 250, 700, 2_500]))

    def _message(self, number: int) -> HistoryMessage:
        role = self._random.choice(["user", "assistant", "assistant", "tool", "system"])
        long = 60 if self._random.random() < 0.05 else 8
        time = NOW + timedelta(minutes=number)
        return HistoryMessage(role=role, content=self.text(long), timestamp=time, key=f"m{number}")

    def _task(self, number: int) -> Task:
        description = self.text() if self._random.random() < 0.3 else None
        return Task(
            id=f"OPEN-{number}",
            title=self.text(3),
            state="pending",
            priority="high",
            created=NOW,
            description=description,
        )

    def _hit(self, number: int, history: Sequence[HistoryMessage]) -> Hit:
        if history and self._random.random() < 0.2:
            said = self._random.choice(history)
            key, text, session, time = said.key, said.content, "s1", said.timestamp
        else:
            key, text, session, time = f"h{number}", self.text(), "s0", NOW - timedelta(days=number % 3, minutes=number)
        line = number * self._random.choice([1, 6]) + 1
        return Hit(Block(key, "conversation", f"{session}.md", line, line, text, time, session, "user"), 1.0)


def drawn(seed: int, counter: TokenCounter) -> Drawn:
    draw = Draw(seed)
    material, budget = draw.material(), draw.budget()
    if seed // QUARTERS % 8 == 0:
        # As much as it takes, or one less.
        everything = build_context(material, AMPLE, counter, tz=UTC)
        budget = max(1, counter.count(prompt_text(everything)) - seed // QUARTERS // 8 % 2)
    units: list[list[int]] = []
    for place, message in enumerate(material.history):
        if message.role == "tool" and units:
            units[-1].append(place)
        else:
            units.append([place])
    return Drawn(material, budget, tuple(map(tuple, units)))


def last_round(units: Sequence[tuple[int, ...]]) -> list[tuple[int, ...]]:
    """Give the newest groups that hold two messages, newest first."""
    chosen: list[tuple[int, ...]] = []
    for unit in reversed(units):
        if sum(map(len, chosen)) < 2:
            chosen.append(unit)
    return chosen


def only(context: MemoryContext, **parts: Iterable[object]) -> MemoryContext:
    """Give a context with other parts."""
    return context.model_copy(update={name: tuple(items) for name, items in parts.items()})


class Judge:
    """Tells what a context left out although it would have fitted in the place of something of less worth."""

    def __init__(self, given: Drawn, context: MemoryContext, count: Callable[[MemoryContext], int]) -> None:
        self.given, self.context, self.count = given, context, count
        material = given.material
        self.kept = {message.key for message in context.history}
        self.round = last_round(given.units)
        self.newest = {material.history[place].key for unit in self.round for place in unit}
        self.profile = {line.text for line in material.facts if line.essential}
        self.latest = material.summaries[-1].text if material.summaries else None
        # What is worth most, as far as it went in: with this alone the rest of the budget was to be had.
        base = only(context, memory=(), notes=(), recalled=(), facts=(), tasks=(), summaries=())
        self.with_round = only(base, history=(one for one in context.history if one.key in self.newest))
        self.with_profile = only(self.with_round, facts=(one for one in context.facts if one in self.profile))
        self.with_tasks = only(self.with_profile, tasks=context.tasks)
        self.with_summary = only(self.with_tasks, summaries=self._latest(context))

    def faults(self) -> list[str]:
        """Give what is wrong with the order of worth."""
        return [*self._in_round(), *self._in_profile(), *self._in_tasks(), *self._in_summary(), *self._in_rest()]

    def _latest(self, context: MemoryContext) -> list[str]:
        # A shortened summary is the last one: summaries run oldest first.
        older = {line.text for line in self.given.material.summaries[:-1]}
        return [text for text in context.summaries if text not in older]

    def _fits(self, context: MemoryContext) -> bool:
        return self.count(context) <= self.given.max_tokens

    def _in_round(self) -> Iterable[str]:
        history = self.given.material.history
        there: set[int] = set()
        for unit in self.round:
            if not {history[place].key for place in unit} & self.kept:
                whole = [history[place] for place in sorted({*there, *unit})]
                if self._fits(only(self.with_round, history=whole)):
                    yield f"messages {unit} of the last round"
            else:
                there |= set(unit)

    def _in_profile(self) -> Iterable[str]:
        for text in self.profile - set(self.context.facts):
            order = [line.text for line in self.given.material.facts if line.text in {*self.with_profile.facts, text}]
            if self._fits(only(self.with_profile, facts=order)):
                yield f"fact {text!r}"

    def _in_tasks(self) -> Iterable[str]:
        for task in self.given.material.tasks:
            if task not in self.context.tasks:
                order = [one for one in self.given.material.tasks if one in (*self.context.tasks, task)]
                if self._fits(only(self.with_tasks, tasks=order)):
                    yield f"task {task.id}"

    def _in_summary(self) -> Iterable[str]:
        if (
            self.latest is not None
            and not self.with_summary.summaries
            and self._fits(only(self.with_tasks, summaries=[self.latest]))
        ):
            yield "the latest summary"

    def _in_rest(self) -> Iterable[str]:
        """Judge recalled pieces and older history, where little was left for them; else the shares have their say."""
        left = self.given.max_tokens - self.count(self.with_summary)
        history = list(self.context.history if left >= LITTLE else self.with_round.history)
        empty = only(self.with_round, facts=(), history=())
        # What was marked has its place in the share; of the others the oldest came last.
        marked = [one for one in history if one.key in self.given.material.important and one.key not in self.newest]
        history = [*marked, *(one for one in history if one not in marked)]
        while history and self.count(only(empty, history=history)) > divide(self.given.max_tokens)["history"]:
            del history[len(marked) if len(history) > len(marked) else 0]
        history = [one for one in self.context.history if one in history or one.key in self.newest]
        said = "\n".join(self.context.recalled)
        base = only(self.with_summary, history=history)
        if left >= LITTLE:
            within = {"facts": self.context.facts, "memory": self.context.memory}
            within |= {"notes": self.context.notes, "summaries": self.context.summaries}
            base = only(base, **within)
        for hit in self.given.material.recalled:
            block = hit.block
            if block.key in self.kept or block.text in said:
                continue
            piece = f"{block.time.astimezone(UTC).date() if block.time else ''}\n用户: {block.text}"
            # At most a head of its own: what fits with one would have fitted.
            if self._fits(only(base, recalled=[*self.context.recalled, "…", piece])):
                yield f"recalled {block.key}"


def check_pieces(given: Drawn, context: MemoryContext) -> None:
    """Every text is one that was offered, whole, or its beginning up to a border between graphemes, and marked."""
    material = given.material
    offered = {message.key: message for message in material.history}
    for message in context.history:
        assert whole_or_cut(message.content, [offered[message.key].content])
    assert set(context.facts) <= {line.text for line in material.facts}
    assert set(context.memory) <= {line.text for line in material.memory}
    assert set(context.notes) <= {line.text for line in material.notes}
    assert set(context.tasks) <= set(material.tasks)
    summaries = [line.text for line in material.summaries]
    assert all(whole_or_cut(text, summaries) for text in context.summaries)
    for piece in context.recalled:
        # Beginnings first: a text may hold what another begins with.
        for line in piece.partition("\n")[2].split("用户: ")[1:]:
            texts = [hit.block.text for hit in material.recalled]
            assert any(whole_or_cut(line[: len(line) - cut], texts) for cut in (0, 1, 2, 3) if cut <= len(line))
    for unit in given.units:
        keys = {material.history[place].key for place in unit}
        kept = keys & {message.key for message in context.history}
        assert kept in (set(), keys), "a tool's result was parted from what called it"


def whole_or_cut(text: str, offered: Sequence[str]) -> bool:
    if text in offered:
        return True
    kept = text.removesuffix("…")
    for whole in offered:
        if kept != text and whole.startswith(kept):
            return len(kept) in {match.end() for match in regex.finditer(r"\X", whole)}
    return False


@pytest.mark.timeout(120)
@pytest.mark.parametrize("quarter", range(QUARTERS))
@given(seed=st.integers(0, 2**40))
@settings(max_examples=CONTEXTS // QUARTERS, deadline=None, database=None, derandomize=True)
def test_ten_thousand_contexts(cl100k: TokenCounter, quarter: int, seed: int) -> None:
    """Any material, any language, any budget down to 1."""
    given_ = drawn(seed * QUARTERS + quarter, cl100k)
    context = build_context(given_.material, given_.max_tokens, cl100k, tz=UTC)

    def count(part: MemoryContext) -> int:
        return cl100k.count(prompt_text(part))

    assert count(context) <= given_.max_tokens
    assert context.tokens is not None
    assert context.tokens.used == count(context)
    check_pieces(given_, context)
    assert Judge(given_, context, count).faults() == []


@given(st.integers(0, 2**40))
@settings(max_examples=300, deadline=None, database=None)
def test_estimated_contexts(seed: int) -> None:
    """The budget is kept by an estimate's own count too, and nothing is cut in two."""
    counter = EstimateCounter()
    given_ = drawn(seed, counter)
    context = build_context(given_.material, given_.max_tokens, counter, tz=UTC)
    assert counter.count(prompt_text(context)) <= given_.max_tokens
    check_pieces(given_, context)


def test_the_judge_can_condemn(cl100k: TokenCounter) -> None:
    """What the property rests on: a context that lacks a fact, a task, a summary or a hit that would fit is told."""
    given_ = next(one for one in (drawn(seed, cl100k) for seed in range(1, 400)) if _has_all(one.material))
    given_ = Drawn(given_.material, 2_000, given_.units)
    context = build_context(given_.material, 2_000, cl100k, tz=UTC)

    def faults(worse: MemoryContext) -> list[str]:
        return Judge(given_, worse, lambda part: cl100k.count(prompt_text(part))).faults()

    assert faults(context) == []
    assert faults(only(context, facts=()))
    assert faults(only(context, tasks=context.tasks[1:])) == [f"task {context.tasks[0].id}"]
    assert "the latest summary" in faults(only(context, summaries=()))
    assert faults(only(context, recalled=()))
    assert faults(only(context, history=context.history[:1]))


def _has_all(material: Material) -> bool:
    essential = [line for line in material.facts if line.essential]
    own = {message.key for message in material.history}
    foreign = [hit for hit in material.recalled if hit.block.key not in own]
    parts = (essential, material.tasks, material.summaries, foreign)
    return len(material.history) > 6 and all(map(len, parts))
