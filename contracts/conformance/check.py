"""What a check is, and how a row of them is run."""

from __future__ import annotations

import tempfile
from collections.abc import Awaitable, Callable, Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Generic, TypeVar

from bus import Plugin
from contracts.conformance.probe import Probe
from contracts.conformance.report import Outcome, Result
from contracts.errors import CheckFailedError, NotOfferedError

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Check(Generic[T]):
    """One thing that the contract says.

    Args:
        name: What is checked, as a sentence; the event or the promise first.
        run: Drives a fresh implementation; raises `CheckFailedError` where it departs from the contract.
        required: Whether every implementation must offer it.
    """

    name: str
    run: Callable[[T], Awaitable[None]]
    required: bool = True


async def judge(check: Check[T], subject: T) -> Result:
    """Run one check against a subject and tell how it ended."""
    try:
        await check.run(subject)
    except CheckFailedError as error:
        return Result(check.name, Outcome.FAILED, error.reason)
    except NotOfferedError as error:
        outcome = Outcome.FAILED if check.required else Outcome.NOT_OFFERED
        return Result(check.name, outcome, str(error))
    return Result(check.name, Outcome.PASSED)


async def run_checks(
    checks: Iterable[Check[Probe]],
    factory: Callable[[Path], Plugin],
    *,
    patience: float,
    on_result: Callable[[Result], None] = lambda _result: None,
) -> tuple[Result, ...]:
    """Run each check against an implementation of its own in an empty folder of its own.

    Args:
        checks: The checks, in order.
        factory: Makes the implementation.
        patience: Seconds that each answer may take.
        on_result: Told of each result as soon as it is there.
    """
    results = []
    for check in checks:
        with tempfile.TemporaryDirectory(prefix="conformance-", ignore_cleanup_errors=True) as folder:
            result = await judge(_opened(check, factory, Path(folder), patience), None)
        on_result(result)
        results.append(result)
    return tuple(results)


def _opened(check: Check[Probe], factory: Callable[[Path], Plugin], root: Path, patience: float) -> Check[None]:
    """Give the same check with the starting and stopping of the implementation as part of it."""

    async def run(_nothing: None) -> None:
        async with Probe(factory, root, patience) as probe:
            await check.run(probe)

    return Check(check.name, run, check.required)
