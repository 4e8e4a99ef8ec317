"""What memory refuses is said in the language of the terminal."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

import openclaw_memory
from openclaw_memory.cli.refusals import refusal
from openclaw_memory.cli.zh_refusals import REFUSALS
from openclaw_memory.errors import FolderInUseError, Refused, RootInUseError

NOT_MET = {
    # Of contexts, of models' tools and of the guide, which are asked for by programs.
    "is {} tokens, more than the context window of {}",
    "must be a whole number of {} from {} to {}, not {}",
    "{} has no guide; use one of {}",
    "{}, not {}",
    # What a batch adds, what only a job of the heartbeat meets, what no command sends.
    "{}; nothing of the batch was written",
    "it was consolidated by somebody else meanwhile",
    "{} can't be an item of its own",
    "it has no offset; put it into the user's time zone",
    "a step is a Step with one line of text",
    "a task has {}",
    "use letters, digits and `_`",
    "front matter holds strings, numbers and lists, not {}",
    "a number has at most 18 digits: write it as a string",
}
"""Refusals that nobody at a terminal meets."""


def refused() -> set[str]:
    """Give the words of each refusal in the source, with `{}` for values."""
    found = set()
    for path in Path(openclaw_memory.__file__).parent.rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Call) and getattr(node.func, "id", "") in ("Refused", "UnwritableValueError"):
                words = node.args[-1].left if isinstance(node.args[-1], ast.BinOp) else node.args[-1]
                if isinstance(words, ast.Constant):
                    found.add(str(words.value))
                elif isinstance(words, ast.JoinedStr):
                    parts = (part.value if isinstance(part, ast.Constant) else "{}" for part in words.values)
                    found.add("".join(map(str, parts)))
    return found


def test_every_refusal_has_chinese_words() -> None:
    """Whoever adds a refusal adds it to openclaw_memory/cli/zh_refusals.py; one that was changed leaves no old one."""
    in_errors = {"{} is in use by {}; stop it, or choose another root"} | {
        english for english in REFUSALS if english in str(FolderInUseError("{}"))
    }
    assert refused() - NOT_MET - REFUSALS.keys() == set()
    assert REFUSALS.keys() - refused() == in_errors
    assert refused() >= NOT_MET


@pytest.mark.parametrize("english", sorted(REFUSALS), ids=lambda text: text[:30])
def test_values_stand_in_both_languages(english: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """A refusal is found by its words, with its field and its values; elsewhere it stays English."""
    values = [f"value {number}" for number in range(english.count("{}"))]
    text = str(Refused("some.field[0]", english.format(*values)))
    monkeypatch.setenv("LC_ALL", "C")
    assert refusal(text) == text
    monkeypatch.setenv("LC_ALL", "zh_CN.UTF-8")
    said = refusal(text)
    assert said == "some.field[0]: " + REFUSALS[english].format(*values)
    assert all(value in said for value in values)


def test_who_has_the_folder_is_told_in_chinese(monkeypatch: pytest.MonkeyPatch) -> None:
    """Errors without a field too; what is not known stays as it is."""
    monkeypatch.setenv("LC_ALL", "zh_CN.UTF-8")
    assert refusal(str(RootInUseError("/root", "process 7"))) == "/root 正被 process 7 使用；请停止它，或另选一个根目录"
    assert refusal(str(FolderInUseError("/folder"))).startswith("/folder 正被另一个记忆使用")
    assert refusal("never: said") == "never: said"
