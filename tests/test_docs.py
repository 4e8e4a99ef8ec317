"""What the README shows is what happens, and what it names is there."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

from tests import config_page

ROOT = Path(__file__).parent.parent
README = (ROOT / "README.md").read_text(encoding="utf-8")
PAGES = [ROOT / name for name in ("README.md", "ARCHITECTURE.md", "CONTRIBUTING.md", "CHANGELOG.md")]
PAGES += [*sorted((ROOT / "docs").glob("*.md")), ROOT / "examples/README.md"]


def test_example_of_the_readme_runs(tmp_path: Path) -> None:
    """As it stands, in a process of its own, with nothing but the project."""
    (example,) = re.findall(r"```python\n(.*?)```", README, re.DOTALL)
    path = tmp_path / "example.py"
    path.write_text(example, encoding="utf-8")
    done = subprocess.run(
        [sys.executable, "-W", "error", path],
        cwd=ROOT,
        env={"PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.returncode, done.stderr) == (0, "")
    assert "技术栈/主要语言: Go" in done.stdout
    assert "I moved from TypeScript to Go last week" in done.stdout


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_links_lead_somewhere(page: Path) -> None:
    """Every relative link and picture of the pages exists."""
    targets = re.findall(r"\]\(([^)#\s]+)[^)]*\)", page.read_text(encoding="utf-8"))
    missing = [target for target in targets if "://" not in target and not (page.parent / target).exists()]
    assert missing == []


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_make_targets_exist(page: Path) -> None:
    """Every `make ...` that a page names is in the Makefile."""
    known = set(re.findall(r"^([a-z]+):", (ROOT / "Makefile").read_text(), re.MULTILINE))
    named = set(re.findall(r"(?:^|`)make ([a-z]+)", page.read_text(encoding="utf-8"), re.MULTILINE))
    assert named <= known


def test_readme_names_the_two_commands() -> None:
    """A newcomer needs no other."""
    assert "make demo" in README
    assert "make test" in README


def test_configuration_page_is_in_step() -> None:
    """Every setting with its default; renew it by `python -m tests.config_page`."""
    assert config_page.PAGE.read_text(encoding="utf-8") == config_page.page()
