"""What is wrong with a folder, and the command that mends it."""

from __future__ import annotations

import json
import os
import socket
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from openclaw_memory.cli.health import LITTLE_SPACE, Health, look, problems_of
from openclaw_memory.config import MemoryConfig
from openclaw_memory.findings import Code, Finding, Report
from tests.cli.test_commands import run, run_in_thread
from tests.memory_folder import TALK, content, damage, remembered
from tests.support import START, remembering
from tests.test_processes import say

KEYS = {
    "root", "memory", "workspace", "mode", "agent", "owner", "parts", "documents", "intact", "memory_entries",
    "stale_notes", "index", "disk", "degraded", "problems",
}  # fmt: skip


@pytest.fixture(autouse=True)
def _files_are_old(monkeypatch: pytest.MonkeyPatch) -> None:
    from openclaw_memory.storage.files import LocalFiles

    monkeypatch.setattr(LocalFiles, "age", lambda self, stamp: 60.0)


def told(root: Path, code: int = 0) -> Any:
    result = run("status", "--root", root, "--json")
    assert result.exit_code == code, result.output
    return json.loads(result.output)


async def test_all_is_well(tmp_path: Path) -> None:
    """Files and sizes by layer, documents, index, disk; nothing is changed."""
    memory = await remembered(tmp_path)
    assert (await run_in_thread("search", "hello", "--root", tmp_path)).exit_code == 0
    before = content(tmp_path)
    status = told(tmp_path)
    assert status.keys() == KEYS
    parts = {part["name"]: part for part in status["parts"]}
    assert parts["conversation"] == {"name": "conversation", "files": 1, "bytes": (memory / TALK).stat().st_size}
    assert parts["fact"]["files"] == 2
    assert parts["index"]["bytes"] > 0
    assert status["index"]["pieces"] == 3
    assert (status["degraded"], status["problems"]) == (False, [])
    shown = run("status", "--root", tmp_path)
    assert shown.output.endswith("All is well.\n")
    # What SQLite keeps beside a file that is open is no change.
    after = {path: data for path, data in content(tmp_path).items() if not path.endswith(("-wal", "-shm"))}
    assert after == {path: data for path, data in before.items() if not path.endswith(("-wal", "-shm"))}


async def test_damage_is_mended_by_the_command_that_is_named(tmp_path: Path) -> None:
    """Typed as it is printed, it does what it says."""
    memory = await remembered(tmp_path)
    damage(memory / TALK, (memory / TALK).read_bytes()[:-4])
    status = told(tmp_path, 1)
    assert status["degraded"] is True
    (problem,) = status["problems"]
    assert problem == {"words": "1 × DAMAGED", "command": f"openclaw-memory repair --root {tmp_path}", "degrades": True}
    await run_in_thread(*problem["command"].split()[1:])
    assert [one["words"] for one in told(tmp_path, 1)["problems"]] == ["1 × SET_ASIDE"]


async def test_index_that_cannot_be_used(tmp_path: Path) -> None:
    """It is told, and made anew by the command that is named."""
    memory = await remembered(tmp_path)
    await run_in_thread("search", "hello", "--root", tmp_path)
    (memory / "main.sqlite").write_bytes(b"no database, but long enough to be looked at as one" * 100)
    (problem,) = told(tmp_path, 1)["problems"]
    assert problem["words"].startswith("the index: ")
    assert (await run_in_thread(*problem["command"].split()[1:])).exit_code == 0
    assert told(tmp_path)["problems"] == []


async def test_beside_a_gateway(tmp_path: Path) -> None:
    """Who has the folder is said; what waits in its journal is no fault."""
    await remembered(tmp_path)
    async with remembering(tmp_path) as gateway:
        await gateway.ask(say("the zeppelin lands at noon"))
        status = await run_in_thread("status", "--root", tmp_path, "--json")
    told = json.loads(status.output)
    assert (status.exit_code, told["problems"]) == (0, [])
    assert told["owner"] == {"name": f"process {os.getpid()} on {socket.gethostname()}", "running": True}


def test_new_folder_is_well(tmp_path: Path) -> None:
    """Nothing is there yet, and nothing is wrong."""
    run("init", "--root", tmp_path)
    status = told(tmp_path)
    assert (status["index"], status["memory_entries"], status["documents"]) == (None, 0, 0)


def test_notes_whose_day_is_past(tmp_path: Path) -> None:
    """They are shown, and are no fault; what holds for longer, and what is new, is not."""
    notes = tmp_path / "workspace/main/memory"
    notes.mkdir(parents=True)
    (notes / "2026-03-02.md").write_text("# 2026-03-02\n\n- 今天要给房东打电话\n- 房东姓王\n")
    (notes / "2026-05-04.md").write_text("# 2026-05-04\n\n- 今天要去银行\n")
    (notes / "2026-03-03.md").write_bytes(b"\xff\xfe\x00")
    assert list(health(tmp_path).stale.values()) == ["今天要给房东打电话"]
    shown = run("status", "--root", tmp_path)
    assert shown.exit_code == 0
    assert "notes speak of a day that is a week past:" in shown.output


def test_what_is_judged(tmp_path: Path) -> None:
    """Each kind of trouble, by itself; one that only takes a person names the command that tells more."""
    well = health(tmp_path)
    assert problems_of(well) == []
    cases = [
        (replace(well, writable=False), "can't be written", None, True),
        (replace(well, free=LITTLE_SPACE - 1), "only 100 MB are free on the disk", None, True),
        (replace(well, index_problem="broken"), "the index: broken", "openclaw-memory rebuild-index --full", True),
        (replace(well, report=found(Code.UNREADABLE, None)), "1 × UNREADABLE", "openclaw-memory verify", True),
        (replace(well, report=found(Code.LEFT_OVER, "repair")), "1 × LEFT_OVER", "openclaw-memory repair", False),
        (replace(well, report=found(Code.CHECKSUM_MISMATCH, "adopt", attention=False)), None, None, False),
    ]
    for case, words, command, degrades in cases:
        problems = problems_of(case)
        if words is None:
            assert problems == []
            continue
        (problem,) = problems
        assert words in problem.words
        assert (problem.command, problem.degrades) == (command, degrades)


def test_options_go_into_the_command(tmp_path: Path) -> None:
    """Quoted, so that it can be pasted."""
    problems = problems_of(replace(health(tmp_path), index_problem="x"), ["--root", "/a b"])
    assert problems[0].command == "openclaw-memory rebuild-index --full --root '/a b'"


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write everywhere")
def test_folder_that_cannot_be_written(tmp_path: Path) -> None:
    """It is told before the first write fails."""
    run("init", "--root", tmp_path)
    (tmp_path / "memory").chmod(0o500)
    try:
        assert "can't be written" in told(tmp_path, 1)["problems"][0]["words"]
    finally:
        (tmp_path / "memory").chmod(0o700)


def health(root: Path) -> Health:
    (root / "memory").mkdir(exist_ok=True)
    return replace(look(MemoryConfig(root=root), START), free=10**12, total=10**12)


def found(code: Code, remedy: Any, *, attention: bool = True) -> Report:
    finding = Finding("a.md", code, "words", "todo", attention, remedy)
    return Report(Path("memory"), None, 1, 0, (finding,))
