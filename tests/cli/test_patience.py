"""What takes longer is told on a terminal, and only there."""

from __future__ import annotations

import io
import sys
import threading

import pytest

from openclaw_memory.cli import output
from openclaw_memory.cli.output import PATIENCE, padded, patience


class Terminal(io.StringIO):
    """A terminal, or a pipe, that notices what is written to it."""

    def __init__(self, *, is_terminal: bool) -> None:
        super().__init__()
        self._is_terminal = is_terminal
        self.told = threading.Event()

    def isatty(self) -> bool:
        return self._is_terminal

    def write(self, text: str) -> int:
        if "Reading" in text:
            self.told.set()
        return super().write(text)


def test_told_after_a_while(monkeypatch: pytest.MonkeyPatch) -> None:
    """While it lasts, on the standard error; nothing is left behind."""
    terminal = Terminal(is_terminal=True)
    monkeypatch.setattr(sys, "stderr", terminal)
    monkeypatch.setattr(output, "PATIENCE_SECONDS", 0.0)
    monkeypatch.setenv("TERM", "xterm")
    with patience("Reading ..."):
        assert terminal.told.wait(10)
        assert PATIENCE in names()
    assert PATIENCE not in names()


@pytest.mark.parametrize(("is_terminal", "quiet"), [(False, False), (True, True)])
def test_not_told(monkeypatch: pytest.MonkeyPatch, is_terminal: bool, quiet: bool) -> None:
    """Into a pipe, or where a command shows its own progress: nothing, and no thread."""
    terminal = Terminal(is_terminal=is_terminal)
    monkeypatch.setattr(sys, "stderr", terminal)
    monkeypatch.setattr(output, "PATIENCE_SECONDS", 0.0)
    with patience("Reading ...", quiet=quiet):
        assert PATIENCE not in names()
    assert terminal.getvalue() == ""


def test_short_work_says_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    """What is over before that is over without a word, failing or not."""
    terminal = Terminal(is_terminal=True)
    monkeypatch.setattr(sys, "stderr", terminal)
    monkeypatch.setattr(output, "PATIENCE_SECONDS", 60.0)
    with pytest.raises(ValueError, match="over"), patience("Reading ..."):
        raise ValueError("over")
    assert terminal.getvalue() == ""


def names() -> set[str]:
    return {thread.name for thread in threading.enumerate()}


@pytest.mark.parametrize(("text", "filled"), [("ab", "ab  "), ("索引", "索引"), ("索x", "索x "), ("abcde", "abcde")])
def test_columns_of_chinese(text: str, filled: str) -> None:
    """A Chinese character takes two of them."""
    assert padded(text, 4) == filled
