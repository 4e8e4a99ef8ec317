"""What docs/mcp.md and docs/file-memory-tool.md show is what happens."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path
from typing import Any

import httpx2
import pytest
import typer

from contracts.fields import SessionKind
from openclaw_memory.cli.app import app
from openclaw_memory.filetool.commands import read_command
from openclaw_memory.filetool.errors import CommandRefusedError
from openclaw_memory.mcp.arguments import names_of
from openclaw_memory.mcp.tools import TOOLS

PROJECT = Path(__file__).parents[2]
MCP = (PROJECT / "docs/mcp.md").read_text(encoding="utf-8")
FILES = (PROJECT / "docs/file-memory-tool.md").read_text(encoding="utf-8")
SNIPPETS = re.findall(r"```json\n(.*?)```", MCP, re.DOTALL)


def blocks(page: str) -> list[str]:
    return re.findall(r"```python\n(.*?)```", page, re.DOTALL)


def run(example: str, home: Path) -> str:
    """Run an example as it stands, but for the folder; gives what it prints."""
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", example.replace("/home/you", str(home))],
        cwd=PROJECT,
        env={"PYTHONPATH": str(PROJECT), "LANG": "C.UTF-8"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.returncode, done.stderr) == (0, "")
    return done.stdout


@pytest.mark.parametrize("snippet", SNIPPETS)
def test_configurations_name_what_there_is(snippet: str) -> None:
    """JSON; a command that the project installs with arguments that it takes, or the address that it prints."""
    found = json.loads(snippet)
    servers = found.get("mcpServers") or found["mcp"]["servers"]
    scripts = tomllib.loads((PROJECT / "pyproject.toml").read_text())["project"]["scripts"]
    command = typer.main.get_command(app)
    for server in servers.values():
        if "url" in server:
            port = command.commands["mcp"].params  # type: ignore[attr-defined]
            assert server["url"] == f"http://127.0.0.1:{next(p.default for p in port if p.name == 'port')}/mcp"
            continue
        assert server["command"] in scripts
        name, *arguments = server["args"]
        command.commands[name].make_context(name, arguments)  # type: ignore[attr-defined]


def test_all_programs_have_one() -> None:
    """Those that the page promises."""
    assert len(SNIPPETS) == 5
    for program in ("Claude Desktop", "Claude Code", "Cursor", "OpenClaw"):
        assert f"**{program}**: " in MCP


def test_installed_command_is_there() -> None:
    """By the name that the configurations have."""
    beside = shutil.which("openclaw-memory", path=str(Path(sys.executable).parent))
    if beside is None:
        pytest.skip("the project is not installed in this environment, only its path is known")
    shown = subprocess.run([beside, "mcp", "--help"], capture_output=True, text=True, check=True, cwd=PROJECT)
    assert "--session-kind" in shown.stdout


def test_table_of_tools() -> None:
    """All of them, with their arguments."""
    rows = re.findall(r"^\| `(\w+)` \| (.*?) \|", MCP, re.MULTILINE)
    tools = {name: re.findall(r"`(\w+)\??`", arguments) for name, arguments in rows if name in TOOLS}
    assert tools == {name: names_of(tool.arguments) for name, tool in TOOLS.items()}


def test_table_of_kinds() -> None:
    """All kinds of session."""
    kinds: set[str] = set(SessionKind.__args__)  # type: ignore[attr-defined]
    assert kinds <= set(re.findall(r"^\| `(\w+)` \|", MCP, re.MULTILINE))


def test_server_in_a_program_of_ones_own(tmp_path: Path) -> None:
    """The example runs."""
    (example,) = blocks(MCP)
    assert "The zeppelin lands at noon" in run(example, tmp_path)


def test_example_of_the_file_tool(tmp_path: Path) -> None:
    """The example runs."""
    printed = run(blocks(FILES)[0], tmp_path)
    assert printed.startswith("File created successfully at: /memories/plan.md\n")
    assert "18B\t/memories/plan.md" in printed
    assert (tmp_path / ".openclaw/workspace/main/memories/plan.md").read_text() == "Land the zeppelin\n"


def test_example_with_the_anthropic_package(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The package's own runner, against an endpoint that answers as the service does."""
    anthropic = pytest.importorskip("anthropic")
    asked: list[dict[str, Any]] = []

    def answer(request: httpx2.Request) -> httpx2.Response:
        asked.append(json.loads(request.content))
        uses = [
            {"command": "create", "path": "/memories/plan.md", "file_text": "Land the zeppelin\n"},
            {"command": "view", "path": "/memories/../MEMORY.md"},
        ]
        content: list[dict[str, Any]] = [{"type": "text", "text": "Done."}]
        if len(asked) <= len(uses):
            use = uses[len(asked) - 1]
            content = [{"type": "tool_use", "id": f"toolu_{len(asked)}", "name": "memory", "input": use}]
        message = {
            "id": f"msg_{len(asked)}",
            "type": "message",
            "role": "assistant",
            "model": "test",
            "content": content,
            "stop_reason": content[0]["type"] if content[0]["type"] == "tool_use" else "end_turn",
            "stop_sequence": None,
            "usage": {"input_tokens": 1, "output_tokens": 1},
        }
        return httpx2.Response(200, json=message)

    names: dict[str, Any] = {}
    exec(blocks(FILES)[1].replace("/home/you", str(tmp_path)), names)
    with httpx2.Client(transport=httpx2.MockTransport(answer)) as web:
        names["ask"](anthropic.Anthropic(api_key="none", http_client=web), "test", "What is to be done?")
    assert asked[0]["tools"] == [{"type": "memory_20250818", "name": "memory"}]
    results = [request["messages"][-1]["content"][0] for request in asked[1:]]
    assert results[0]["content"] == "File created successfully at: /memories/plan.md"
    assert results[1]["is_error"] is True
    assert "is refused" in str(results[1]["content"])
    assert (tmp_path / ".openclaw/workspace/main/memories/plan.md").read_text() == "Land the zeppelin\n"
    assert "Done." in capsys.readouterr().out


def test_table_of_commands() -> None:
    """Every command with its arguments; those without `?` are required."""
    rows = re.findall(r"^\| `(\w+)` \| (`.*?) \|", FILES, re.MULTILINE)
    assert [name for name, _ in rows] == ["view", "create", "str_replace", "insert", "delete", "rename"]
    for name, arguments in rows:
        values: dict[str, Any] = {"insert_line": 0}
        given = {argument: values.get(argument, "x") for argument in re.findall(r"`(\w+)`", arguments)}
        assert read_command({"command": name, **given})
        for required in given:
            without = {argument: value for argument, value in given.items() if argument != required}
            with pytest.raises(CommandRefusedError, match=f"`{required}` of {name}"):
                read_command({"command": name, **without})
