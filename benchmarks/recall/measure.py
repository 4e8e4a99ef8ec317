"""Score answers: evidence within budgets of tokens, R@5, R@10, MRR."""

from __future__ import annotations

import time
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from datetime import UTC
from statistics import fmean, median

from benchmarks.recall.datasets import Question, Store
from benchmarks.recall.systems import Answer
from contracts.prompt import prompt_text
from openclaw_memory.context import Material, TokenCounter, build_context
from openclaw_memory.retrieval.index import Hit

BUDGETS = (500, 1_000, 2_000, 4_000)

Figures = dict[str, float]
"""Figures of one question, by name: `R@10`, `within 2000`."""


@dataclass(frozen=True, slots=True)
class Row:
    """What one system did with one store."""

    system: str
    store: str
    kinds: tuple[str, ...]
    figures: tuple[Figures, ...]
    milliseconds: float
    """Median of a search alone."""

    def mean(self, name: str, kind: str | None = None) -> float:
        """Give the mean over the questions, or over those of a kind."""
        return fmean(
            one[name] for one, its in zip(self.figures, self.kinds, strict=True) if kind is None or its == kind
        )


def measure(system: str, store: Store, answer: Answer, counter: TokenCounter | None) -> Row:
    """Ask every question of a store. Contexts are built and measured where the store is meant for it."""
    figures, seconds = [], []
    texts = {block.key: block.text for block in store.blocks}
    for question in store.questions:
        begun = time.perf_counter()
        hits = answer(question)
        seconds.append(time.perf_counter() - begun)
        one = ranks(question, hits)
        if store.by_tokens and counter is not None:
            contexts = [
                prompt_text(build_context(Material(recalled=tuple(hits)), budget, counter, tz=UTC, language="en"))
                for budget in BUDGETS
            ]
            one |= within(question, texts, contexts)
        figures.append(one)
    return Row(system, store.name, _kinds(store), tuple(figures), median(seconds) * 1_000)


async def measure_contexts(
    system: str, store: Store, context: Callable[[Question, int], Awaitable[str]], budgets: Sequence[int] = BUDGETS
) -> Row:
    """Ask every question of a whole Memory, once a budget; the time is that of a context."""
    figures, seconds = [], []
    texts = {block.key: block.text for block in store.blocks}
    for question in store.questions:
        contexts = []
        for budget in budgets:
            begun = time.perf_counter()
            contexts.append(await context(question, budget))
            seconds.append(time.perf_counter() - begun)
        figures.append(within(question, texts, contexts))
    return Row(system, store.name, _kinds(store), tuple(figures), median(seconds) * 1_000)


def ranks(question: Question, hits: Sequence[Hit]) -> Figures:
    """Give the share of the evidence among the best 5 and 10, and one over the rank of the first of it."""
    keys = [hit.block.key for hit in hits]
    first = next((rank for rank, key in enumerate(keys, 1) if key in question.evidence), None)
    found = {f"R@{top}": len(question.evidence & set(keys[:top])) / len(question.evidence) for top in (5, 10)}
    return {**found, "MRR": 1 / first if first else 0.0}


def within(question: Question, texts: dict[str, str], contexts: Sequence[str]) -> Figures:
    """Give the share of the evidence whose whole text stands in the context, for each budget."""
    return {
        f"within {budget}": fmean(texts[key] in context for key in question.evidence)
        for budget, context in zip(BUDGETS, contexts, strict=True)
    }


def _kinds(store: Store) -> tuple[str, ...]:
    return tuple(question.kind for question in store.questions)
