"""The tool as the `anthropic` package runs it."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from openclaw_memory.filetool.errors import AnthropicMissingError
from tests.filetool.conftest import held, tool_of

NOTE = {"command": "create", "path": "/memories/n.md", "file_text": "x"}


def test_synchronous_tool(tmp_path: Path) -> None:
    """Called with the input of a `tool_use`; declared as the models know it."""
    pytest.importorskip("anthropic")
    from anthropic.lib.tools import BetaAbstractMemoryTool

    from openclaw_memory.filetool.anthropic_tool import FileMemoryTool

    memory = tool_of(tmp_path)
    tool = FileMemoryTool(memory)
    assert isinstance(tool, BetaAbstractMemoryTool)
    assert tool.to_dict() == {"type": "memory_20250818", "name": "memory"}
    assert tool.call(NOTE) == "File created successfully at: /memories/n.md"
    assert held(memory.folder) == {"n.md": "x"}


async def test_asynchronous_tool(tmp_path: Path) -> None:
    """The same for `AsyncAnthropic`."""
    pytest.importorskip("anthropic")
    from openclaw_memory.filetool.anthropic_tool import AsyncFileMemoryTool

    memory = tool_of(tmp_path)
    tool = AsyncFileMemoryTool(memory)
    assert await tool.call(NOTE) == "File created successfully at: /memories/n.md"
    assert "\tx" in str(await tool.call({"command": "view", "path": "/memories/n.md"}))


async def test_refusals_are_errors_of_the_tool(tmp_path: Path) -> None:
    """The runner sends their text with `is_error`, whatever the model wrote."""
    pytest.importorskip("anthropic")
    from anthropic.lib.tools import ToolError

    from openclaw_memory.filetool.anthropic_tool import AsyncFileMemoryTool, FileMemoryTool

    memory = tool_of(tmp_path)
    with pytest.raises(ToolError, match="paths begin with /memories/"):
        FileMemoryTool(memory).call({"command": "view", "path": "/memories_backup"})
    for given in ({}, {"command": 7}, [], None, "view"):
        with pytest.raises(ToolError, match="command"):
            await AsyncFileMemoryTool(memory).call(given)


def test_typed_commands(tmp_path: Path) -> None:
    """Each method of the abstract class takes the package's own type."""
    pytest.importorskip("anthropic")
    from anthropic.types import beta

    from openclaw_memory.filetool.anthropic_tool import FileMemoryTool

    memory = tool_of(tmp_path)
    tool, path = FileMemoryTool(memory), "/memories/n.md"
    tool.create(beta.BetaMemoryTool20250818CreateCommand(command="create", path=path, file_text="one\n"))
    tool.insert(beta.BetaMemoryTool20250818InsertCommand(command="insert", path=path, insert_line=1, insert_text="two"))
    tool.str_replace(
        beta.BetaMemoryTool20250818StrReplaceCommand(command="str_replace", path=path, old_str="one", new_str="1")
    )
    assert tool.view(beta.BetaMemoryTool20250818ViewCommand(command="view", path=path)).endswith(
        "     1\t1\n     2\ttwo"
    )
    tool.rename(beta.BetaMemoryTool20250818RenameCommand(command="rename", old_path=path, new_path="/memories/m.md"))
    assert held(memory.folder) == {"m.md": "1\ntwo\n"}
    tool.delete(beta.BetaMemoryTool20250818DeleteCommand(command="delete", path="/memories/m.md"))
    assert held(memory.folder) == {}


def test_package_is_missing(monkeypatch: pytest.MonkeyPatch) -> None:
    """The message names the extra, and what works without it."""
    monkeypatch.setitem(sys.modules, "anthropic.lib.tools", None)
    monkeypatch.delitem(sys.modules, "openclaw_memory.filetool.anthropic_tool", raising=False)
    with pytest.raises(AnthropicMissingError, match=r"openclaw-memory\[anthropic\]"):
        import openclaw_memory.filetool.anthropic_tool  # noqa: F401
