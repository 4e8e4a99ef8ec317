"""Cases of the file formats, kept as data.

A file `fixtures/<name>.md` holds cases: a title, then input and expected text between lines with a single dot. A test
with a parameter `<name>_case` runs once for each. So that such characters can be seen, `␍` stands for a carriage
return, `␣` for a space at the end of a line, and `‹BOM›` for a byte order mark; a final `‹no newline›` takes the last
line end away.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import pytest

FIXTURES = Path(__file__).parent / "fixtures"
SUFFIX = "_case"


@dataclass(frozen=True)
class Case:
    """One case: its input and what is expected, as text."""

    title: str
    given: str
    expected: str


def read_cases(path: Path) -> list[Case]:
    """Read a file of cases."""
    cases = []
    title, parts, depth = "", [""], 0
    for line in path.read_text(encoding="utf-8").split("\n"):
        if line == ".":
            depth += 1
            parts.append("")
        elif depth == 0:
            title = line or title
        else:
            parts[-1] += line + "\n"
        if depth == 3:
            cases.append(Case(title, _characters(parts[1]), _characters(parts[2])))
            parts, depth = [""], 0
    assert depth == 0, f"{path.name}: the last case is not closed by a dot"
    return cases


def _characters(text: str) -> str:
    text = text.replace("‹no newline›\n", "").replace("‹BOM›", "\ufeff")
    return text.replace("␍", "\r").replace("␣", " ")


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """Run a test that asks for `<name>_case` once for each case of that file."""
    for name in metafunc.fixturenames:
        if name.endswith(SUFFIX):
            cases = read_cases(FIXTURES / f"{name.removesuffix(SUFFIX)}.md")
            metafunc.parametrize(name, cases, ids=[case.title for case in cases])
