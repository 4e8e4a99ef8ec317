"""Every text that the commands say or show in their help, found in the source and in the commands themselves."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import typer

import openclaw_memory.cli
from openclaw_memory.cli.app import app


def said() -> dict[str, str]:
    """Give each English sentence that stands in `say("...")`, with the module that says it."""
    found = {}
    for path in sorted(Path(openclaw_memory.cli.__file__).parent.glob("*.py")):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "say":
                first = node.args[0]
                if isinstance(first, ast.Constant) and isinstance(first.value, str):
                    found[first.value] = path.name
    return found


def helped() -> dict[str, str]:
    """Give each text of the help, with the command that it helps with."""
    return dict(_helped(typer.main.get_command(app), "openclaw-memory"))


def _helped(command: Any, name: str) -> Iterator[tuple[str, str]]:
    if command.help:
        yield command.help, name
    for parameter in command.params:
        if getattr(parameter, "help", None):
            yield parameter.help, name
    for inner, below in getattr(command, "commands", {}).items():
        yield from _helped(below, f"{name} {inner}")
