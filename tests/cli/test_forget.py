"""Forgetting from the command line: a look first, a question, a receipt."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

from openclaw_memory.cli.app import app
from openclaw_memory.storage.files import LocalFiles
from tests.lifecycle.forgetting.world import SECRET, filled, holding
from tests.support import remembering


@pytest.fixture(autouse=True)
def _files_are_old(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nobody is just saving them."""
    monkeypatch.setattr(LocalFiles, "age", lambda self, stamp: 60.0)


@pytest.fixture
async def root(tmp_path: Path) -> Path:
    async with remembering(tmp_path) as memory:
        await filled(memory)
    return tmp_path


def run(*words: object, typed: str = "") -> Result:
    return CliRunner().invoke(app, ["forget", *map(str, words)], input=typed, prog_name="openclaw-memory")


def test_it_shows_asks_and_does(root: Path) -> None:
    """What would go, by file; a question; then the receipt, and exit code 0."""
    shown = run(SECRET, "--root", root, typed="y\n")
    assert shown.exit_code == 0, shown.output
    assert "2  conversations/2026-05-04.md" in shown.output
    assert "Forget this for good? [y/N]" in shown.output
    assert "every byte was looked through, and nothing is left." in shown.output
    assert holding(root, SECRET) == []


@pytest.mark.parametrize("typed", ["n\n", "", "\n"])
def test_without_a_yes_nothing_changes(root: Path, typed: str) -> None:
    shown = run(SECRET, "--root", root, typed=typed)
    assert shown.exit_code == 1
    assert holding(root, SECRET)


def test_a_dry_run_asks_nothing_and_json_is_the_event(root: Path) -> None:
    shown = run(SECRET, "--root", root, "--dry-run", "--json")
    assert shown.exit_code == 0, shown.output
    told = json.loads(shown.stdout)
    assert told["dryRun"]
    assert told["total"] == sum(place["count"] for place in told["places"]) > 0
    assert holding(root, SECRET)
    done = run(SECRET, "--root", root, "--yes", "--json")
    assert json.loads(done.stdout)["verified"]


@pytest.mark.parametrize(
    ("words", "code", "said"),
    [
        (["zeppelin"], 1, "Nothing was found."),
        (["我"], 1, "at least 2 are needed"),
        ([], 2, "takes exactly one way"),
        (["x", "--topic", "y"], 2, "takes exactly one way"),
        (["--section", "S"], 2, "section and key of a fact go together"),
        (["--before", "yesterday"], 2, "'yesterday' is no time"),
        (["--path", "../x"], 2, "no path inside the root"),
        (["--task", "OPEN-999"], 1, "Nothing was found."),
        (["--before", "2020-01-01"], 1, "Nothing was found."),
    ],
)
def test_what_is_not_found_or_not_understood(root: Path, words: list[str], code: int, said: str) -> None:
    shown = run(*words, "--root", root, "--yes")
    assert shown.exit_code == code, shown.output
    assert said in " ".join(shown.output.replace("│", " ").split())
