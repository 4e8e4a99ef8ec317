"""What is measured: our search with its steps, `bm25s` over bigrams, SQLite's FTS5 as it comes."""

from __future__ import annotations

import re
import sqlite3
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import bm25s  # type: ignore[import-untyped]

from benchmarks.recall.datasets import Question, Store
from benchmarks.recall.meaning import Embeddings, StoreVectors
from openclaw_memory.retrieval import Block, InMemoryIndex, Searcher
from openclaw_memory.retrieval.index import Hit
from openclaw_memory.retrieval.lens import LEAST_SAMPLE, Lens
from openclaw_memory.retrieval.ranking import Ranking

HITS = 200

Answer = Callable[[Question], list[Hit]]
"""From a question to hits, best first."""


@dataclass(frozen=True, slots=True)
class System:
    """A way to answer, and how to set it up for a store."""

    name: str
    prepare: Callable[[Store], Answer]


def systems(embeddings: Embeddings | None) -> list[System]:
    """Give what is compared: peers, ours, and ours with one step changed at a time."""
    full = Ranking()
    changes = {
        "without neighbours": replace(full, neighbours=False),
        "without focus": replace(full, focus=False),
        "without times": replace(full, times=False),
        "recency: half_life": replace(full, recency="half_life"),
        "recency: steps": replace(full, recency="steps"),
        "recency: exponential": replace(full, recency="exponential"),
        "MMR 0.7": replace(full, mmr=0.7),
    }
    of_meaning = {
        "without feedback": replace(full, feedback=False),
        "fusion: weighted": replace(full, fusion="weighted"),
        "fusion: reciprocal_rank": replace(full, fusion="reciprocal_rank"),
    }
    found = [
        System("SQLite FTS5", _fts5),
        System("bm25s, bigrams", _bm25s),
        System("words", lambda store: _ours(store, full, None)),
    ]
    found += [System(f"words, {name}", _maker(ranking, None)) for name, ranking in changes.items()]
    if embeddings is not None:
        found.append(System("words + meaning", lambda store: _ours(store, full, embeddings)))
        more = {**changes, **of_meaning}
        found += [System(f"words + meaning, {name}", _maker(ranking, embeddings)) for name, ranking in more.items()]
        found.append(System("words + meaning, without lens", lambda store: _ours(store, full, embeddings, lens=False)))
    return found


def _maker(ranking: Ranking, embeddings: Embeddings | None) -> Callable[[Store], Answer]:
    return lambda store: _ours(store, ranking, embeddings)


def _ours(store: Store, ranking: Ranking, embeddings: Embeddings | None, *, lens: bool = True) -> Answer:
    index = InMemoryIndex()
    index.add(store.blocks)
    if embeddings is None:
        searcher = Searcher(index, ranking)
        return lambda asked: searcher.search(asked.text, now=asked.asked, limit=HITS)
    held = StoreVectors(store.blocks, embeddings.passages([block.text for block in store.blocks]))
    fitted = Lens(held.rows) if lens and len(held.rows) >= LEAST_SAMPLE else None
    by_meaning = Searcher(index, ranking, held, fitted)
    return lambda asked: by_meaning.search(
        asked.text, now=asked.asked, limit=HITS, vector=embeddings.questions([asked.text])[0]
    )


def _bm25s(store: Store) -> Answer:
    retriever = bm25s.BM25()
    retriever.index([bigrams(block.text) for block in store.blocks], show_progress=False)

    def answer(asked: Question) -> list[Hit]:
        words = [word for word in bigrams(asked.text) if word in retriever.vocab_dict]
        scores = retriever.get_scores(words).tolist() if words else []
        return _best(store.blocks, scores)

    return answer


def bigrams(text: str) -> list[str]:
    """Cut text into lower-case words, and Chinese into pairs of neighbours."""
    found: list[str] = []
    for run in re.findall(r"[\u3400-\u9fff]+|[^\W\u3400-\u9fff]+", text.lower()):
        pairs = [run[at : at + 2] for at in range(len(run) - 1)] if "\u3400" <= run[0] <= "\u9fff" else []
        found += pairs or [run]
    return found


def _fts5(store: Store) -> Answer:
    database = sqlite3.connect(":memory:")
    database.execute("CREATE VIRTUAL TABLE pieces USING fts5(text)")
    database.executemany("INSERT INTO pieces(rowid, text) VALUES (?, ?)", enumerate(one.text for one in store.blocks))

    def answer(asked: Question) -> list[Hit]:
        query = " OR ".join(f'"{word}"' for word in re.findall(r"\w+", asked.text))
        sql = "SELECT rowid, -rank FROM pieces WHERE pieces MATCH ? ORDER BY rank LIMIT ?"
        rows = database.execute(sql, (query, HITS)).fetchall() if query else []
        return [Hit(store.blocks[row], score) for row, score in rows]

    return answer


def _best(blocks: Sequence[Block], scores: Sequence[float]) -> list[Hit]:
    order = sorted((at for at, score in enumerate(scores) if score > 0), key=lambda at: -scores[at])
    return [Hit(blocks[at], scores[at]) for at in order[:HITS]]
