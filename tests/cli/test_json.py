"""Every command says the same to programs, in a shape that docs/cli.md tells."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import typer

from openclaw_memory.cli.app import app
from tests.cli.page import PAGE
from tests.cli.test_commands import PROJECT, run

FOR_PEOPLE = {"demo", "chat"}
"""A walk to look at, a talk to take part in."""

PROTOCOLS = {"mcp"}
"""It speaks to programs anyway."""


def commands(command: Any, before: str = "") -> Iterator[tuple[str, Any]]:
    inner = getattr(command, "commands", {})
    if not inner:
        yield before.strip(), command
    for name, below in inner.items():
        yield from commands(below, f"{before} {name}")


def test_every_command_has_json() -> None:
    """But for those that are for people alone."""
    without = {
        name
        for name, command in commands(typer.main.get_command(app))
        if not any("--json" in parameter.opts for parameter in command.params)
    }
    assert without == FOR_PEOPLE | PROTOCOLS


@pytest.mark.parametrize(
    "words",
    [
        ("init",),
        ("status",),
        ("remember", "tea"),
        ("fact", "set", "s", "k", "v"),
        ("fact", "get"),
        ("task", "add", "t", "--step", "one"),
        ("task", "list"),
        ("task", "state", "1", "in_progress"),
        ("task", "done", "1"),
        ("search", "tea"),
        ("index", "status"),
        ("rebuild-index",),
        ("verify",),
        ("repair",),
        ("config", "show"),
        ("guide",),
    ],
    ids=" ".join,
)
def test_shape_is_told(root: Path, words: tuple[str, ...]) -> None:
    """One document, nothing else; each key of it stands on the page, or is a field of the event that the page names."""
    result = run(*words, *([] if words == ("guide",) else ["--root", root]), "--json")
    assert (result.exit_code, result.stderr) == (0, ""), result.output
    schemas = PROJECT / "contracts/schemas"
    told = [PAGE, schemas / "memory.written.json", schemas / "memory.results.json"]
    page = "".join(path.read_text(encoding="utf-8") for path in told)
    unknown = [key for key in keys(json.loads(result.stdout)) if not re.search(rf"[`{{( ,\"]{key}[`,}}\"]", page)]
    assert unknown == []


@pytest.fixture(scope="module")
def root(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("openclaw")


def keys(value: Any) -> set[str]:
    """The keys of an object and of those in it, as far as they are names; layers and settings are values."""
    if isinstance(value, list):
        return {key for inner in value for key in keys(inner)}
    if not isinstance(value, dict):
        return set()
    below = {key for name, inner in value.items() if name not in ("by_layer", "identity") for key in keys(inner)}
    return {*value} | below


@pytest.mark.parametrize(("variable", "coloured"), [({}, True), ({"NO_COLOR": "1"}, False), ({"TERM": "dumb"}, False)])
def test_colours_of_a_terminal(tmp_path: Path, variable: dict[str, str], coloured: bool) -> None:
    """On a terminal, and not where it or its user wants none."""
    run("init", "--root", tmp_path)
    ours, theirs = os.openpty()
    env = {"PYTHONPATH": str(PROJECT), "PATH": os.environ["PATH"], "LC_ALL": "C.UTF-8", "TERM": "xterm", **variable}
    command = [sys.executable, "-m", "openclaw_memory.cli", "status", "--root", str(tmp_path)]
    with subprocess.Popen(command, cwd=PROJECT, env=env, stdin=theirs, stdout=theirs, stderr=theirs):
        os.close(theirs)
        shown = b""
        while True:
            try:
                part = os.read(ours, 65_536)
            except OSError:
                # How Linux says that the other end is closed.
                break
            if not part:
                break
            shown += part
    os.close(ours)
    assert b"All is well." in shown
    assert bool(re.search(rb"\x1b\[[0-9;]*3[0-7]m", shown)) is coloured
