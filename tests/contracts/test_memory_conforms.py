"""Our own Memory passes the conformance kit."""

from __future__ import annotations

from pathlib import Path

import pytest

from contracts.conformance import Outcome
from contracts.conformance.check import Check, run_checks
from contracts.conformance.probe import Probe
from contracts.conformance.verify import memory_checks
from openclaw_memory import Memory, MemoryConfig

CHECKS = memory_checks(examples=12)


def factory(root: Path) -> Memory:
    """Make a Memory below a folder."""
    return Memory(MemoryConfig(root=root))


@pytest.mark.parametrize("check", CHECKS, ids=[check.name for check in CHECKS])
async def test_our_memory_conforms(check: Check[Probe]) -> None:
    """The check passes, or is of an optional event that is not offered."""
    [result] = await run_checks([check], factory, patience=20.0)
    assert result.outcome is not Outcome.FAILED, result.reason
    assert result.outcome is Outcome.PASSED or not check.required
