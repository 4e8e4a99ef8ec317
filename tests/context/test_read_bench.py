"""The benchmark's judgement of reads, on figures made up; the measuring itself is not a test."""

from __future__ import annotations

import importlib.util
import sys
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

PATH = Path(__file__).parents[2] / "benchmarks" / "bench_read.py"


@pytest.fixture(scope="module")
def bench() -> Iterator[ModuleType]:
    spec = importlib.util.spec_from_file_location("bench_read_under_test", PATH)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    yield module
    del sys.modules[spec.name]


@pytest.mark.parametrize(
    ("changed", "told"),
    [
        ({}, []),
        ({"whole": [0.0081] * 3}, ["10,000 messages: a read took 8.1 ms, not below 8"]),
        ({"size": 100_000, "whole": [0.0081] * 3}, []),
        ({"size": 1_000_000, "whole": [0.025] * 3}, ["a read took 25.0 ms"]),
        ({"whole": [0.007, 0.007, 0.5]}, []),
        ({"assembly": [0.003] * 3}, ["its assembly took 3.0 ms"]),
        ({"start": 0.6}, ["the start took 600.0 ms"]),
        ({"pause": 0.06}, ["longest pause took 60.0 ms"]),
        ({"memory": 400_000_000}, ["400 MB in memory"]),
    ],
)
def test_missed_limits_are_named(bench: ModuleType, changed: dict[str, Any], told: list[str]) -> None:
    """Each limit is judged at its size, by the median."""
    figures: dict[str, Any] = {
        "size": 10_000,
        "start": 0.1,
        "whole": [0.005] * 3,
        "index": [0.001] * 3,
        "ranking": [0.001] * 3,
        "assembly": [0.001] * 3,
        "pause": 0.01,
        "memory": 100_000_000,
    }
    missed = bench.shortfalls([bench.Figures(**figures | changed)])
    assert len(missed) == len(told)
    assert all(expected in said for expected, said in zip(told, missed, strict=True))
    assert bench.table([bench.Figures(**figures)]).row_count == 1


def test_parts_are_added_up(bench: ModuleType) -> None:
    """What a part takes is told once, and again from nothing after a lap."""

    class Part:
        def look(self, taken: float) -> float:
            nonlocal now
            now += taken
            return taken

    now = 0.0
    stopwatch, part = bench.Stopwatch(lambda: now), Part()
    stopwatch.watch(part, "look", "index")
    assert part.look(2.0) == 2.0
    part.look(3.0)
    assert stopwatch.lap() == {"index": 5.0}
    assert stopwatch.lap() == {}
