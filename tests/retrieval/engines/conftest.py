"""Indexes of every kind, and what their tests compare."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from openclaw_memory.retrieval.engines import SafeIndex, open_index
from tests.disks import MEMORY_DISK


@pytest.fixture
def tmp_path() -> Iterator[Path]:
    with tempfile.TemporaryDirectory(dir=MEMORY_DISK) as folder:
        yield Path(folder)


@pytest.fixture(params=["tantivy", "sqlite"])
def engine(request: pytest.FixtureRequest) -> str:
    return request.param


@pytest.fixture
def opened(tmp_path: Path, engine: str) -> Iterator[Callable[..., SafeIndex]]:
    """Open the index of a folder, as often as a test wants; all are closed at the end."""
    made: list[SafeIndex] = []

    def opened(**how) -> SafeIndex:
        index = open_index(how.pop("root", tmp_path), "main", how.pop("engine", engine), **how)
        made.append(index)
        return index

    yield opened
    for index in made:
        index.close()
