"""Two to four processes and people who save, on one folder at once: nothing lost, nothing twice, in any order of steps.

What is interleaved, and what is checked, is in `world.py`. The runs are in processes of their own, one for each core,
since the order of sets must be the same each time.
"""

from __future__ import annotations

import os
import random
import subprocess
import sys
from pathlib import Path

import pytest

from tests.reliability.interleavings import ROUNDS

RUNS = 50
SOAK_RUNS = 10_000 // ROUNDS
ROOT = Path(__file__).parents[2]


def _run(runs: int) -> None:
    first = int(os.environ.get("RELIABILITY_SEED", random.randrange(1_000_000)))
    workers = min(os.cpu_count() or 1, 4)
    environment = os.environ | {"PYTHONHASHSEED": "0"}
    begun = [
        subprocess.Popen(
            [sys.executable, "-m", "tests.reliability.interleavings", str(first + number * runs), str(runs // workers)],
            cwd=ROOT,
            env=environment,
            text=True,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
        )
        for number in range(workers)
    ]
    told = [(worker.communicate()[0], worker.returncode) for worker in begun]
    for text, _ in told:
        print(text)
    failed = [text for text, code in told if code]
    assert not failed, "\n".join(failed)


@pytest.mark.timeout(300)
def test_many_processes_and_people_at_once() -> None:
    """Some hundred interleavings, other ones each time; a failure prints its seed and the command that repeats it."""
    _run(RUNS)


@pytest.mark.soak
@pytest.mark.timeout(3600)
def test_many_processes_and_people_for_long() -> None:
    """Ten thousand interleavings."""
    _run(SOAK_RUNS)
