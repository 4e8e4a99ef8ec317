"""Where the program `openclaw-memory` begins."""

from __future__ import annotations

import os
import sys
from contextlib import suppress
from typing import TYPE_CHECKING, Any

from openclaw_memory.cli.exits import INTERRUPTED, TROUBLE
from openclaw_memory.cli.streams import OutputError, give_up, prepare
from openclaw_memory.cli.words import language_of, say

if TYPE_CHECKING:
    from collections.abc import Mapping


def main() -> None:
    """Run the command line, in the language of the terminal; Ctrl-C ends it with 130 from its first moment on.

    An output that takes nothing ends it with 3 and a line that says so; what was acknowledged is stored.
    """
    prepare()
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
    except OutputError as error:
        with suppress(OutputError, OSError):
            print(say("The output can't be written: {error}", error=error), file=sys.stderr, flush=True)
        give_up()
        sys.exit(TROUBLE)


def translate(command: Any, words: Mapping[str, str]) -> None:
    """Put the help of a command, and of all below it, into another language; what is not in `words` stays."""
    command.help = words.get(command.help, command.help)
    for parameter in command.params:
        if getattr(parameter, "help", None):
            parameter.help = words.get(parameter.help, parameter.help)
    for inner in getattr(command, "commands", {}).values():
        translate(inner, words)
