"""What is told to memory from the terminal is there afterwards: entries, notes, facts, tasks; beside a Gateway too."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from bus import Gateway
from contracts import MemorySearch
from openclaw_memory import Memory, MemoryConfig
from openclaw_memory.cli.task import full_id
from tests.cli.test_commands import run, run_in_thread


@pytest.fixture
def root(tmp_path: Path) -> Path:
    assert run("init", "--root", tmp_path, "--language", "en", "--timezone", "UTC").exit_code == 0
    return tmp_path


def told(root: Path, *words: object) -> Any:
    """What a command prints for programs."""
    result = run(*words, "--root", root, "--json")
    assert result.exit_code == 0, result.output
    return json.loads(result.output)


@pytest.mark.parametrize("text", ["I deploy on Tuesdays", "我只在周二发布", "`code`, *stars* and <tags>", "👍🏽 {x}"])
def test_remembered_is_found(root: Path, text: str) -> None:
    """In MEMORY.md, once, however often it is said; by search as well."""
    written = told(root, "remember", text)
    assert (written["success"], written["durability"]) == (True, "synced")
    again = told(root, "remember", text)
    assert again["message"] == "MEMORY.md says so already"
    memory = (root / "workspace/main/MEMORY.md").read_text()
    assert memory.count(text) == 1
    assert told(root, "search", text)["results"][0]["path"] == "workspace/main/MEMORY.md"


def test_section_and_note(root: Path) -> None:
    """An entry goes where it is told to go; a note into the day's file, with its title."""
    told(root, "remember", "tea, not coffee", "--section", "Likes")
    assert "## Likes\n\n- tea, not coffee" in (root / "workspace/main/MEMORY.md").read_text()
    note = told(root, "remember", "the bank is closed", "--note", "--title", "Bank")
    (file,) = (root / "workspace/main/memory").glob("*.md")
    assert note["key"].startswith(f"workspace/main/memory/{file.name}")
    assert "Bank" in file.read_text()


def test_standard_input(root: Path) -> None:
    """`-` stands for it; the line end of the last line is none of the text."""
    from typer.testing import CliRunner

    from openclaw_memory.cli.app import app

    result = CliRunner().invoke(app, ["fact", "set", "s", "k", "-", "--root", str(root)], input="first\nsecond\n")
    assert result.exit_code == 0, result.output
    assert run("fact", "get", "s", "k", "--root", root).output == "first\nsecond\n"


def test_fact_is_what_was_set_last(root: Path) -> None:
    """The value alone for scripts; section and key in any case; the old one in the archive."""
    told(root, "fact", "set", "Preferences", "editor", "vim")
    told(root, "fact", "set", "Preferences", "editor", "helix")
    told(root, "fact", "set", "Preferences", "shell", "fish", "--topic", "machine")
    assert run("fact", "get", "preferences", "EDITOR", "--root", root).output == "helix\n"
    assert "vim" in (root / "memory/facts/archive/user-profile.md").read_text()
    facts = told(root, "fact", "get")["facts"]
    assert [(one["topic"], one["section"], one["key"], one["value"]) for one in facts] == [
        ("user-profile", "Preferences", "editor", "helix"),
        ("machine", "Preferences", "shell", "fish"),
    ]
    assert told(root, "fact", "get", "--topic", "machine")["facts"] == facts[1:]
    shown = run("fact", "get", "Preferences", "--root", root).output
    assert shown == "Preferences  user-profile\n  editor: helix\nPreferences  machine\n  shell: fish\n"


def test_more_facts_than_one_answer_holds(root: Path) -> None:
    """A long file that a person wrote, lines of any length in it, is read to its end."""
    lines = [f"- k{number}: {'v' * (number % 7) * 300}{number}" for number in range(400)]
    lines[200] = f"- long: {'x' * 20_000}"
    (root / "memory/facts/big.md").write_text("# Big\n\n## S\n\n" + "\n".join(lines) + "\n")
    facts = told(root, "fact", "get", "S", "--topic", "big")["facts"]
    assert [one["key"] for one in facts] == [line[2:].split(":")[0] for line in lines]
    values = {one["key"]: one["value"] for one in facts}
    assert values["k399"] == lines[399].split(": ")[1]
    assert values["long"].endswith("x…")


