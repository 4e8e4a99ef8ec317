"""The commands as a person and a program see them: words, JSON, exit codes."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import anyio
import anyio.to_thread
import click
import pytest
import typer
from typer.testing import CliRunner, Result

from openclaw_memory.cli.app import app
from openclaw_memory.findings import Code
from openclaw_memory.storage.files import LocalFiles
from openclaw_memory.storage.rootlock import RootLock
from tests.cli.page import PAGE, renewed
from tests.memory_folder import FACTS, NOTES, TALK, crashed, damage, remembered, said, states

PROJECT = Path(__file__).parents[2]


@pytest.fixture(autouse=True)
def _files_are_old(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nobody is just saving them."""
    monkeypatch.setattr(LocalFiles, "age", lambda self, stamp: 60.0)


def run(*words: object) -> Result:
    return CliRunner().invoke(app, [str(word) for word in words], prog_name="openclaw-memory")


async def run_in_thread(*words: object) -> Result:
    """The command has an event loop of its own."""
    return await anyio.to_thread.run_sync(run, *words)


async def test_intact_folder_is_told_in_a_line(tmp_path: Path) -> None:
    """Nothing to do, exit code 0."""
    memory = await remembered(tmp_path)
    shown = run("verify", "--root", tmp_path)
    assert (shown.exit_code, shown.output) == (0, f"{memory}\n4 documents, 4 intact; nothing needs attention\n")


async def test_findings_say_what_to_do(tmp_path: Path) -> None:
    """Path, reason, words, and what to do; an edit alone needs no attention."""
    memory = await remembered(tmp_path)
    with (memory / FACTS).open("a") as file:
        file.write("- tea: [green]\n")
    edited = run("verify", "--root", tmp_path)
    assert edited.exit_code == 0
    assert f"{FACTS}  CHECKSUM_MISMATCH\n    it was edited by hand" in edited.output
    damage(memory / TALK, (memory / TALK).read_bytes()[:-4])
    damaged = run("verify", "--root", tmp_path)
    assert damaged.exit_code == 1
    assert damaged.output.endswith("4 documents, 2 intact; 1 needs attention\n")


async def test_json_is_the_documented_shape(tmp_path: Path) -> None:
    """Keys as docs/cli.md tells them, values that a program can act on."""
    memory = await remembered(tmp_path)
    damage(memory / TALK, (memory / TALK).read_bytes()[:-4])
    shown = run("verify", "--root", tmp_path, "--json")
    told = json.loads(shown.output)
    assert {key: value for key, value in told.items() if key != "findings"} == {
        "memory": str(memory),
        "owner": None,
        "documents": 4,
        "intact": 3,
        "attention": 1,
    }
    (finding,) = told["findings"]
    assert (finding["path"], finding["code"], finding["attention"], finding["remedy"]) == (
        TALK,
        "DAMAGED",
        True,
        "repair",
    )
    page = PAGE.read_text(encoding="utf-8")
    for key in (*told, *finding):
        assert re.search(rf"[`{{ ]{key}[`,}}]", page), key


async def test_repair_does_what_the_dry_run_tells(tmp_path: Path) -> None:
    """First the plan, without a touch; then the deed; then nothing is left to do."""
    memory = await crashed(tmp_path, said("m2", "two"))
    damage(memory / NOTES, (memory / NOTES).read_bytes()[:-4])
    before = states(tmp_path)
    planned = await run_in_thread("repair", "--root", tmp_path, "--dry-run", "--json")
    shown = await run_in_thread("repair", "--root", tmp_path, "--dry-run")
    assert states(tmp_path) == before
    assert "would " in shown.output
    assert "Nothing was changed." in shown.output
    done = await run_in_thread("repair", "--root", tmp_path, "--json")
    plan, deed = json.loads(planned.output), json.loads(done.output)
    assert [(a["path"], a["code"]) for a in plan["actions"]] == [(a["path"], a["code"]) for a in deed["actions"]]
    assert [[a["done"] for a in told["actions"]] for told in (plan, deed)] == [[None, None], [True, True]]
    again = await run_in_thread("repair", "--root", tmp_path)
    assert "Nothing to do by itself." in again.output
    assert "SET_ASIDE" in again.output
    page = PAGE.read_text(encoding="utf-8")
    for key in (*deed, *deed["actions"][0]):
        assert re.search(rf"[`{{ ]{key}[`,}}]", page), key


async def test_adopting_by_command(tmp_path: Path) -> None:
    """Only when asked."""
    memory = await remembered(tmp_path)
    (memory / "facts/own.md").write_text("# Mine\n")
    assert (await run_in_thread("repair", "--root", tmp_path)).exit_code == 0
    assert (memory / "facts/own.md").read_text() == "# Mine\n"
    assert (await run_in_thread("repair", "--root", tmp_path, "--adopt")).exit_code == 0
    assert (memory / "facts/own.md").read_text().endswith("\n---\n# Mine\n")


async def test_repair_refuses_a_folder_in_use(tmp_path: Path) -> None:
    """It says by whom, and the exit code tells that nothing was done."""
    memory = await remembered(tmp_path)
    lock = RootLock(memory)
    lock.acquire()
    shown = await run_in_thread("repair", "--root", tmp_path)
    lock.release()
    assert shown.exit_code == 1
    assert f"in use by process {os.getpid()}" in shown.stderr
    assert shown.stdout == ""


