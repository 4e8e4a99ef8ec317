"""Connections to the SQLite file, and questions with many values."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from openclaw_memory.retrieval.engines.database import CHUNKS, Database, among, create


@pytest.fixture
def database(tmp_path: Path) -> Iterator[Database]:
    made = Database(tmp_path / "a.sqlite")
    create(made.writer, {"engine": "tantivy"}, "")
    yield made
    made.close()


def test_the_connection_used_last_is_used_next(database: Database) -> None:
    """Pages and statements that a connection has at hand serve the next search."""
    one, other = database.pin(), database.pin()
    database.unpin(other)
    database.unpin(one)
    for _ in range(3):
        again = database.pin()
        assert again is one
        database.unpin(again)


def test_any_number_of_values(database: Database) -> None:
    """Each value is found once, whatever the sizes of the questions that are prepared."""
    with database.writer:
        database.writer.executemany(
            "INSERT INTO terms VALUES (?, ?)", [(f"t{number}", number) for number in range(300)]
        )
    for size in {0, *(size + more for size in CHUNKS for more in (-1, 0, 1)), 130, 300}:
        wanted = [f"t{number}" for number in range(size)]
        found = among(database.writer, "SELECT term, held FROM terms WHERE term", wanted)
        assert sorted(found) == sorted((term, number) for number, term in enumerate(wanted))
