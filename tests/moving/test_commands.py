"""`import` and `export` from the terminal."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from tests.cli.test_commands import run
from tests.moving.homes import FIXTURES, tree
from tests.moving.test_importing import chats

PROJECT = Path(__file__).parents[2]


@pytest.fixture(autouse=True)
def _english(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LC_ALL", "C.UTF-8")
    for name in [name for name in os.environ if name.startswith("OPENCLAW_MEMORY_")]:
        monkeypatch.delenv(name)


@pytest.fixture
def root(tmp_path: Path) -> Path:
    root = tmp_path / "home"
    assert run("init", "--root", root, "--language", "en", "--timezone", "UTC").exit_code == 0
    return root


def told(*words: object, code: int = 0) -> Any:
    result = run(*words, "--json")
    assert result.exit_code == code, result.output
    return json.loads(result.stdout)


def test_preview_changes_nothing(root: Path) -> None:
    """It says how much of each layer is new, and what stays out; without --yes nobody is asked in a pipe."""
    before = tree(root)
    shown = run("import", FIXTURES / "chatgpt", "--root", root, "--dry-run")
    assert shown.exit_code == 0
    assert "Format: chatgpt\nconversation  7 new, 0 known already\n" in shown.output
    assert "1 messages of branches that were given up" in shown.output
    assert shown.output.endswith("Nothing was changed.\n")
    refused = run("import", FIXTURES / "chatgpt", "--root", root)
    assert refused.exit_code == 1
    assert "Give --yes" in refused.stderr
    assert tree(root) == before


def test_import_and_again(root: Path) -> None:
    """What was written, where everything lies as it was; then nothing is new."""
    done = run("import", FIXTURES / "claude", "--root", root, "--yes")
    assert done.exit_code == 0, done.output
    assert "Imported: conversation 5" in done.output
    (backup,) = (root / "backups").iterdir()
    assert f"As it was before: {backup}" in done.output
    again = told("import", FIXTURES / "claude", "--root", root, "--yes")
    assert again == {
        "format": "claude",
        "new": {},
        "known": {"conversation": 5, "note": 2},
        "conflicts": [],
        "problems": [],
        "left_out": [{"where": "projects.json", "words": again["left_out"][0]["words"]}],
        "imported": None,
        "refused": [],
        "backup": None,
    }
    assert "Nothing in it is new." in run("import", FIXTURES / "claude", "--root", root).output


def test_exit_code_tells_of_what_could_not_be_read(root: Path) -> None:
    """What is readable is imported all the same."""
    result = told("import", FIXTURES / "nanobot", "--root", root, "--yes", code=1)
    assert result["imported"]["conversation"] == 2
    assert [one["where"] for one in result["problems"]] == [
        "memory/history.jsonl, line 3",
        "memory/history.jsonl, line 4",
    ]
    assert told("search", "rootstock", "--root", root)["results"]


@pytest.mark.parametrize(
    ("words", "code", "answer"),
    [
        (["import", "nothing-there"], 2, "does not exist"),
        (["import", str(FIXTURES / "chatgpt"), "--from", "chatgtp"], 2, "openclaw, nanobot"),
        (["import", str(FIXTURES / "chatgpt"), "--from", "memsearch"], 1, "nothing of memsearch"),
        (["export", "x.jsonl", "--format", "xml"], 2, "jsonl, markdown"),
        (["export", "x.jsonl", "--since", "yesterday"], 2, "no day such as"),
        (["export", "-"], 2, "use a file name"),
        (["export", ".", "--format", "markdown"], 1, "--force"),
        (["export", "x", "--format", "markdown", "--session", "s1"], 1, "exported whole"),
    ],
)
def test_bad_words(root: Path, tmp_path: Path, words: list[str], code: int, answer: str) -> None:
    """Each is answered with what would be taken."""
    result = run(*words, "--root", root)
    assert result.exit_code == code, result.output
    assert answer in " ".join(result.stderr.replace("│", " ").split())


def test_export_and_back(root: Path, tmp_path: Path) -> None:
    """By commands alone: the same search answers in the new home."""
    run("import", FIXTURES / "openclaw", "--root", root, "--yes")
    run("fact", "set", "Tools", "editor", "helix", "--root", root)
    shown = told("export", tmp_path / "out.jsonl", "--root", root)
    assert shown["documents"] > 6
    other = tmp_path / "other"
    run("init", "--root", other, "--language", "en", "--timezone", "UTC")
    assert run("import", tmp_path / "out.jsonl", "--root", other, "--yes").exit_code == 0
    assert run("fact", "get", "Tools", "editor", "--root", other).output == "helix\n"
    for query in ("Fresnel", "Uppsala", "周报"):
        one, two = (told("search", query, "--root", home)["results"] for home in (root, other))
        assert [(hit["path"], hit["snippet"]) for hit in one] == [(hit["path"], hit["snippet"]) for hit in two]
    exported = run("export", tmp_path / "files", "--format", "markdown", "--root", root)
    assert exported.exit_code == 0
    assert (tmp_path / "files/memory/facts/user-profile.md").exists()


def test_counts_are_of_the_same_things_both_times(root: Path, tmp_path: Path) -> None:
    """What the first import called new, by number, the second calls known: entries, facts and tasks, and no files."""
    for text in ("tea in the morning", "the boat is blue", "Lisa paints"):
        run("remember", text, "--root", root)
    for key in ("editor", "shell"):
        run("fact", "set", "Tools", key, "a good one", "--root", root)
    for title in ("mend the net", "paint the boat"):
        run("task", "add", title, "--root", root)
    run("export", tmp_path / "out.jsonl", "--root", root)
    other = tmp_path / "other"
    run("init", "--root", other, "--language", "en", "--timezone", "UTC")
    first = told("import", tmp_path / "out.jsonl", "--root", other, "--yes")
    assert {name: first["new"].get(name) for name in ("memory", "fact", "task")} == {"memory": 3, "fact": 2, "task": 2}
    assert first["imported"] == first["new"]
    again = told("import", tmp_path / "out.jsonl", "--root", other, "--yes")
    assert (again["new"], again["known"]) == ({}, first["new"])
    run("remember", "tea in the evening", "--root", other)
    run("fact", "set", "Tools", "pager", "less", "--root", other)
    run("task", "add", "sail", "--root", other)
    later = told("import", tmp_path / "out.jsonl", "--root", other, "--yes")
    assert (later["new"], later["known"]) == ({}, first["new"])


def test_killed_and_run_again(root: Path, tmp_path: Path) -> None:
    """Whatever it had written by then: the next run brings the rest, and nothing is there twice."""
    source = chats(tmp_path / "c.json", [f"message {number} of many" for number in range(2500)])
    process = started(root, source)
    process.kill()
    process.communicate(timeout=40)
    again = told("import", source, "--root", root, "--yes")
    assert 0 < again["known"]["conversation"] < 2500
    assert again["known"]["conversation"] + again["imported"]["conversation"] == 2500
    run("export", tmp_path / "out.jsonl", "--root", root)
    lines = [json.loads(line) for line in (tmp_path / "out.jsonl").read_text().splitlines()]
    said = [line["text"] for line in lines if line["kind"] == "piece"]
    assert said == [f"message {number} of many" for number in range(2500)]


def started(root: Path, source: Path) -> subprocess.Popen[str]:
    """An import in a process of its own, as soon as it has written something."""
    process = subprocess.Popen(
        [sys.executable, "-m", "openclaw_memory.cli", "import", str(source), "--root", str(root), "--yes"],
        cwd=PROJECT,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    journal = root / "memory/.journal"

    def size() -> int:
        return sum(path.stat().st_size for path in journal.iterdir()) if journal.is_dir() else 0

    before, until = size(), time.monotonic() + 40
    while time.monotonic() < until and process.poll() is None and size() <= before + 50_000:
        time.sleep(0.01)
    return process


def test_ctrl_c_in_a_process(root: Path, tmp_path: Path) -> None:
    """A real signal, while it writes: exit code 130, one line that says how memory is, and everything as it was."""
    run("import", FIXTURES / "claude", "--root", root, "--yes")
    source = chats(tmp_path / "c.json", [f"message {number} of many" for number in range(6000)])
    before = tree(root)
    process = started(root, source)
    process.send_signal(signal.SIGINT)
    _, errors = process.communicate(timeout=40)
    assert process.returncode == 130, errors
    assert "everything is as it was before" in errors
    assert "Traceback" not in errors
    assert tree(root) == before
