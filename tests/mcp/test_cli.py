"""The command, up to where it serves; docs/mcp.md and `test_stdio` have the rest."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

from openclaw_memory.cli.app import app
from openclaw_memory.storage.rootlock import FolderLock


def run(*arguments: str | Path) -> Result:
    return CliRunner().invoke(app, ["mcp", *map(str, arguments)], env={"LC_ALL": "C.UTF-8"})


@pytest.mark.parametrize(
    ("arguments", "code", "words"),
    [
        (["--session-kind", "primari"], 2, "did you mean 'primary'?"),
        (["--session-kind", "zebra"], 2, "there are: primary, sub, group, sandbox"),
        (["--session", "a/b"], 2, "session"),
        (["--http", "--host", "0.0.0.0"], 2, "without a password"),
        (["--http", "--port", "70000"], 2, "65535"),
        (["--http", "--port", "x"], 2, "--port"),
    ],
)
def test_usage(tmp_path: Path, arguments: list[str], code: int, words: str) -> None:
    """What was not understood ends with 2 and a hint."""
    (tmp_path / "memory").mkdir()
    shown = run("--root", tmp_path, *arguments)
    assert shown.exit_code == code, shown.output
    assert words in " ".join(shown.output.replace("│", " ").split())


def test_no_memory_there(tmp_path: Path) -> None:
    """A mistyped folder is not made."""
    shown = run("--root", tmp_path / "nowhere")
    assert shown.exit_code == 2
    assert not (tmp_path / "nowhere").exists()


def test_port_that_is_taken(tmp_path: Path) -> None:
    """Trouble, with the reason."""
    from openclaw_memory.mcp.http import listen

    (tmp_path / "memory").mkdir()
    with listen("127.0.0.1", 0) as taken:
        shown = run("--root", tmp_path, "--http", "--port", str(taken.getsockname()[1]))
    assert shown.exit_code == 3
    assert "in use" in shown.output


def test_memory_that_cannot_be_opened(tmp_path: Path) -> None:
    """Another memory writes the same workspace: the reason, and nothing on the standard output."""
    lock = FolderLock(tmp_path / "shared")
    lock.acquire()
    (tmp_path / "memory").mkdir()
    shown = run("--root", tmp_path, "--workspace", tmp_path / "shared")
    lock.release()
    assert (shown.exit_code, shown.stdout) == (3, "")
    assert "is in use by another memory" in shown.stderr


def test_package_is_missing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The message names the extra."""
    (tmp_path / "memory").mkdir()
    for name in [name for name in sys.modules if name.startswith("openclaw_memory.mcp.")]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, "mcp", None)
    for name in [name for name in sys.modules if name.startswith("mcp.")]:
        monkeypatch.delitem(sys.modules, name)
    shown = run("--root", tmp_path)
    assert shown.exit_code == 1
    assert "install openclaw-memory[mcp]" in shown.output
