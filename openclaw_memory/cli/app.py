"""The commands, put together.

Their modules import what is heavy where they use it: help, completion and a mistyped word are answered at once.
"""

from __future__ import annotations

import logging

import typer

from openclaw_memory.cli.chat import chat
from openclaw_memory.cli.compact import compact
from openclaw_memory.cli.config import config
from openclaw_memory.cli.context import context
from openclaw_memory.cli.demo import demo
from openclaw_memory.cli.exporting import export
from openclaw_memory.cli.fact import fact
from openclaw_memory.cli.forget import forget
from openclaw_memory.cli.guide import guide
from openclaw_memory.cli.heartbeat import heartbeat
from openclaw_memory.cli.index import index, rebuild_index
from openclaw_memory.cli.init import init
from openclaw_memory.cli.mcp import mcp
from openclaw_memory.cli.moving import import_
from openclaw_memory.cli.promote import promote
from openclaw_memory.cli.remember import remember
from openclaw_memory.cli.repair import repair
from openclaw_memory.cli.search import debug_search, search
from openclaw_memory.cli.status import status
from openclaw_memory.cli.summary import summary
from openclaw_memory.cli.task import task
from openclaw_memory.cli.verify import verify
from openclaw_memory.cli.versions import diff, history, restore

app = typer.Typer(
    name="openclaw-memory",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
)


@app.callback()
def main() -> None:
    """Look after the memory of an OpenClaw agent: what it remembers, from the terminal.

    Exit codes: 0 done, 1 nothing was found, it was refused, or something needs attention, 2 the command or the
    configuration was not understood, 3 trouble (the disk refuses), 130 interrupted.
    """
    # What memory logs is for the Gateway's log; a command says it in its own words.
    logging.getLogger("openclaw_memory").addHandler(logging.NullHandler())


app.command()(init)
app.command()(demo)
app.command()(status)
app.command()(remember)
app.add_typer(fact, name="fact")
app.add_typer(task, name="task")
app.command()(search)
app.command("debug-search")(debug_search)
app.command()(context)
app.command()(chat)
app.command()(summary)
app.command()(heartbeat)
app.command()(forget)
app.command()(compact)
app.command()(promote)
app.command()(history)
app.command()(diff)
app.command()(restore)
app.command("rebuild-index")(rebuild_index)
app.add_typer(index, name="index")
app.command()(verify)
app.command()(repair)
app.add_typer(config, name="config")
app.command()(guide)
app.command()(mcp)
app.command("import")(import_)
app.command()(export)
