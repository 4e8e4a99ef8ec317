"""The commands, one by one: replies word for word, and what is on the disk afterwards."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import yaml

from openclaw_memory.filetool import FileMemory
from openclaw_memory.filetool.editing import MAX_LINES, MAX_SHOWN_CHARS
from openclaw_memory.filetool.folder import MAX_FILE_BYTES
from tests.filetool.conftest import fill, held

CASES: list[dict[str, Any]] = yaml.safe_load((Path(__file__).parent / "commands.yaml").read_text(encoding="utf-8"))


@pytest.mark.parametrize("case", CASES, ids=[case["title"] for case in CASES])
async def test_command(tool: FileMemory, case: dict[str, Any]) -> None:
    """See commands.yaml."""
    fill(tool.folder, case.get("files", {}))
    reply = await tool.run(case["command"])
    assert reply.text == case["reply"]
    assert reply.is_error is case.get("error", False)
    assert held(tool.folder) == case.get("after", case.get("files", {}))
    assert await tool.handle(case["command"]) is not None


async def test_long_file_is_shown_in_parts(tool: FileMemory) -> None:
    """What a view leaves out can be asked for with the range that it names, and nothing is missing."""
    lines = [f"line {number} {'x' * 90}" for number in range(1, 1001)]
    fill(tool.folder, {"n.md": "\n".join(lines)})
    seen: list[str] = []
    command: dict[str, Any] = {"command": "view", "path": "/memories/n.md"}
    while True:
        reply = await tool.handle(command)
        assert len(reply) <= MAX_SHOWN_CHARS + 200
        rows = reply.split("\n")[1:]
        more = rows.pop() if rows[-1].startswith("[") else None
        seen += [row.split("\t", 1)[1] for row in rows]
        if more is None:
            break
        command["view_range"] = yaml.safe_load(more.rpartition("view_range ")[2].removesuffix("]"))
    assert seen == lines


async def test_line_longer_than_an_answer(tool: FileMemory) -> None:
    """It is cut, never inside a character, and the answer says so."""
    fill(tool.folder, {"n.md": "👩‍👩‍👧" * 50_000 + "\nend"})
    reply = await tool.handle({"command": "view", "path": "/memories/n.md"})
    assert "[line 1 is cut: it has 250,000 characters]" in reply
    assert "view_range [2, 2]" in reply
    assert reply.split("\n")[1].endswith("👩‍👩‍👧")
    assert (await tool.handle({"command": "view", "path": "/memories/n.md", "view_range": [2, 2]})).endswith("2\tend")


async def test_too_many_lines(tool: FileMemory) -> None:
    """A million lines: the documented words."""
    fill(tool.folder, {"n.md": "\n" * (MAX_LINES + 1)})
    reply = await tool.run({"command": "view", "path": "/memories/n.md"})
    assert reply.text == "File /memories/n.md exceeds maximum line limit of 999,999 lines."
    assert reply.is_error


async def test_file_over_a_megabyte(tool: FileMemory) -> None:
    """It can be viewed, renamed, deleted and made smaller, but no command makes one."""
    big = "é" * MAX_FILE_BYTES
    refused = await tool.run({"command": "create", "path": "/memories/a/n.md", "file_text": big})
    assert refused.is_error
    assert "would have 2,097,152 bytes, at most 1,048,576 are taken; split it" in refused.text
    assert held(tool.folder) == {}
    fill(tool.folder, {"n.md": f"start\n{big}\n"})
    assert "start" in await tool.handle({"command": "view", "path": "/memories/n.md"})
    grown = await tool.run(
        {"command": "insert", "path": "/memories/n.md", "insert_line": 0, "insert_text": "x"},
    )
    assert grown.is_error
    smaller = await tool.run(
        {"command": "str_replace", "path": "/memories/n.md", "old_str": big, "new_str": "short"},
    )
    assert not smaller.is_error
    assert held(tool.folder) == {"n.md": "start\nshort\n"}


async def test_file_too_large_to_be_read(tool: FileMemory) -> None:
    """Over 5 MB: said with the limit; it can be renamed and deleted."""
    fill(tool.folder, {"n.md": "x" * 5_242_881})
    reply = await tool.run({"command": "view", "path": "/memories/n.md"})
    assert reply.is_error
    assert "has 5,242,881 bytes, at most 5,242,880 are read" in reply.text
    assert not (await tool.run({"command": "delete", "path": "/memories/n.md"})).is_error


@pytest.mark.parametrize(
    "command",
    [
        {"command": "view", "path": "/memories/x.png"},
        {"command": "str_replace", "path": "/memories/x.png", "old_str": "PNG", "new_str": "x"},
        {"command": "insert", "path": "/memories/x.png", "insert_line": 0, "insert_text": "x"},
    ],
)
async def test_no_text(tool: FileMemory, command: dict[str, Any]) -> None:
    """A picture is not changed, and not shown as if it were text; its name can be changed."""
    tool.folder.mkdir(parents=True)
    data = b"\x89PNG\r\n\x1a\n" + bytes(range(256))
    (tool.folder / "x.png").write_bytes(data)
    reply = await tool.run(command)
    assert reply.is_error
    assert "/memories/x.png is no text" in reply.text
    assert not (
        await tool.run({"command": "rename", "old_path": "/memories/x.png", "new_path": "/memories/y"})
    ).is_error
    assert (tool.folder / "y").read_bytes() == data


async def test_other_encodings_stay(tool: FileMemory) -> None:
    """A file that a person saved as GB18030 is edited in it."""
    tool.folder.mkdir(parents=True)
    text = "今天的会议讨论了项目的进度和预算安排\n明天继续讨论下一步的工作计划\n"
    (tool.folder / "n.txt").write_bytes(text.encode("gb18030"))
    await tool.handle({"command": "str_replace", "path": "/memories/n.txt", "old_str": "明天", "new_str": "后天"})
    assert (tool.folder / "n.txt").read_bytes() == text.replace("明天", "后天").encode("gb18030")


async def test_many_places_are_not_all_told(tool: FileMemory) -> None:
    """A megabyte of the same letter is answered in an instant."""
    fill(tool.folder, {"n.md": "a\n" * 500_000})
    reply = await tool.run({"command": "str_replace", "path": "/memories/n.md", "old_str": "a", "new_str": "b"})
    assert reply.is_error
    assert "in lines: 1, 2, 3," in reply.text
    assert len(reply.text) < 500


async def test_as_many_files_as_there_may_be(tool: FileMemory, monkeypatch: pytest.MonkeyPatch) -> None:
    """A model that loops is told to tidy up."""
    monkeypatch.setattr("openclaw_memory.filetool.folder.MAX_FILES", 3)
    for name in ("a/1.md", "2.md"):
        assert not (await tool.run({"command": "create", "path": f"/memories/{name}", "file_text": ""})).is_error
    reply = await tool.run({"command": "create", "path": "/memories/4.md", "file_text": ""})
    assert reply.is_error
    assert "delete what is not needed" in reply.text
