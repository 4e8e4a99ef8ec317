"""The benchmark's messages and its judgement, on figures made up; the measuring itself is not a test."""

from __future__ import annotations

import importlib.util
import json
import sys
from pathlib import Path

import pytest

PATH = Path(__file__).parents[3] / "benchmarks" / "bench_search.py"


@pytest.fixture(scope="module")
def bench():
    spec = importlib.util.spec_from_file_location("bench_search_under_test", PATH)
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    yield module
    del sys.modules[spec.name]


def figures(bench, *, above=0.5e-3, rate=20_000, opened=0.1, memory=100_000_000):
    made = bench.Built(rate, 0, 0, opened, memory)
    searches = {bench.OURS: [0.001 + above, 0.010 + above, 0.002 + above], bench.TANTIVY: [0.001, 0.010, 0.002]}
    return bench.Figures(1_000, searches, {bench.OURS: made})


@pytest.mark.parametrize(
    ("changed", "told"),
    [
        ({}, []),
        ({"above": 1.1e-3}, ["above bare tantivy"]),
        ({"rate": 9_999}, ["built at"]),
        ({"opened": 0.51}, ["opened in"]),
        ({"memory": 350_000_001}, ["in memory"]),
    ],
)
def test_limits(bench, changed, told):
    """Each limit is missed by its own figure only."""
    missed = bench.shortfalls([figures(bench, **changed)])
    assert len(missed) == len(told)
    assert all(part in line for part, line in zip(told, missed, strict=True))


def test_messages_are_the_same_for_the_same_seed(bench, tmp_path):
    """Messages come from the seed, or from a dialogue's words; questions have as many terms as they should."""
    messages = bench.Messages()
    assert list(messages.texts(30)) == list(bench.Messages().texts(30))
    asked = messages.questions(5, 100)
    assert [len(words) for words in asked] == [bench.WORDS] * 5
    assert len({block.key for block in messages.blocks(1_000)}) == 1_000
    dialogue = tmp_path / "dialogue.json"
    dialogue.write_text(json.dumps({"turns": [{"text": "only these"}, {"content": "words"}], "id": "x"}))
    said = " ".join(bench.Messages(dialogue).texts(20)).split()
    assert set(said) == {"only", "these", "words"}
