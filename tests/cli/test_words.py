"""The commands speak the language of the terminal, all of them, all of it."""

from __future__ import annotations

import string
import subprocess
import sys
from pathlib import Path

import pytest

from openclaw_memory.cli.words import language_of, say
from openclaw_memory.cli.zh import SAID
from openclaw_memory.cli.zh_help import HELP
from tests.cli.spoken import helped, said

PROJECT = Path(__file__).parents[2]

BY_NAME = {"conversation", "fact", "task", "summary", "backup", "workspace", "sessions", "journal", "state", "index"}
"""Names of parts, which `status` says by what they are called."""


@pytest.mark.parametrize(
    ("environ", "language"),
    [
        ({}, "en"),
        ({"LANG": "zh_CN.UTF-8"}, "zh"),
        ({"LANG": "zh_TW"}, "zh"),
        ({"LANG": "C"}, "en"),
        ({"LANG": "de_DE.UTF-8"}, "en"),
        ({"LANG": "en_US.UTF-8", "LC_MESSAGES": "zh_CN.UTF-8"}, "zh"),
        ({"LANG": "zh_CN.UTF-8", "LC_ALL": "C.UTF-8"}, "en"),
        ({"LANG": "zh_CN.UTF-8", "LC_ALL": ""}, "zh"),
    ],
)
def test_language_is_that_of_the_terminal(environ: dict[str, str], language: str) -> None:
    """LC_ALL before LC_MESSAGES before LANG; one that is empty says nothing."""
    assert language_of(environ) == language


def test_everything_said_has_chinese_words() -> None:
    """Whoever adds a sentence to a command adds it to openclaw_memory/cli/zh.py, and its help to zh_help.py."""
    missing = {text: where for text, where in said().items() if text not in SAID}
    missing |= {text: where for text, where in helped().items() if text not in HELP}
    assert missing == {}


def test_nothing_is_translated_that_nobody_says() -> None:
    """A sentence that was changed leaves no old one behind."""
    assert SAID.keys() - said().keys() == BY_NAME
    assert HELP.keys() - helped().keys() == set()


@pytest.mark.parametrize("english", sorted(SAID), ids=lambda text: text[:30])
def test_values_stand_in_both_languages(english: str) -> None:
    """The same places, with the same forms."""
    assert places(SAID[english]) == places(english)


def places(text: str) -> set[tuple[str | None, str | None, str | None]]:
    return {part[1:] for part in string.Formatter().parse(text) if part[1]}


def test_values_are_put_in_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """What a value holds is no place for another."""
    assert say("{count} × {code}", count=2, code="{count}") == "2 × {count}"
    monkeypatch.setenv("LC_ALL", "zh_CN.UTF-8")
    assert say("All is well.") == "一切正常。"
    assert say("never said") == "never said"


def test_help_in_chinese() -> None:
    """As a terminal in China shows it."""
    done = subprocess.run(
        [sys.executable, "-W", "error", "-m", "openclaw_memory.cli", "task", "--help"],
        cwd=PROJECT,
        env={"PYTHONPATH": str(PROJECT), "LANG": "zh_CN.UTF-8"},
        capture_output=True,
        encoding="utf-8",
        check=True,
    )
    assert "查看和修改待办的任务。" in done.stdout
    assert "列出待办的任务" in done.stdout
