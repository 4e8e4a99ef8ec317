"""`openclaw-memory guide`."""

from __future__ import annotations

from typing import Annotated

import typer

from openclaw_memory.cli.options import Json
from openclaw_memory.cli.output import print_json

Language = Annotated[
    str | None,
    typer.Option("--language", metavar="zh|en", help="Language of the guide. [default: that of the terminal]"),
]
MemoryFile = Annotated[
    str, typer.Option("--memory-file", metavar="PATH", help="MEMORY.md, as the agent's own tool knows it.")
]
DailyFile = Annotated[str, typer.Option("--daily-file", metavar="PATH", help="The day's notes, likewise.")]
Tool = Annotated[str, typer.Option("--tool", metavar="NAME", help="The tool that the agent writes files with.")]


def guide(
    language: Language = None,
    memory_file: MemoryFile = "memory/MEMORY.md",
    daily_file: DailyFile = "memory/YYYY-MM-DD.md",
    tool: Tool = "write_file",
    json: Json = False,
) -> None:
    """Print the guide that tells an agent how to keep its memory with the file tool that it has (two-layer mode).

    It goes into the system prompt: what to write where, when, and when not.
    """
    import os
    from typing import cast

    from openclaw_memory.cli.words import language_of
    from openclaw_memory.errors import Refused
    from openclaw_memory.guide import Language as Known
    from openclaw_memory.guide import memory_guide

    chosen = language or language_of(os.environ)
    try:
        text = memory_guide(cast(Known, chosen), memory_file=memory_file, daily_file=daily_file, write_tool=tool)
    except Refused as refusal:
        raise typer.BadParameter(str(refusal)) from refusal
    if json:
        print_json({"language": chosen, "text": text})
    else:
        typer.echo(text)
