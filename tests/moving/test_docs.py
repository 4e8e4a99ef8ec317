"""What docs/moving.md shows is what happens."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
from pathlib import Path

from openclaw_memory.moving.recognising import FORMATS
from tests.moving.homes import FIXTURES, brought, exported, home

PAGE = (Path(__file__).parents[2] / "docs/moving.md").read_text(encoding="utf-8")


def test_example_runs(tmp_path: Path) -> None:
    """As it stands, in a process of its own."""
    (example,) = re.findall(r"```python\n(.*?)```", PAGE, re.DOTALL)
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", example],
        cwd=tmp_path,
        env={"PYTHONPATH": str(Path(__file__).parents[2])},
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout == "['- the user prefers Go', 'learned: the user prefers Go']\n"


def test_formats_and_fields_are_named(tmp_path: Path) -> None:
    """Every format, and every field of the lines."""
    assert re.findall(r"^\| `([a-z][a-z-]*)` \|", PAGE, re.MULTILINE) == list(FORMATS)
    config = home(tmp_path)
    brought(config, FIXTURES / "openclaw")
    for line in exported(config, tmp_path / "o.jsonl"):
        for name in re.findall(r'"([a-z0-9]+)":', line) if line.startswith('{"kind":"piece"') else ():
            assert f"`{name}`" in PAGE or f'"{name}"' in PAGE, name


def test_going_back_by_hand(tmp_path: Path) -> None:
    """The commands of the page bring everything back."""
    config = home(tmp_path)
    brought(config, FIXTURES / "claude")
    before = (config.memory_folder / "conversations/2026-01-10.md").read_bytes()
    done = brought(config, FIXTURES / "openclaw")
    (script,) = [block for block in re.findall(r"```sh\n(.*?)```", PAGE, re.DOTALL) if "sha256sum" in block]
    script = re.sub(r"cd ~/\.openclaw/backups/\S+", f"cd '{done.backup}'", script).replace(
        "~/.openclaw", f"'{tmp_path}'"
    )
    assert shutil.which("sha256sum")
    (done.backup / "elsewhere/workspace/main").mkdir(parents=True, exist_ok=True)
    subprocess.run(["sh", "-e", "-c", script], check=True, capture_output=True)
    assert (config.memory_folder / "conversations/2026-01-10.md").read_bytes() == before
    assert not (config.memory_folder / "conversations/2026-04-18.md").exists()
