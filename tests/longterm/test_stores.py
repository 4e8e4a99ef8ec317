"""What is each storage's own: files that a person and memory share, a database that is not there."""

from __future__ import annotations

import builtins
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from contracts import MemorySearch
from openclaw_memory.longterm import FileStore, SqlStore
from openclaw_memory.longterm.errors import LongTermError, MissingPackageError
from tests.support import FaultyFiles, no_space, remembering

NOON = datetime(2026, 5, 4, 12, tzinfo=UTC)


async def test_files_are_those_of_the_workspace(tmp_path: Path) -> None:
    """MEMORY.md where it is; memory finds what was written, in both."""
    workspace = tmp_path / "workspace/main"
    store = FileStore(workspace)
    (workspace / "memory").mkdir(parents=True)
    (workspace / "memory/MEMORY.md").write_text("- old\n")
    await store.replace("- the kettle is red\n")
    assert (workspace / "memory/MEMORY.md").read_text() == "- the kettle is red\n"
    assert not (workspace / "MEMORY.md").exists()
    await store.append("bought a kettle\nin town", NOON)
    async with remembering(tmp_path, history_file=True) as it:
        results = (await it.ask(MemorySearch(query="kettle"))).results
    assert {result.layer for result in results} == {"memory", "history"}


async def test_history_of_others_is_read(tmp_path: Path) -> None:
    """Lines as nanobot writes them; a last line without an end stays a line of its own."""
    path = tmp_path / "memory/HISTORY.md"
    path.parent.mkdir()
    path.write_bytes(b"[2026-03-02 09:10] grafting\r\n\r\n[2026-03-03 18:00] wax")
    store = FileStore(tmp_path)
    await store.append("new", NOON)
    assert [item.text for item in await store.history()] == ["grafting", "wax", "new"]
    assert path.read_bytes().startswith(b"[2026-03-02 09:10] grafting\r\n\r\n[2026-03-03 18:00] wax\r\n[2026-05-04")


async def test_full_disk_leaves_the_old_text(tmp_path: Path) -> None:
    """And says why."""
    await FileStore(tmp_path).replace("old")
    store = FileStore(tmp_path, FaultyFiles(no_space("append", "sync")))
    with pytest.raises(LongTermError, match="No space left"):
        await store.replace("new")
    assert await store.read() == "old"


async def test_every_text_is_kept(tmp_path: Path) -> None:
    """In a database what the memory said before stays in its table."""
    import sqlite3

    store = SqlStore(f"sqlite:///{tmp_path}/m.db")
    for text in ("one", "two"):
        await store.replace(text)
    await store.close()
    rows = sqlite3.connect(tmp_path / "m.db").execute("SELECT text FROM openclaw_long_term ORDER BY id").fetchall()
    assert rows == [("one",), ("two",)]


async def test_agents_share_a_database(tmp_path: Path) -> None:
    """Each sees its own."""
    one, other = (SqlStore(f"sqlite:///{tmp_path}/m.db", agent=name) for name in ("one", "other"))
    await one.replace("mine")
    await one.append("said", NOON)
    assert (await other.read(), await other.history(), await other.search("said")) == ("", [], [])
    await one.close()
    await other.close()


async def test_a_database_that_is_not_there(tmp_path: Path) -> None:
    """The error names it, without its password, and nothing of what was to be stored."""
    with pytest.raises(LongTermError, match="no URL"):
        SqlStore("not a url")
    store = SqlStore(f"sqlite:///{tmp_path}/missing/folder/m.db")
    with pytest.raises(LongTermError, match="unable to open") as error:
        await store.replace("a secret plan")
    assert "secret plan" not in str(error.value)
    pytest.importorskip("psycopg", reason="psycopg is not installed")
    away = SqlStore("postgresql+psycopg://me:hunter2@127.0.0.1:1/none")
    with pytest.raises(LongTermError) as refused:
        await away.read()
    assert "hunter2" not in str(refused.value)


def test_missing_package_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    """With the extra to install."""
    real = builtins.__import__

    def without(name: str, *args: Any, **more: Any) -> Any:
        if name.startswith("sqlalchemy"):
            raise ImportError(name)
        return real(name, *args, **more)

    monkeypatch.setattr(builtins, "__import__", without)
    with pytest.raises(MissingPackageError, match=r"openclaw-memory\[sql\]"):
        SqlStore("sqlite://")
