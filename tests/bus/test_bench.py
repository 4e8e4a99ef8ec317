"""The benchmark's judgement, on figures made up; the measuring itself is not a test."""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path

import pytest

PATH = Path(__file__).parents[2] / "benchmarks" / "bench_bus.py"


@pytest.fixture(scope="module")
def bench():
    spec = importlib.util.spec_from_file_location("bench_bus_under_test", PATH)
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    yield module
    del sys.modules[spec.name]


def figures(bench, *, one=60.0, ten=20.0, trip=30e-6, most=1024):
    return {
        "asyncio.Queue": bench.Figures([100.0] * 3, [20.0] * 3, [1e-5] * 3, 1024),
        "bus": bench.Figures([one] * 3, [ten] * 3, [trip] * 3, most),
    }


@pytest.mark.parametrize(
    ("changed", "told"),
    [
        ({}, []),
        ({"one": 50.0}, []),
        ({"one": 49.0}, ["1 subscriber"]),
        ({"ten": 19.0}, ["10 subscribers"]),
        ({"trip": 50e-6}, ["round trip"]),
        ({"most": 1025}, ["burst"]),
        ({"one": 1.0, "ten": 1.0}, ["1 subscriber", "10 subscribers"]),
    ],
)
def test_limits(bench, changed, told):
    """Each limit is missed by its own figure only."""
    missed = bench.shortfalls(figures(bench, **changed))
    assert [line.split(":")[0] for line in missed] == told


def test_ratio_is_of_neighbours(bench):
    """The queue beside a measurement is what it is divided by, so that a slow moment does not count against anybody."""
    made = figures(bench)
    made["asyncio.Queue"].one = [100.0, 10.0, 50.0]
    made["bus"].one = [60.0, 6.0, 30.0]
    assert bench.ratio(made, "bus", 1) == pytest.approx(0.6)


def test_missing_peer_is_named(bench, monkeypatch):
    """Without a peer the others are measured all the same."""
    monkeypatch.setitem(sys.modules, "blinker", None)
    contenders, missing = bench.find_contenders()
    assert "blinker" in missing
    assert [contender.name for contender in contenders][:2] == ["asyncio.Queue", "bus"]
