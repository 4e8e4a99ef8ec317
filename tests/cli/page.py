"""`python -m tests.cli.page` writes into docs/cli.md what the commands say of themselves; a test holds it in step."""

from __future__ import annotations

import re
from pathlib import Path

from typer.testing import CliRunner

from openclaw_memory.cli.app import app

PAGE = Path(__file__).parents[2] / "docs/cli.md"
WIDTH = {"COLUMNS": "100", "TERMINAL_WIDTH": "100", "NO_COLOR": "1", "LC_ALL": "C.UTF-8"}


def renewed(text: str) -> str:
    """Give the page with each `$ openclaw-memory ... --help` followed by what that prints now."""
    return re.sub(r"(?<=```console\n)\$ openclaw-memory ([^\n]*--help)\n.*?(?=```)", _help, text, flags=re.DOTALL)


def _help(match: re.Match[str]) -> str:
    shown = CliRunner().invoke(app, match[1].split(), prog_name="openclaw-memory", env=WIDTH).output
    return f"$ openclaw-memory {match[1]}\n{shown.strip()}\n"


if __name__ == "__main__":
    PAGE.write_text(renewed(PAGE.read_text(encoding="utf-8")), encoding="utf-8")
