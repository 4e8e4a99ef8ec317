"""What is malformed, huge or hostile is answered in words and with an exit code, and changes nothing."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import anyio
import pytest
import yaml
from typer.testing import CliRunner

from openclaw_memory.cli.app import app
from tests.memory_folder import remembered

CASES = yaml.safe_load((Path(__file__).parent / "bad_input.yaml").read_text(encoding="utf-8"))


@pytest.fixture(scope="module")
def root(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("openclaw")
    anyio.run(remembered, folder)
    return folder


@pytest.mark.parametrize("case", CASES, ids=lambda case: " ".join(map(str, case["words"]))[:40])
def test_bad_input(root: Path, case: dict[str, Any]) -> None:
    """The exit code of the table, the field or what was meant in the answer, no traceback, no document changed."""
    words = [*map(str, case["words"]), *(["x" * case["huge"]] if "huge" in case else []), *case.get("more", [])]
    words += [] if case.get("root") == "none" else ["--root", str(root)]
    before = documents(root)
    typed = "x" * case["input_huge"] if "input_huge" in case else case.get("input")
    shown = CliRunner().invoke(app, words, prog_name="openclaw-memory", input=typed)
    assert isinstance(shown.exception, SystemExit), shown.exception
    assert shown.exit_code == case["exit"], shown.output
    assert case["says"] in " ".join(shown.output.split())
    assert len(shown.output) < 5_000
    assert documents(root) == before


def documents(root: Path) -> dict[str, bytes]:
    return {str(path.relative_to(root)): path.read_bytes() for path in root.rglob("*.md")}
