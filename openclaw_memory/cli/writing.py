"""Send a change to memory from a command, and tell what became of it."""

from __future__ import annotations

import sys
from functools import partial
from typing import TYPE_CHECKING

import typer

from openclaw_memory.cli.asking import REPLY_SECONDS, run
from openclaw_memory.cli.exits import DONE, NOTHING, TROUBLE
from openclaw_memory.cli.output import console, print_json
from openclaw_memory.cli.refusals import refusal
from openclaw_memory.cli.words import say

if TYPE_CHECKING:
    from bus import EventBus
    from contracts import MemoryWrite, MemoryWritten, TaskStateChange, UpdateFact
    from openclaw_memory.actor import Memory
    from openclaw_memory.config import MemoryConfig

    Change = MemoryWrite | UpdateFact | TaskStateChange

MOST_CHARS = 1_000_001
"""Read from the standard input at most: one more than any text may have, so that a longer one is refused by name."""


def change(asked: Change, settings: MemoryConfig, *, json: bool) -> None:
    """Send a change, tell what became of it, and end the program with the exit code that says so."""
    written = run(partial(_ask, asked), settings, counts=False)
    if json:
        print_json(written.model_dump(mode="json", by_alias=True))
    else:
        _show(written)
    raise typer.Exit(DONE if written.success else TROUBLE if written.degraded else NOTHING)


def typed(text: str) -> str:
    """Give a text as it was typed; `-` stands for the standard input, without the line end of its last line."""
    if text != "-":
        return text
    return sys.stdin.read(MOST_CHARS).removesuffix("\n")


async def _ask(asked: Change, memory: Memory, bus: EventBus) -> MemoryWritten:
    return await bus.request(asked, timeout=REPLY_SECONDS)


def _show(written: MemoryWritten) -> None:
    if not written.success:
        typer.echo(refusal(written.message) if written.message else say("It was not written."), err=True)
        return
    from rich.text import Text

    out = console()
    for key in written.keys:
        out.print(Text.assemble((say("Kept: "), "green"), (key, "bold")))
    if written.message:
        out.print(Text(written.message, "yellow"))
