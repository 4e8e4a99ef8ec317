"""`openclaw-memory chat`: what is said is stored, whatever becomes of the answer."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any, ClassVar

import anyio.to_thread
import pytest
from typer.testing import CliRunner, Result

from openclaw_memory.cli.app import app
from openclaw_memory.completion import Completion

PROJECT = Path(__file__).parents[2]


class Parrot:
    """A model of one's own: it answers with what it was told to, and keeps what it was asked."""

    asked: ClassVar[list[Sequence[Mapping[str, Any]]]] = []

    def __init__(self, answer: str = "Understood.", fails: bool = False, slow: bool = False) -> None:
        self._answer, self._fails, self._slow = answer, fails, slow

    async def complete(
        self,
        messages: Sequence[Mapping[str, Any]],
        *,
        tools: Sequence[Mapping[str, Any]] = (),
        max_tokens: int | None = None,
    ) -> Completion:
        Parrot.asked.append(messages)
        if self._slow:
            await anyio.sleep(60)
        if self._fails:
            raise RuntimeError("the endpoint is on fire")
        return Completion(self._answer)


def chat(root: Path, *lines: str | bytes, **model: Any) -> Result:
    """Pipe lines into a chat; `model` are options of `Parrot`, without them the script answers."""
    root.mkdir(exist_ok=True)
    if model:
        (root / "config.yaml").write_text(
            f"language: en\ncompletion:\n  provider: {__name__}:Parrot\n  options: {model}\n", encoding="utf-8"
        )
    piped = b"".join(line if isinstance(line, bytes) else f"{line}\n".encode() for line in lines)
    Parrot.asked = []
    return CliRunner().invoke(app, ["chat", "--root", str(root)], input=piped, prog_name="openclaw-memory")


def stored(root: Path) -> str:
    return "".join(path.read_text(encoding="utf-8") for path in sorted(root.glob("memory/conversations/*.md")))


def test_both_sides_are_stored_and_shown(tmp_path: Path) -> None:
    """Without a model a script answers; memory is real, and the end of what is piped is the end."""
    shown = chat(tmp_path, "My cat is called Miso", "", "what is my cat called?")
    assert shown.exit_code == 0, shown.output
    assert "agent> Noted." in shown.output
    assert "  → conversations/" in shown.output
    assert f"Stored in {tmp_path / 'memory'}" in shown.output
    assert stored(tmp_path).count("role=user") == stored(tmp_path).count("role=assistant") == 2
    assert "My cat is called Miso" in stored(tmp_path)


def test_what_was_said_before_is_recalled_in_another_session(tmp_path: Path) -> None:
    """The line tells where it was found, and its words."""
    chat(tmp_path, "My cat is called Miso")
    shown = CliRunner().invoke(
        app, ["chat", "--root", str(tmp_path), "--session", "later"], input="what is my cat called?\n"
    )
    assert "  ← conversations/" in shown.output
    assert "Miso" in shown.output
    assert "Pieces that came to mind: 1." in shown.output


def test_what_is_asked_to_be_remembered_is_told(tmp_path: Path) -> None:
    """The entry's address and the words of the rule that found it."""
    shown = chat(tmp_path, "remember that the deploy key is on otter", answer="Yes.")
    assert "  → workspace/main/MEMORY.md#" in shown.output
    assert "Remembered: the deploy key is on otter" in shown.output


def test_a_model_gets_what_memory_gave(tmp_path: Path) -> None:
    """Its prompt holds the history and the message last; its answer is stored."""
    shown = chat(tmp_path, "My cat is called Miso", "and my dog?", answer="Rex, I think.")
    assert shown.exit_code == 0, shown.output
    assert "agent> Rex, I think." in shown.output
    roles = [message["role"] for message in Parrot.asked[1]]
    assert roles[0] == "system"
    assert [message["content"] for message in Parrot.asked[1]][-3:] == [
        "My cat is called Miso",
        "Rex, I think.",
        "and my dog?",
    ]
    assert stored(tmp_path).count("Rex, I think.") == 2


@pytest.mark.parametrize(
    ("model", "told"),
    [({"fails": True}, "! RuntimeError: the endpoint is on fire"), ({"answer": " "}, "(the model said nothing)")],
)
def test_a_model_that_does_not_answer_costs_the_answer_alone(tmp_path: Path, model: dict[str, Any], told: str) -> None:
    """It is told why; the message is stored, and the talk goes on."""
    shown = chat(tmp_path, "first", "second", **model)
    assert shown.exit_code == 0
    assert shown.output.count(told) == 2
    assert stored(tmp_path).count("role=user") == 2
    assert "role=assistant" not in stored(tmp_path)


def test_a_model_that_can_not_be_made_is_told_at_once(tmp_path: Path) -> None:
    """Nothing was said yet: exit code 2, and the setting is named."""
    (tmp_path / "config.yaml").write_text("completion: {provider: 'nowhere:Nothing'}\n")
    shown = CliRunner().invoke(app, ["chat", "--root", str(tmp_path)], input="hi\n")
    assert shown.exit_code == 2
    assert "completion.provider" in shown.output