def test_tasks_from_begin_to_end(root: Path) -> None:
    """Added, listed, begun, done, begun again; what is done is listed with `--all` only."""
    task = told(root, "task", "add", "water the plants", "--due", "2026-12-24", "--priority", "high", "--step", "a can")
    assert task["key"] == "tasks/active.md#OPEN-001"
    (listed,) = told(root, "task", "list")["tasks"]
    assert listed | {"created": None} == {
        "id": "OPEN-001",
        "title": "water the plants",
        "state": "pending",
        "priority": "high",
        "created": None,
        "due": "2026-12-24",
        "completed": None,
        "description": None,
        "reason": None,
        "steps": [{"text": "a can", "done": False}],
    }
    told(root, "task", "state", "1", "in_progress")
    assert (
        run("task", "list", "--root", root).output
        == "OPEN-001  in_progress  high  due 2026-12-24  water the plants\n    [ ] a can\n"
    )
    told(root, "task", "done", "open-1", "--reason", "it rained")
    nothing = run("task", "list", "--root", root)
    assert (nothing.exit_code, nothing.stdout) == (1, "")
    (done,) = told(root, "task", "list", "--all")["tasks"]
    assert (done["state"], done["reason"]) == ("completed", "it rained")
    assert told(root, "task", "list", "--state", "completed")["tasks"] == [done]
    refused = run("task", "state", "1", "pending", "--root", root)
    assert refused.exit_code == 1
    assert "in_progress" in refused.stderr


@pytest.mark.parametrize(
    ("text", "meant"),
    [
        ("3", "OPEN-003"),
        ("OPEN-003", "OPEN-003"),
        ("open-3", "OPEN-003"),
        ("1234", "OPEN-1234"),
        ("٣", "٣"),
        ("x", "x"),
    ],
)
def test_number_is_enough(text: str, meant: str) -> None:
    """Of digits as they are typed; anything else is left for the contract to refuse."""
    assert full_id(text) == meant


async def test_beside_a_gateway(root: Path) -> None:
    """The Gateway writes what a command hands in; both see it at once, new files included."""
    async with Gateway() as gateway:
        await gateway.register(Memory(MemoryConfig.load(root / "config.yaml", {})))
        for words in (
            ("remember", "the zeppelin lands at noon"),
            ("fact", "set", "travel", "seat", "window", "--topic", "journeys"),
            ("task", "add", "pack the bag"),
        ):
            written = await run_in_thread(*words, "--root", root)
            assert written.exit_code == 0, written.output
        value = await run_in_thread("fact", "get", "travel", "seat", "--root", root)
        assert value.output == "window\n"
        assert "pack the bag" in (await run_in_thread("task", "list", "--root", root)).output
        found = await gateway.bus.request(MemorySearch(query="zeppelin"))
        assert found.results[0].path == "workspace/main/MEMORY.md"


def test_workspace_of_ones_own(root: Path, tmp_path: Path) -> None:
    """`--workspace` says where MEMORY.md is."""
    (tmp_path / "mine").mkdir()
    told(root, "remember", "here", "--workspace", tmp_path / "mine")
    assert "- here" in (tmp_path / "mine/MEMORY.md").read_text()
    assert not (root / "workspace/main/MEMORY.md").exists()


def test_file_that_cannot_be_read(root: Path) -> None:
    """It is said, with exit code 3; what can be read is printed all the same."""
    told(root, "fact", "set", "s", "k", "v")
    (root / "memory/facts/odd.md").mkdir()
    (root / "memory/tasks/active.md").write_bytes(b"\xff\xfe\x00\x00\xd8")
    facts = run("fact", "get", "--root", root, "--json")
    assert [one["value"] for one in json.loads(facts.stdout)["facts"]] == ["v"]
    tasks = run("task", "list", "--root", root)
    assert tasks.exit_code == 3
    assert "tasks/active.md" in tasks.stderr
