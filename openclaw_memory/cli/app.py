"""The commands, put together."""

from __future__ import annotations

import logging

import typer

from openclaw_memory.cli.index import index, rebuild_index
from openclaw_memory.cli.repair import repair
from openclaw_memory.cli.search import debug_search, search
from openclaw_memory.cli.verify import verify

app = typer.Typer(
    name="openclaw-memory",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
)


@app.callback()
def main() -> None:
    """Look after the memory folder of an OpenClaw agent.

    Exit codes: 0 nothing needs attention, 1 something does, 2 the command was not understood.
    """
    # What memory logs is for the Gateway's log; a command says it in its own words.
    logging.getLogger("openclaw_memory").addHandler(logging.NullHandler())


app.command()(search)
app.command("debug-search")(debug_search)
app.command("rebuild-index")(rebuild_index)
app.add_typer(index, name="index")
app.command()(verify)
app.command()(repair)
