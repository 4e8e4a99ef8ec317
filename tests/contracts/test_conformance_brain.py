"""The kit passes an honest Brain, and fails each wrong one for its own reason."""

from __future__ import annotations

import pytest
import toy_brain as toys

from contracts.conformance import Outcome, verify_brain


async def test_honest_brain_passes() -> None:
    """With any memory, and without one."""
    report = await verify_brain(toys.HonestBrain, examples=6)
    assert report.passed, report.table()
    assert len(report.named(Outcome.PASSED)) == 6


@pytest.mark.parametrize(
    ("brain", "only", "reason"),
    [
        (toys.NeedsMemory, "without any Memory", "NoResponderError"),
        (toys.BelievesEverything, "empty memory", "raised IndexError"),
        (toys.NeverReads, "reads before", "3 turns were played, but memory:read was asked 0 times"),
        (toys.NeverWrites, "reads before", "no memory:write of a conversation says so"),
        (toys.WritesBeforeItReads, "reads before", "must come before its memory:write"),
        (toys.MixesSessions, "reads before", "does not name the turn's session"),
        (toys.PublishesInvalid, "reads before", "memory:read is not valid on the wire"),
        (toys.Hangs, "reads before", "was not over within 0.05 s"),
    ],
)
async def test_wrong_brain_fails_for_its_reason(brain: type[toys.HonestBrain], only: str, reason: str) -> None:
    """The reason is given in words."""
    report = await verify_brain(brain, only=only, examples=0, patience=0.05 if brain is toys.Hangs else 2)
    assert not report.passed
    assert reason in report.results[0].reason


async def test_factory_that_raises_is_told() -> None:
    """A Brain that cannot be made fails with the reason."""
    report = await verify_brain(lambda: toys.HonestBrain(1), only="reads before", examples=0)  # type: ignore[call-arg]
    assert "the factory raised TypeError" in report.results[0].reason


async def test_brain_that_needs_memory_passes_the_rest() -> None:
    """Only what is wrong fails."""
    report = await verify_brain(toys.NeedsMemory, examples=0)
    assert report.named(Outcome.FAILED) == ["brain: goes on without any Memory"]
