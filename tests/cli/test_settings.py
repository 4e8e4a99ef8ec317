"""Each value of the configuration, and where it came from."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.cli.test_commands import run


def shown(*words: object) -> dict[str, tuple[Any, str]]:
    result = run("config", "show", "--json", *words)
    assert result.exit_code == 0, result.output
    return {one["key"]: (one["value"], one["origin"]) for one in json.loads(result.output)["settings"]}


def test_each_value_tells_where_it_came_from(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Option before environment before file before preset before default."""
    (tmp_path / "config.yaml").write_text(
        "memory:\n  mode: two_layer\n  agentId: bob\n"
        "  buffer: {max_entries_per_file: 7}\n  tasks: {keepCompletedDays: 1}\n"
    )
    monkeypatch.setenv("OPENCLAW_MEMORY_BUFFER__FLUSH_INTERVAL_SECONDS", "1.5")
    monkeypatch.setenv("OPENCLAW_MEMORY_TASKS__KEEP_COMPLETED_DAYS", "3")
    found = shown("--root", tmp_path, "--agent", "eve")
    assert found["agent_id"] == ("eve", "option")
    assert found["root"] == (str(tmp_path), "option")
    assert found["tasks.keep_completed_days"] == (3, "environment")
    assert found["buffer.flush_interval_seconds"] == (1.5, "environment")
    assert found["buffer.max_entries_per_file"] == (7, "file")
    assert found["mode"] == ("two_layer", "file")
    assert found["memory_file"] == ("memory/MEMORY.md", "preset")
    assert found["buffer.max_entries_in_all"] == (500, "default")


def test_secrets_are_not_shown(tmp_path: Path) -> None:
    """Of a class of one's own the options may hold a key; the name of a variable is none."""
    secret = "-".join(["sk", "proj", "A1b2C3d4E5f6G7h8J9k0L1m2N3p4"])
    (tmp_path / "config.yaml").write_text(
        f"embedding: {{provider: 'my.own:Class', options: {{api_key: {secret}, size: 3}}}}\n"
    )
    (value, origin) = shown("--root", tmp_path)["embedding.options"]
    assert (value["size"], origin) == (3, "file")
    assert "masked" in value["api_key"]
    assert shown("--root", tmp_path)["embedding.api_key_variable"] == ("OPENAI_API_KEY", "default")
    assert secret not in run("config", "show", "--root", tmp_path).output


def test_only_what_is_changed(tmp_path: Path) -> None:
    """A short list, in words: the file first, then a line a setting."""
    (tmp_path / "config.yaml").write_text("memory: {language: en}\n")
    result = run("config", "show", "--root", tmp_path, "--changed")
    lines = [line.split() for line in result.output.splitlines()]
    assert lines == [[str(tmp_path / "config.yaml")], ["root", "option", str(tmp_path)], ["language", "file", "en"]]


def test_every_setting_is_told(tmp_path: Path) -> None:
    """Those of docs/configuration.md, no more, no less."""
    from tests.config_page import table

    named = [line.split("`")[1] for line in table().splitlines()[2:]]
    assert list(shown("--root", tmp_path)) == named


@pytest.mark.parametrize(
    ("text", "counts"),
    [
        ("memory: {language: en}\nport: 1\n", True),
        ("language: en\n", True),
        ("memory:\n  # all comments\n", True),
        ("", False),
        ("port: 8000\nmodel: x\n", False),
    ],
)
def test_file_of_a_gateway_alone_is_none_of_ours(tmp_path: Path, text: str, counts: bool) -> None:
    """A `config.yaml` in the root is read where it speaks of memory."""
    (tmp_path / "config.yaml").write_text(text)
    told = json.loads(run("config", "show", "--root", tmp_path, "--json").output)
    assert told["file"] == (str(tmp_path / "config.yaml") if counts else None)


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("memory: {langage: en}", "did you mean 'language'?"),
        ("memory: {root: /elsewhere}", "says root: /elsewhere"),
        ("memory: [", "is not YAML"),
        ("memory: {since: 2026-99-99}", "is not YAML"),
        ("[" * 500, "is not YAML"),
        ("- a\n- list\n", "holds no `key: value` lines"),
        ("primary: sqlite\n", "memory is kept in files"),
    ],
)
def test_wrong_file_is_a_usage_error(tmp_path: Path, text: str, says: str) -> None:
    """Named with what is wrong; nothing is printed for programs."""
    (tmp_path / "memory").mkdir()
    (tmp_path / "config.yaml").write_text(text)
    for words in (("config", "show", "--json"), ("search", "x", "--json"), ("init",)):
        result = run(*words, "--root", tmp_path)
        assert (result.exit_code, result.stdout) == (2, ""), words
        assert says in " ".join(result.stderr.split())


def test_wrong_variable_is_no_fault_of_the_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The environment is named, and the nearest key."""
    (tmp_path / "config.yaml").write_text("memory: {language: en}\n")
    monkeypatch.setenv("OPENCLAW_MEMORY_TIMEZON", "UTC")
    result = run("config", "show", "--root", tmp_path)
    assert (result.exit_code, result.stdout) == (2, "")
    said = " ".join(result.stderr.split())
    assert "environment: timezon is no known key; did you mean 'timezone'?" in said
    assert str(tmp_path) not in said


def test_file_of_the_root_counts_for_every_command(tmp_path: Path) -> None:
    """The index of another agent, a memory folder in another place."""
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "config.yaml").write_text(f"memory: {{memory_path: {tmp_path / 'elsewhere'}, agent_id: bob}}\n")
    result = run("status", "--root", tmp_path, "--json")
    told = json.loads(result.output)
    assert (told["memory"], told["agent"]) == (str(tmp_path / "elsewhere"), "bob")
