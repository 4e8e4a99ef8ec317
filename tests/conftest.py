"""What holds for every test."""

from __future__ import annotations

import gc
import tempfile
from collections.abc import Generator

import pytest
from hypothesis import settings

from tests.disks import quick_disk

# A loaded machine is slow, and slowness is no wrong answer: speed is measured in benchmarks. The same cases are tried
# each time, so that a change is judged by what it changes; `make soak` looks for new ones.
settings.register_profile("checks", deadline=None, derandomize=True)
settings.register_profile("search", deadline=None)
settings.load_profile("checks")

# Thousands of memories are opened and closed, and on a disk they would wait for syncs most of the time. The rooms that
# are about the disk (tests/storage, tests/reliability) stay on it.
tempfile.tempdir = quick_disk()


@pytest.hookimpl(wrapper=True)
def pytest_collection() -> Generator[None, object, object]:
    """Find the tests without looking for garbage: nothing that is imported goes away, nor is it looked at later."""
    gc.disable()
    try:
        return (yield)
    finally:
        gc.freeze()
        gc.enable()