def test_commands(tmp_path: Path) -> None:
    """`/context` and `/budget` show the last message's; an unknown one is answered; `/quit` ends."""
    shown = chat(
        tmp_path, "/context", "My cat is called Miso", "again", "/context", "/budget", "/what", "/quit", "lost"
    )
    assert "Nothing was said yet." in shown.output
    assert "user: My cat is called Miso" in shown.output
    assert " of 8,000 tokens" in shown.output
    assert "There are /context, /budget and /quit." in shown.output
    assert "lost" not in stored(tmp_path)


def test_odd_input(tmp_path: Path) -> None:
    """No UTF-8, a NUL, a path: stored as far as a file can hold it, and the talk goes on."""
    shown = chat(tmp_path, b"caf\xe9\n", "a\0b", "/etc/hosts is a file", "好")
    assert shown.exit_code == 0, shown.output
    assert "caf\ufffd" in stored(tmp_path)
    assert "a\ufffdb" in stored(tmp_path)
    assert "/etc/hosts is a file" in stored(tmp_path)
    assert stored(tmp_path).count("role=user") == 4


def test_a_message_that_the_contract_refuses(tmp_path: Path) -> None:
    """Its limit is told; the next one is stored."""
    shown = chat(tmp_path, "x" * 1_100_000, "short")
    assert "That can't be stored" in shown.output
    assert stored(tmp_path).count("role=user") == 1


def test_beside_another_process(tmp_path: Path) -> None:
    """While a Gateway has the folder, what is said is handed in to it and answered."""
    with _process(tmp_path, "first in the other") as (process, _):
        shown = chat(tmp_path, "second in this")
        assert shown.exit_code == 0, shown.output
        assert "  → conversations/" in shown.output
        _end(process)
    assert stored(tmp_path).count("role=user") == 2


@pytest.mark.skipif(sys.platform == "win32", reason="needs signals")
def test_ctrl_c_at_the_prompt_ends_the_talk(tmp_path: Path) -> None:
    """Exit code 0, and everything said is stored."""
    with _process(tmp_path, "hello there") as (process, _):
        # Pressed while the answer is still being shown, it stops that, and is pressed again.
        deadline = time.monotonic() + 30
        while process.poll() is None and time.monotonic() < deadline:
            process.send_signal(signal.SIGINT)
            with suppress(subprocess.TimeoutExpired):
                process.wait(timeout=2)
        assert process.poll() == 0
    assert "hello there" in stored(tmp_path)


@pytest.mark.skipif(sys.platform == "win32", reason="needs signals")
def test_ctrl_c_stops_the_answer_not_the_talk(tmp_path: Path) -> None:
    """A model that takes its time is not waited for; what was said is stored, and the next line is taken."""
    chat(tmp_path, slow=True)
    with _process(tmp_path, "a long story", until="  → ") as (process, output):
        process.send_signal(signal.SIGINT)
        assert process.stdin is not None
        process.stdin.write(b"/nothing\n/quit\n")
        process.stdin.flush()
        assert process.wait(timeout=30) == 0
        assert process.stdout is not None
        rest = output + process.stdout.read().decode()
    assert "(stopped; what you said is stored)" in rest
    assert "There are /context" in rest
    assert "a long story" in stored(tmp_path)


class _process:  # noqa: N801 - a context manager, used like a function
    """A chat in a process of its own, after its first line was answered."""

    def __init__(self, root: Path, line: str, until: str = "agent> ") -> None:
        self._root, self._line, self._until = root, line, until

    def __enter__(self) -> tuple[subprocess.Popen[bytes], str]:
        command = [sys.executable, "-u", "-m", "openclaw_memory.cli", "chat", "--root", str(self._root)]
        environ = {**os.environ, "LC_ALL": "C.UTF-8", "PYTHONPATH": str(PROJECT)}
        self._popen = subprocess.Popen(
            command,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            env=environ,
            cwd=PROJECT,
            preexec_fn=lambda: signal.signal(signal.SIGINT, signal.default_int_handler),
        )
        assert self._popen.stdin is not None
        assert self._popen.stdout is not None
        self._popen.stdin.write(f"{self._line}\n".encode())
        self._popen.stdin.flush()
        output, deadline = "", time.monotonic() + 30
        while self._until not in output and time.monotonic() < deadline:
            output += self._popen.stdout.readline().decode()
        assert self._until in output, output
        if self._until == "agent> ":
            # The line that tells where the answer is stored.
            output += self._popen.stdout.readline().decode()
        return self._popen, output

    def __exit__(self, *_: object) -> None:
        if self._popen.poll() is None:
            self._popen.kill()
        self._popen.wait()
        for pipe in (self._popen.stdin, self._popen.stdout):
            assert pipe is not None
            pipe.close()


def _end(process: subprocess.Popen[bytes]) -> None:
    assert process.stdin is not None
    process.stdin.close()
    assert process.wait(timeout=30) == 0
