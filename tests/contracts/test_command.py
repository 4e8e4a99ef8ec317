"""The command line: exit codes and what a person reads."""

from __future__ import annotations

import os
import subprocess
import sys
from importlib.metadata import entry_points
from pathlib import Path

import pytest

from contracts.command import load_factory, main
from contracts.conformance import Outcome, Report, Result
from contracts.errors import FactoryError, MissingExtraError

HERE = Path(__file__).parent


def test_conforming_memory_exits_with_0(capsys: pytest.CaptureFixture[str]) -> None:
    """The table names what was checked."""
    assert main(["verify", "toy_memory:HonestMemory", "--examples", "0", "--only", "fact"]) == 0
    out = capsys.readouterr().out
    assert "PASSED  memory:write: a fact is kept" in out
    assert "0 failed" in out


def test_wrong_memory_exits_with_1(capsys: pytest.CaptureFixture[str]) -> None:
    """The table gives the reason."""
    assert main(["verify", "toy_memory:KeepsBothValues", "--examples", "0", "--only", "new value"]) == 1
    out = capsys.readouterr().out
    assert "FAILED  memory:update_fact" in out
    assert "the replaced value is still among the facts" in out


def test_brain_is_verified_by_role(capsys: pytest.CaptureFixture[str]) -> None:
    """`--role brain` drives the turns of a Brain."""
    assert main(["verify", "toy_brain:HonestBrain", "--role", "brain", "--examples", "0"]) == 0
    assert "PASSED  brain: goes on without any Memory" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (["verify", "toy_memory"], "is not of the form module:factory"),
        (["verify", "no_such_module:factory"], "cannot be imported"),
        (["verify", "toy_memory:Nothing"], "names nothing in toy_memory that can be called"),
        (["verify", "toy_memory:HonestMemory", "--only", "zzz"], "no check is named like 'zzz'"),
    ],
)
def test_wrong_call_exits_with_2(arguments: list[str], told: str, capsys: pytest.CaptureFixture[str]) -> None:
    """What is wrong with the call is told; nothing is verified."""
    assert main(arguments) == 2
    assert told in capsys.readouterr().err


@pytest.mark.parametrize("arguments", [[], ["verify"], ["verify", "a:b", "--role", "cat"], ["bake"]])
def test_usage_error_exits_with_2(arguments: list[str]) -> None:
    """As argparse does."""
    with pytest.raises(SystemExit) as caught:
        main(arguments)
    assert caught.value.code == 2


def test_generate_check_tells_nothing_where_nothing_differs(capsys: pytest.CaptureFixture[str]) -> None:
    """CI runs this."""
    assert main(["generate", "--check"]) == 0
    assert capsys.readouterr().out == ""


def test_missing_extra_is_told(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    """Without hypothesis the command says what to install, and what to do without it."""
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    assert main(["verify", "toy_memory:HonestMemory", "--only", "generated"]) == 2
    assert "openclaw-memory[conformance]" in capsys.readouterr().err


def test_contracts_stay_light() -> None:
    """Importing the events imports neither the kit nor what only the kit and the generator need."""
    heavy = "{'hypothesis', 'yaml', 'tiktoken', 'pytest', 'contracts.conformance', 'contracts.schema'}"
    code = f"import sys, contracts; print(sorted({heavy} & set(sys.modules)))"
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert ran.stdout.strip() == "[]"


def test_report_tells_what_is_not_offered_once() -> None:
    """Several checks of an event that is not offered take one line."""
    missing = "memory:get is not offered: nobody on the bus answers it"
    results = (
        Result("a", Outcome.NOT_OFFERED, missing),
        Result("b", Outcome.NOT_OFFERED, missing),
        Result("c", Outcome.PASSED),
    )
    table = Report("mine", results).table()
    assert table.count(missing) == 1
    assert table.endswith("1 passed, 0 failed, 2 not offered")


def test_errors_say_what_to_do() -> None:
    """The text of an error is built from its fields."""
    assert "install openclaw-memory[conformance]" in str(MissingExtraError("hypothesis"))
    with pytest.raises(FactoryError, match="give module:factory"):
        load_factory(":")


PYTEST_MODULE = """
import pytest
import toy_brain
import toy_memory


@pytest.fixture
def memory_factory():
    return toy_memory.{memory}


@pytest.fixture
def brain_factory():
    return toy_brain.HonestBrain


def test_my_memory(memory_check):
    memory_check()


def test_my_brain(brain_check):
    brain_check()
"""


@pytest.mark.parametrize(("memory", "code"), [("HonestMemory", 0), ("ForgetsAtRestart", 1)])
def test_pytest_plugin_makes_a_test_of_each_check(tmp_path: Path, memory: str, code: int) -> None:
    """What is not offered is skipped, what fails fails with its reason."""
    (tmp_path / "test_mine.py").write_text(PYTEST_MODULE.format(memory=memory), encoding="utf-8")
    where = os.pathsep.join([str(HERE), str(HERE.parent.parent)])
    installed = {entry.name for entry in entry_points(group="pytest11")}
    name = "openclaw_contracts" if "openclaw_contracts" in installed else "contracts.conformance.pytest_plugin"
    plugin = ["-p", name, "-p", "no:cacheprovider"]
    chosen = ["-k", "restart or forget or reads", "-q", "-rfs"]
    ran = subprocess.run(
        [sys.executable, "-m", "pytest", *plugin, *chosen, "test_mine.py"],
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": where},
        capture_output=True,
        text=True,
        check=False,
    )
    assert ran.returncode == code, ran.stdout
    assert "memory:forget is not offered" in ran.stdout
    assert ("the message is gone or changed after a restart" in ran.stdout) is bool(code)
