"""The kit as a pytest plugin: one test for each check, by the fixtures `memory_check` and `brain_check`.

A test module gives a fixture `memory_factory` (or `brain_factory`) that returns the factory, and one test that calls
the check. What is not offered is skipped. Everything is imported when it is needed: pytest loads this plugin in every
project in whose environment the package is installed.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from contracts.conformance.report import Result


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """Make one test of each check."""
    if "memory_check" in metafunc.fixturenames:
        from contracts.conformance.verify import memory_checks

        checks = memory_checks()
        metafunc.parametrize("memory_check", checks, indirect=True, ids=[check.name for check in checks])
    if "brain_check" in metafunc.fixturenames:
        from contracts.conformance import brain
        from contracts.conformance.verify import EXAMPLES, PATIENCE

        several = brain.checks(PATIENCE, EXAMPLES)
        metafunc.parametrize("brain_check", several, indirect=True, ids=[check.name for check in several])


@pytest.fixture
def memory_check(request: pytest.FixtureRequest, memory_factory: Callable[[Path], Any]) -> Callable[[], None]:
    """Give a function that runs one check of a Memory; it fails with the reason, or skips what is not offered."""
    from contracts.conformance.check import run_checks
    from contracts.conformance.verify import PATIENCE

    def run() -> None:
        [result] = asyncio.run(run_checks([request.param], memory_factory, patience=PATIENCE))
        _conclude(result)

    return run


@pytest.fixture
def brain_check(request: pytest.FixtureRequest, brain_factory: Callable[[], Any]) -> Callable[[], None]:
    """Give a function that runs one check of a Brain; it fails with the reason."""
    from contracts.conformance.check import judge

    def run() -> None:
        _conclude(asyncio.run(judge(request.param, brain_factory)))

    return run


def _conclude(result: Result) -> None:
    from contracts.conformance.report import Outcome

    if result.outcome is Outcome.NOT_OFFERED:
        pytest.skip(result.reason)
    if result.outcome is Outcome.FAILED:
        pytest.fail(f"{result.name}: {result.reason}", pytrace=False)
