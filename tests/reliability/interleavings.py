"""Runs of interleavings from seeds: `PYTHONHASHSEED=0 python -m tests.reliability.interleavings SEED [RUNS]`."""

from __future__ import annotations

import logging
import os
import sys
import time

import anyio.to_thread

from openclaw_memory import owner as owner_module
from openclaw_memory.storage import store as store_module
from tests.reliability.harness import _here
from tests.reliability.shared import InlineJournal
from tests.reliability.world import World

ROUNDS = 8
"""Interleavings of one run, one after the other on one folder, which grows."""


def run(seed: int, rounds: int = ROUNDS) -> World:
    """Do one run. Raises: whatever was found."""
    world = World(seed)
    owner_module.locks = lambda config: world.locks.make(config.memory_folder)
    for number in range(rounds):
        try:
            world.round()
        except BaseException as error:
            again = f"PYTHONHASHSEED=0 python -m tests.reliability.interleavings {seed}"
            error.add_note(f"seed {seed}, round {number}; once more: {again}")
            error.add_note("\n".join(world.history[-40:]))
            raise
    return world


def main(first: int, runs: int) -> None:
    store_module.Journal = InlineJournal
    anyio.to_thread.run_sync = _here
    logging.disable(logging.CRITICAL)
    begun = time.perf_counter()
    turns = told = 0
    for seed in range(first, first + runs):
        world = run(seed)
        turns += world.turns.taken
        told += len(world.truth.told)
    print(f"{runs * ROUNDS} interleavings, {turns} turns, {told} writes, {time.perf_counter() - begun:.1f} s")


if __name__ == "__main__":
    if os.environ.get("PYTHONHASHSEED") != "0":
        sys.exit("the order of sets must be the same each time: PYTHONHASHSEED=0")
    main(int(sys.argv[1]), int(sys.argv[2]) if len(sys.argv) > 2 else 1)
    # Who was killed in a run stays behind in a thread.
    sys.stdout.flush()
    os._exit(0)
