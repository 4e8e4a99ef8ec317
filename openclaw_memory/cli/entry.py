"""Where the program `openclaw-memory` begins."""

from __future__ import annotations

import io
import os
import sys
from typing import TYPE_CHECKING, Any

from openclaw_memory.cli.exits import INTERRUPTED
from openclaw_memory.cli.words import language_of

if TYPE_CHECKING:
    from collections.abc import Mapping


def main() -> None:
    """Run the command line, in the language of the terminal; Ctrl-C ends it with 130 from its first moment on."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            # Whatever a memory or the name of a file holds, and whatever the terminal can show.
            stream.reconfigure(errors="backslashreplace")
    if isinstance(sys.stdin, io.TextIOWrapper):
        # Bytes that are no text are taken as those of the command line are: memory says what becomes of them.
        sys.stdin.reconfigure(errors="surrogateescape")
    try:
        import typer

        from openclaw_memory.cli.app import app

        command = typer.main.get_command(app)
        if language_of(os.environ) == "zh":
            from openclaw_memory.cli.zh_help import HELP

            translate(command, HELP)
        command(prog_name="openclaw-memory")
    except KeyboardInterrupt:
        sys.exit(INTERRUPTED)


def translate(command: Any, words: Mapping[str, str]) -> None:
    """Put the help of a command, and of all below it, into another language; what is not in `words` stays."""
    command.help = words.get(command.help, command.help)
    for parameter in command.params:
        if getattr(parameter, "help", None):
            parameter.help = words.get(parameter.help, parameter.help)
    for inner in getattr(command, "commands", {}).values():
        translate(inner, words)
