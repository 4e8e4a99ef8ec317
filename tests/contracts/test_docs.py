"""What docs/contracts.md shows is what happens."""

from __future__ import annotations

import os
import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

from bus import Request
from contracts.schema import ALL_EVENTS

ROOT = Path(__file__).parent.parent.parent
TEXT = (ROOT / "docs" / "contracts.md").read_text(encoding="utf-8")
BLOCKS = re.findall(r"^```(\w+)\n(.*?)^```$", TEXT, re.MULTILINE | re.DOTALL)
CONSOLES = [block for kind, block in BLOCKS if kind == "console"]
COMMANDS = [
    pytest.param(command, shown, id=command)
    for block in CONSOLES
    for command, shown in re.findall(r"^\$ (.*)\n((?:(?!\$ ).*\n)*)", block, re.MULTILINE)
]


def run(arguments: list[str], folder: Path) -> subprocess.CompletedProcess[str]:
    """Run a command in a folder that holds the modules of the documentation."""
    for kind, block in BLOCKS:
        if kind == "python" and block.startswith("# "):
            (folder / block.split("\n", 1)[0].removeprefix("# ")).write_text(block, encoding="utf-8")
    env = {**os.environ, "PYTHONPATH": os.pathsep.join([str(folder), str(ROOT)]), "PYTHONIOENCODING": "utf-8"}
    return subprocess.run(
        [sys.executable, *arguments], cwd=folder, env=env, capture_output=True, text=True, check=False
    )


@pytest.mark.parametrize(("command", "shown"), COMMANDS)
def test_command_prints_what_is_shown(command: str, shown: str, tmp_path: Path) -> None:
    """The output is shown to the letter, and the exit code is what the text says."""
    ran = run(shlex.split(command)[1:], tmp_path)
    assert ran.stdout == shown
    assert ran.returncode == (1 if "FAILED" in shown else 0)


def test_refusal_reads_as_shown(tmp_path: Path) -> None:
    """The example prints the text block that follows it."""
    example = next(block for kind, block in BLOCKS if kind == "python" and not block.startswith("# "))
    shown = next(block for kind, block in BLOCKS if kind == "text")
    assert run(["-c", example], tmp_path).stdout == shown


def test_table_names_every_event_and_its_reply() -> None:
    """An event that is added is documented."""
    rows = dict(re.findall(r"^\| `([a-z_:]+)` \|.*\| (?:`([a-z_:]+)` )?\|$", TEXT, re.MULTILINE))
    replies = {model.reply_type.event_type for model in ALL_EVENTS if issubclass(model, Request)}
    asked = {model.event_type: model.reply_type.event_type for model in ALL_EVENTS if issubclass(model, Request)}
    others = {model.event_type: "" for model in ALL_EVENTS if model.event_type not in replies | set(asked)}
    assert rows == asked | others
