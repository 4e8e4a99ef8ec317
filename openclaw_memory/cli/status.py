"""`openclaw-memory status`."""

from __future__ import annotations

from typing import TYPE_CHECKING

import typer

from openclaw_memory.cli.exits import DONE, NOTHING
from openclaw_memory.cli.options import Agent, Config, Json, Root, Workspace, configuration
from openclaw_memory.cli.output import console, padded, patience, print_json, show_owner
from openclaw_memory.cli.words import say

if TYPE_CHECKING:
    from collections.abc import Sequence

    from openclaw_memory.cli.health import Health, Problem

SHOWN = 5
"""Notes that are shown; `--json` has all."""


def status(
    root: Root = None, config: Config = None, workspace: Workspace = None, agent: Agent = None, json: Json = False
) -> None:
    """Tell how memory is: files, sizes, index, disk, and what is wrong, with the command that mends it.

    Nothing is changed and nothing is locked: it may run beside a Gateway. Exit code 0: all is well, 1: something needs
    attention.
    """
    settings = configuration(root, config, workspace, agent)
    from openclaw_memory.cli.health import as_json, look, problems_of
    from openclaw_memory.clock import SystemClock

    with patience(say("Reading every document ...")):
        health = look(settings, SystemClock().now())
    named = [("--root", root), ("--config", config), ("--workspace", workspace), ("--agent", agent)]
    problems = problems_of(health, [word for name, value in named if value is not None for word in (name, str(value))])
    if json:
        print_json(as_json(health, problems))
    else:
        _show(health, problems)
    raise typer.Exit(NOTHING if problems else DONE)


def _show(health: Health, problems: Sequence[Problem]) -> None:
    from rich.text import Text

    out = console()
    out.print(Text(str(health.config.root), "bold"))
    show_owner(out, health.report)
    for part in health.parts:
        files = say("1 file") if part.files == 1 else say("{count:,} files", count=part.files)
        out.print(Text(f"  {padded(say(part.name), 14)} {padded(files, 14)} {_bytes(part.size):>10}"))
    report, index = health.report, health.index
    out.print(Text(say("{count} documents, {intact} intact", count=report.documents, intact=report.intact)))
    out.print(Text(say("{count} entries in MEMORY.md", count=health.entries)))
    if health.stale:
        out.print(Text(say("{count} notes speak of a day that is a week past:", count=len(health.stale)), "yellow"))
        for key, text in list(health.stale.items())[:SHOWN]:
            out.print(Text.assemble("  ", (key, "bold"), f"  {text}"))
    if index is not None:
        out.print(Text(say("{count:,} pieces in the index ({engine})", count=index.blocks, engine=index.engine)))
    elif health.index_problem is None:
        out.print(Text(say("No index on the disk; the next start makes it.")))
    out.print(Text(say("{free} of {total} free on the disk", free=_bytes(health.free), total=_bytes(health.total))))
    for problem in problems:
        out.print(Text.assemble(("✗ ", "bold red"), problem.words))
        if problem.command is not None:
            out.print(Text.assemble(("    → ", "red"), problem.command))
    if not problems:
        out.print(Text(say("All is well."), "green"))


def _bytes(count: int) -> str:
    for unit, size in (("GB", 1e9), ("MB", 1e6), ("KB", 1e3)):
        if count >= size:
            return f"{count / size:,.1f} {unit}"
    return f"{count} B"
