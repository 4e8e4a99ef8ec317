"""The walks of docs/getting-started.md and docs/how-to.md happen as they are written down."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

DOCS = Path(__file__).parents[2] / "docs"
PROJECT = DOCS.parent


@pytest.mark.timeout(240)
@pytest.mark.parametrize("page", ["getting-started.md", "how-to.md"])
def test_page_happens(page: str, tmp_path: Path) -> None:
    """Each line after `$` in one shell after the other's folder; below it what is printed, `...` for any lines."""
    home, bin_ = tmp_path / "you", tmp_path / "bin"
    home.mkdir()
    bin_.mkdir()
    program = bin_ / "openclaw-memory"
    program.write_text(f'#!/bin/sh\nexec "{sys.executable}" -W error -m openclaw_memory.cli "$@"\n')
    program.chmod(0o755)
    env = {"HOME": str(home), "PATH": f"{bin_}:{os.environ['PATH']}", "PYTHONPATH": str(PROJECT), "LC_ALL": "C.UTF-8"}
    exported = ""
    for command, expected in steps((DOCS / page).read_text(encoding="utf-8")):
        if command.startswith("export "):
            exported += f"{command}\n"
            continue
        done = subprocess.run(
            ["bash", "-c", exported + command],
            cwd=home,
            env=env,
            capture_output=True,
            text=True,
        )
        shown = done.stdout.replace(str(home), "/home/you")
        assert re.fullmatch(pattern(expected), shown), f"$ {command}\n{shown}{done.stderr}"
    for example in re.findall(r"```python\n(.*?)```", (DOCS / page).read_text(encoding="utf-8"), re.DOTALL):
        code = example.replace("/home/you", str(home))
        done = subprocess.run(
            [sys.executable, "-W", "error", "-c", code], cwd=home, env=env, capture_output=True, text=True
        )
        assert (done.returncode, done.stderr) == (0, "")
        assert "Hangzhou" in done.stdout
        assert "Tuesdays" in done.stdout


def steps(text: str) -> list[tuple[str, str]]:
    """Give each command with what is to be printed."""
    found = []
    for block in re.findall(r"```console\n(.*?)```", text, re.DOTALL):
        for part in re.split(r"^\$ ", block, flags=re.MULTILINE)[1:]:
            command, _, output = part.partition("\n")
            found.append((command, output))
    return found


def pattern(expected: str) -> str:
    """`...` alone in a line stands for any lines, `…` for anything within one."""
    return "".join(
        r"(?:.*\n)*" if line == "..." else re.escape(line).replace("…", ".*") + r"\n" for line in expected.splitlines()
    )


def test_pattern() -> None:
    """It tells what fits from what does not."""
    assert re.fullmatch(pattern("a…\n...\nz\n"), "abc\n1\n2\nz\n")
    assert not re.fullmatch(pattern("a…\n...\nz\n"), "bbc\nz\n")
    assert not re.fullmatch(pattern("a\n"), "a\nb\n")
    assert steps("```console\n$ one\n1\n$ two\n```\n") == [("one", "1\n"), ("two", "")]