def test_verify_names_a_running_owner(tmp_path: Path) -> None:
    """Another process has the folder: what waits in its journal is on its way."""
    memory = anyio.run(crashed, tmp_path, said("m2", "two"))
    code = (
        "import sys; from pathlib import Path; from openclaw_memory.storage.rootlock import RootLock\n"
        "RootLock(Path(sys.argv[1])).acquire(); print('owned', flush=True); sys.stdin.read()"
    )
    with subprocess.Popen(
        [sys.executable, "-c", code, str(memory)], cwd=PROJECT, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as owner:
        assert owner.stdout is not None
        assert owner.stdout.readline() == "owned\n"
        before = states(tmp_path)
        shown = run("verify", "--root", tmp_path)
        assert states(tmp_path) == before
        owner.communicate()
    assert f"In use by process {owner.pid}" in shown.output
    assert "PENDING" in shown.output
    assert shown.exit_code == 0
    assert run("verify", "--root", tmp_path).exit_code == 1


# -- mistyped ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("command", ["verify", "repair"])
async def test_mistyped_path_is_answered_with_what_was_meant(tmp_path: Path, command: str) -> None:
    """Usage errors end with 2 and name the nearest existing folder."""
    root = tmp_path / "openclaw"
    await remembered(root)
    (root / "config.yaml").write_text(f"memory:\n  root: {root}\n")
    (tmp_path / "filed").mkdir()
    (tmp_path / "filed/memory").write_text("")
    cases = [
        (("--root", tmp_path / "openclw"), f"did you mean '{root}'?"),
        (("--root", root / "memory"), f"is the memory folder itself; did you mean '{root}'?"),
        (("--root", tmp_path / "zzz/deeper"), f"the nearest existing folder is '{tmp_path}'"),
        (("--root", tmp_path), "does not exist: there is no memory in"),
        (("--config", root / "confg.yaml"), f"did you mean '{root / 'config.yaml'}'?"),
        (("--root", root, "--config", root / "config.yaml"), "give --root or --config, not both"),
        (("--rot", root), "--root"),
        (("--root", root / "config.yaml"), f"{root / 'config.yaml'} is a file; name a folder"),
        (("--root", root / "config.yaml/deeper"), f"{root / 'config.yaml'} is a file; name a folder"),
        (("--root", tmp_path / "filed"), f"{tmp_path / 'filed/memory'} is a file; name a folder"),
        (("--config", root), f"{root} is a folder; name a file"),
        (("--config", "/dev/null"), "/dev/null is a device or a pipe; name a file"),
        (("--root", tmp_path / "caf\udce9"), r"the name of the folder is no UTF-8: '" + str(tmp_path)),
        (("--root", root, "--workspace", tmp_path / "caf\udce9"), "--workspace"),
    ]
    for words, answer in cases:
        shown = run(command, *words)
        assert shown.exit_code == 2, words
        assert answer in " ".join(shown.stderr.split()), words
        assert shown.stdout == ""
    assert run("verfy").exit_code == 2
    assert "verify" in run("verfy").stderr


async def test_configuration_names_the_folder(tmp_path: Path) -> None:
    """As the Gateway has it; a wrong key is a usage error that names the right one."""
    memory = await remembered(tmp_path)
    config = tmp_path / "config.yaml"
    config.write_text(f"memory:\n  root: {tmp_path}\n")
    assert run("verify", "--config", config).output.startswith(f"{memory}\n")
    config.write_text("memory:\n  rot: x\n")
    wrong = run("verify", "--config", config)
    assert (wrong.exit_code, "did you mean 'root'" in " ".join(wrong.stderr.split())) == (2, True)


def test_no_colours_in_a_pipe(tmp_path: Path) -> None:
    """And long lines stay whole, so that they can be searched."""
    memory = anyio.run(remembered, tmp_path)
    damage(memory / TALK, (memory / TALK).read_bytes()[:-4])
    env = {"PYTHONPATH": str(PROJECT), "TERM": "xterm-256color", "COLUMNS": "40", "PATH": os.environ["PATH"]}
    done = subprocess.run(
        [sys.executable, "-W", "error", "-m", "openclaw_memory.cli", "verify", "--root", str(tmp_path)],
        cwd=PROJECT,
        env=env,
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.returncode, done.stderr) == (1, "")
    assert "\x1b" not in done.stdout
    assert max(map(len, done.stdout.splitlines())) > 100


# -- the page ----------------------------------------------------------------------------------------------------------


def test_page_is_what_the_help_says() -> None:
    """Renew it with `python -m tests.cli.page`."""
    text = PAGE.read_text(encoding="utf-8")
    assert renewed(text) == text
    for words in _commands(typer.main.get_command(app)):
        assert f"$ openclaw-memory {words} --help\nUsage: openclaw-memory {words} " in text


def _commands(group: click.Command, before: str = "") -> list[str]:
    found = []
    for name, command in getattr(group, "commands", {}).items():
        inner = _commands(command, f"{before}{name} ")
        found += inner or [f"{before}{name}"]
    return found


def test_page_explains_every_reason() -> None:
    """No more, no less."""
    table = re.findall(r"^\| `([A-Z_]+)` \|", PAGE.read_text(encoding="utf-8"), re.MULTILINE)
    assert sorted(table) == sorted(Code)
