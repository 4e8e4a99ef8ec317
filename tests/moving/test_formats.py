"""What each format holds is found, and what can't be read of it is told by its place."""

from __future__ import annotations

import json
from datetime import UTC
from pathlib import Path
from typing import Any

import pytest
import yaml

from openclaw_memory.moving.errors import SourceError
from openclaw_memory.moving.found import Finding
from openclaw_memory.moving.recognising import FORMATS, read_source, recognised
from openclaw_memory.moving.source import open_source
from tests.moving.homes import FIXTURES

CASES: dict[str, dict[str, Any]] = yaml.safe_load(Path(__file__).with_name("formats.yaml").read_text(encoding="utf-8"))


def read(path: Path, **given: Any) -> Finding:
    return read_source(open_source(path), UTC, **given)


def messages(found: Finding) -> list[str]:
    return [f"{one.session} {one.kind} {one.role} {one.time.isoformat()} {one.text}" for one in found.messages]


@pytest.mark.parametrize("form", CASES)
def test_format(form: str) -> None:
    """Told by its shape; every message with its own time and role, every file as it is."""
    case = CASES[form]
    found = read(FIXTURES / case.get("source", form))
    assert found.format == form
    assert messages(found) == case.get("messages", [])
    assert [file.path for file in found.files] == case.get("files", [])
    assert [entry.text for entry in found.entries] == case.get("entries", [])
    assert [problem.where for problem in found.problems] == case.get("problems", [])
    assert [remark.where for remark in found.left_out] == case.get("left_out", [])


def test_files_are_kept_as_they_are() -> None:
    """Line ends, markers of a promotion, fences: every byte."""
    source = FIXTURES / "openclaw/workspace"
    found = read(source)
    assert {file.path: file.data for file in found.files} == {
        file.path: (source / file.path).read_bytes() for file in found.files
    }


def test_single_files(tmp_path: Path) -> None:
    """A file of chats, or of one session, by itself."""
    assert read(FIXTURES / "chatgpt/conversations.json").format == "chatgpt"
    assert read(FIXTURES / "claude/conversations.json").format == "claude"
    session = FIXTURES / "openclaw/agents/main/sessions/plain.jsonl"
    assert messages(read(session)) == CASES["openclaw"]["messages"][4:]
    assert messages(read(FIXTURES / "nanobot/sessions/cli_direct.jsonl")) == CASES["nanobot"]["messages"]


def test_a_home_of_ours_is_no_workspace(tmp_path: Path) -> None:
    """Its days and facts are not notes; how it is moved is told. A workspace with such folders of its own is one."""
    days = tmp_path / "memory/conversations"
    days.mkdir(parents=True)
    (days / "2026-05-04.md").write_text("# Talks\n", encoding="utf-8")
    assert recognised(open_source(tmp_path)) == "openclaw"
    (days / "2026-05-05.md").write_text("---\ntype: conversation\nchecksum: 0a\n---\n", encoding="utf-8")
    with pytest.raises(SourceError, match=r"a home of this memory.*JSON lines"):
        read(tmp_path)
    assert [file.path for file in read(tmp_path, given="openclaw").files]


def test_nothing_that_is_known(tmp_path: Path) -> None:
    """The answer names the formats that may be given."""
    (tmp_path / "a.md").write_text("just text\n")
    assert recognised(open_source(tmp_path)) is None
    with pytest.raises(SourceError, match="--from: openclaw, nanobot") as error:
        read(tmp_path)
    assert all(form in str(error.value) for form in FORMATS)
    with pytest.raises(SourceError, match="nothing of chatgpt was found"):
        read(tmp_path, given="chatgpt")
    assert [file.path for file in read(tmp_path, given="basic-memory").files] == ["memory/basic-memory/a.md"]


def test_a_circle_of_messages_ends(tmp_path: Path) -> None:
    """A tree that leads back to itself, or to what is not there, is told; what was reached is kept."""
    text = {"content_type": "text", "parts": ["hello"]}
    told = {"author": {"role": "user"}, "create_time": 1767607201, "content": text}
    nodes = {"a": {"message": told, "parent": "b", "children": ["b"]}, "b": {"parent": "a", "children": ["a"]}}
    chats = [{"id": "x", "current_node": "a", "mapping": nodes}, {"id": "y", "mapping": {"a": {**nodes["a"]}}}]
    path = tmp_path / "conversations.json"
    path.write_text(json.dumps(chats))
    found = read(path)
    assert [one.text for one in found.messages] == ["hello", "hello"]
    assert len(found.problems) == 2


def test_deep_notes_stay_within_reach(tmp_path: Path) -> None:
    """What lies deeper than search looks is named after its folders."""
    deep = tmp_path / "memory/a/b/c/d/e"
    deep.mkdir(parents=True)
    (deep / "n.md").write_text("- deep\n")
    (tmp_path / "MEMORY.md").write_text("- top\n")
    assert [file.path for file in read(tmp_path).files] == ["MEMORY.md", "memory/a/b/c/d/e--n.md"]
