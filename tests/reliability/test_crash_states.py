"""Every crash state of every workload: acknowledged is there once, the rest whole or absent, start never fails."""

from __future__ import annotations

import pytest

from tests.reliability.harness import SHORT, punctual  # noqa: F401 - a fixture for every test here
from tests.reliability.proof import check, crashes, record, record_after_kill, record_restart
from tests.reliability.workloads import (
    CASES,
    Case,
    closed,
    edited_just_now,
    fact_replaced,
    flushed_and_shortened,
    messages_together,
    rotated,
)

RESTARTS = 3
"""So many crash states of each workload are started again with an eye on every step."""


@pytest.mark.parametrize("case", CASES, ids=str)
async def test_no_crash_loses_what_was_acknowledged(case: Case) -> None:
    """Reopen each state that a crash may leave at any step of a workload."""
    states, faults = await check(await record(case), case.damage)
    print(f"{case}: {states} states")
    assert not faults, "\n".join(faults)


@pytest.mark.parametrize(
    "case",
    [
        Case(messages_together),
        Case(fact_replaced),
        Case(flushed_and_shortened, SHORT),
        Case(edited_just_now),
        Case(rotated, SHORT, per_file=1),
    ],
    ids=str,
)
async def test_crash_during_recovery_loses_nothing(case: Case) -> None:
    """Crash, start, and crash again at any step of the start and of the close: a start may be interrupted too."""
    first = await record(case)
    crashes_before = crashes(first)
    states = 0
    for crash in crashes_before[:: max(1, len(crashes_before) // RESTARTS)]:
        again, faults = await check(await record_restart(first, crash))
        states += again
        assert not faults, "\n".join([f"first crash after step {crash.step}", *faults])
    print(f"{case}: {states} states of a second crash")


@pytest.mark.parametrize(
    "case",
    [
        Case(fact_replaced),
        Case(flushed_and_shortened, SHORT),
        Case(edited_just_now),
        Case(closed),
        Case(rotated, SHORT, per_file=1),
    ],
    ids=str,
)
async def test_kill_then_power_failure_loses_nothing(case: Case) -> None:
    """Kill the process at any step, start and close, then cut the power: what nobody synced is not trusted."""
    first = await record(case)
    states = 0
    for after in range(len(first.steps) + 1):
        again = await record_after_kill(first, after)
        more, faults = await check(again, damage=True, since=len(again.steps))
        states += more
        assert not faults, "\n".join([f"killed after step {after}", *faults])
    print(f"{case}: {states} states")
