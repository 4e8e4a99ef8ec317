"""No way out of the folder: whatever a path says, what lies outside of it is neither shown nor touched."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest

from openclaw_memory.filetool import FileMemory
from tests.filetool.conftest import fill, held, tool_of

OUTSIDE = [
    "",
    "/",
    "memories",
    "memories/n.md",
    "/memory",
    "/memories_backup",
    "/memories_backup/n.md",
    "/memoriesn.md",
    "/Memories/n.md",
    "/etc/passwd",
    "//memories/n.md",
    " /memories/n.md",
    "/memories/..",
    "/memories/../memories_backup/n.md",
    "/memories/../MEMORY.md",
    "/memories/a/../../MEMORY.md",
    "/memories/./../MEMORY.md",
    "/memories/a/..",
    "/memories/.",
    "/memories/.hidden/n.md",
    "/memories/.lock",
    "/memories/%2e%2e/MEMORY.md",
    "/memories/%2E%2E%2FMEMORY.md",
    "/memories/..%2fMEMORY.md",
    "/memories/a%2f..%2f..%2fMEMORY.md",
    "/memories/%252e%252e%252fMEMORY.md",
    "/memories/%5c..%5cMEMORY.md",
    "/memories/a%00b",
    "/memories/..\\MEMORY.md",
    "/memories\\..\\MEMORY.md",
    "\\memories\\n.md",
    "/memories/C:\\Windows\\n.md",
    "/memories/a\0/../MEMORY.md",
    "/memories/n.md\0.txt",
    "/memories/a\nb",
    "/memories/\u2028",
    "/memories/\ud800",
    "/memories/ n.md",
    "/memories/~/../n.md",
    "/memories/" + "n" * 201,
    "/memories/" + "字" * 70,
    "/memories/" + "/".join("n" * 150 for _ in range(7)),
    "/memories/1/2/3/4/5/n.md",
    "/memories/" + "../" * 500 + "etc/passwd",
]


def commands(path: str) -> list[dict[str, Any]]:
    """Give every command that could act on a path."""
    return [
        {"command": "view", "path": path},
        {"command": "create", "path": path, "file_text": "x"},
        {"command": "str_replace", "path": path, "old_str": "secret", "new_str": "x"},
        {"command": "insert", "path": path, "insert_line": 0, "insert_text": "x"},
        {"command": "delete", "path": path},
        {"command": "rename", "old_path": path, "new_path": "/memories/new.md"},
        {"command": "rename", "old_path": "/memories/mine.md", "new_path": path},
    ]


@pytest.mark.parametrize("path", OUTSIDE, ids=[ascii(path)[:60] for path in OUTSIDE])
async def test_case_33_paths_that_lead_out(tmp_path: Path, path: str) -> None:
    """Every command refuses them, with a reason, and nothing anywhere changes."""
    tool = tool_of(tmp_path)
    workspace = tool.folder.parent
    fill(workspace, {"MEMORY.md": "secret", "memories_backup/n.md": "secret", "memories/mine.md": "mine"})
    before = held(tmp_path)
    for command in commands(path):
        reply = await tool.run(command)
        assert reply.is_error, command
        assert reply.text.startswith("Error: the "), reply
        assert "secret" not in reply.text
    assert held(tmp_path) == before


@pytest.mark.parametrize(
    "name", ["%41.md", "100%.md", "a%20b.md", "~", "a:b", "n..md", "名字.md", "é.md", "a b.txt", "-n"]
)
async def test_names_that_are_only_odd(tool: FileMemory, name: str) -> None:
    """What looks odd and leads nowhere is a name like any other."""
    path = f"/memories/{name}"
    assert await tool.handle({"command": "create", "path": path, "file_text": "x"}) == (
        f"File created successfully at: {path}"
    )
    assert held(tool.folder) == {name: "x"}
    assert path in await tool.handle({"command": "view", "path": "/memories"})


async def test_case_33_links(tmp_path: Path) -> None:
    """A link is neither shown nor followed, be it a file, a folder, or on the way; and it stays where it is."""
    tool = tool_of(tmp_path)
    outside = tmp_path / "outside"
    fill(outside, {"n.md": "secret"})
    fill(tool.folder, {"mine.md": "mine"})
    (tool.folder / "file.md").symlink_to(outside / "n.md")
    (tool.folder / "folder").symlink_to(outside)
    (tool.folder / "nowhere.md").symlink_to(outside / "missing.md")
    (tool.folder / "inside.md").symlink_to(tool.folder / "mine.md")
    before = held(tmp_path)
    for path in ("file.md", "folder", "folder/n.md", "folder/new.md", "nowhere.md", "inside.md"):
        for command in commands(f"/memories/{path}"):
            reply = await tool.run(command)
            assert reply.is_error, command
            assert "is a link, which is not followed" in reply.text
    assert await tool.handle({"command": "view", "path": "/memories"}) == (
        "Here're the files and directories up to 2 levels deep in /memories, excluding hidden items and node_modules:\n"
        "4B\t/memories\n4B\t/memories/mine.md"
    )
    assert held(tmp_path) == before


async def test_folder_with_a_link_is_not_deleted(tool: FileMemory) -> None:
    """What a person linked there is the person's."""
    fill(tool.folder, {"a/n.md": "x"})
    (tool.folder / "a" / "link").symlink_to("n.md")
    before = held(tool.folder)
    assert "a person has to delete it" in await tool.handle({"command": "delete", "path": "/memories/a"})
    assert held(tool.folder) == before


async def test_workspace_that_is_a_link(tmp_path: Path) -> None:
    """A workspace may lie elsewhere by the owner's own link."""
    (tmp_path / "real").mkdir()
    (tmp_path / "home" / "workspace").mkdir(parents=True)
    (tmp_path / "home" / "workspace" / "main").symlink_to(tmp_path / "real")
    tool = tool_of(tmp_path / "home")
    assert not (await tool.run({"command": "create", "path": "/memories/n.md", "file_text": "x"})).is_error
    assert held(tmp_path / "real") == {"memories/n.md": "x"}


async def test_new_files_are_private(tool: FileMemory) -> None:
    """Files 0600, folders 0700; the mode of a file that a person gave another one stays."""
    await tool.handle({"command": "create", "path": "/memories/a/n.md", "file_text": "x"})
    file = tool.folder / "a" / "n.md"
    assert [path.stat().st_mode & 0o777 for path in (tool.folder, file.parent, file)] == [0o700, 0o700, 0o600]
    file.chmod(0o644)
    await tool.handle({"command": "insert", "path": "/memories/a/n.md", "insert_line": 0, "insert_text": "y"})
    assert file.stat().st_mode & 0o777 == 0o644


async def test_odd_things_in_the_folder(tool: FileMemory) -> None:
    """A pipe is no file: it is not shown, nobody waits for it, and it is not replaced."""
    tool.folder.mkdir(parents=True)
    os.mkfifo(tool.folder / "pipe")
    assert "pipe" not in (await tool.handle({"command": "view", "path": "/memories"}))
    for command in commands("/memories/pipe")[:4]:
        assert (await tool.run(command)).is_error
    assert (tool.folder / "pipe").exists()
