"""Crashes, kills and people are tried on the disk itself; what a power failure leaves, on a simulated one."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.disks import REAL_DISK


@pytest.fixture
def tmp_path() -> Iterator[Path]:
    with tempfile.TemporaryDirectory(dir=REAL_DISK) as folder:
        yield Path(folder)
