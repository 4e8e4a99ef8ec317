"""Verify a whole Memory or Brain."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from bus import Plugin
from contracts.conformance import brain, finding, generated, goldens, keeping, lasting, mutations, privacy, tasks
from contracts.conformance.check import Check, judge, run_checks
from contracts.conformance.probe import Probe
from contracts.conformance.report import Report, Result

PATIENCE = 5.0
"""Seconds that each answer may take unless said otherwise."""
EXAMPLES = 25
"""Generated payloads an event unless said otherwise."""


EXCHANGES = (*finding.CHECKS, *keeping.CHECKS, *tasks.CHECKS, *lasting.CHECKS, *privacy.CHECKS)
"""The checks that write and look what became of it."""


def memory_checks(examples: int = EXAMPLES) -> tuple[Check[Probe], ...]:
    """Give all checks of a Memory, in order.

    Args:
        examples: Generated payloads an event; 0 leaves these checks out.
    """
    random = generated.checks(examples) if examples else ()
    return (*EXCHANGES, *goldens.checks(), *mutations.checks(), *random)


async def verify_memory(
    factory: Callable[[Path], Plugin],
    *,
    subject: str = "memory",
    patience: float = PATIENCE,
    examples: int = EXAMPLES,
    only: str = "",
    on_result: Callable[[Result], None] = lambda _result: None,
) -> Report:
    """Run the checks of a Memory.

    Args:
        factory: Makes a Memory that keeps everything below the folder it is given.
        subject: Name in the report.
        patience: Seconds that each answer may take.
        examples: Generated payloads an event.
        only: Run the checks whose name holds this text.
        on_result: Told of each result as soon as it is there.

    Raises:
        MissingExtraError: Payloads are to be generated, but hypothesis is not installed.
    """
    checks = [check for check in memory_checks(examples) if only in check.name]
    return Report(subject, await run_checks(checks, factory, patience=patience, on_result=on_result))


async def verify_brain(
    factory: Callable[[], brain.Brain],
    *,
    subject: str = "brain",
    patience: float = PATIENCE,
    examples: int = EXAMPLES,
    only: str = "",
    on_result: Callable[[Result], None] = lambda _result: None,
) -> Report:
    """Run the checks of a Brain.

    Args:
        factory: Makes a Brain: a plugin that also has `turn(message, session_id)`.
        subject: Name in the report.
        patience: Seconds that each turn may take.
        examples: Generated contexts that are replied to it.
        only: Run the checks whose name holds this text.
        on_result: Told of each result as soon as it is there.

    Raises:
        MissingExtraError: Contexts are to be generated, but hypothesis is not installed.
    """
    results = []
    for check in brain.checks(patience, examples):
        if only in check.name:
            result = await judge(check, factory)
            on_result(result)
            results.append(result)
    return Report(subject, tuple(results))
