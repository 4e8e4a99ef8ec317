"""`openclaw-memory import`."""

from __future__ import annotations

import sys
from collections.abc import AsyncIterator, Iterable
from contextlib import asynccontextmanager
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from openclaw_memory.cli.exits import DONE, INTERRUPTED, NOTHING, TROUBLE
from openclaw_memory.cli.options import Agent, Config, Json, Root, Workspace, configuration
from openclaw_memory.cli.output import console, padded, patience, print_json, progress_bar
from openclaw_memory.cli.words import say

if TYPE_CHECKING:
    from rich.console import Console

    from bus import EventBus
    from openclaw_memory.config import MemoryConfig
    from openclaw_memory.moving.found import Remark
    from openclaw_memory.moving.importing import Imported, Options
    from openclaw_memory.moving.plan import Outcome, Plan

SHOWN = 20
"""Conflicts and remarks of one kind that are shown; `--json` has all."""

FORMATS = ("openclaw", "nanobot", "memsearch", "basic-memory", "chatgpt", "claude", "jsonl")

From = Annotated[
    Path, typer.Argument(metavar="SOURCE", help="A folder, a file, or a zip archive as it was downloaded.")
]
Given = Annotated[
    str | None,
    typer.Option(
        "--from",
        metavar="FORMAT",
        help=f"What wrote it, where that can't be told: {', '.join(FORMATS)}.",
        autocompletion=lambda: FORMATS,
    ),
]
DryRun = Annotated[bool, typer.Option("--dry-run", help="Tell what would be done, and change nothing.")]
Yes = Annotated[bool, typer.Option("--yes", "-y", help="Do not ask before anything is written.")]
Mine = Annotated[
    bool,
    typer.Option(
        "--mine", help="The chats are your own words: they are not marked as untrusted wherever they are recalled."
    ),
]
Theirs = Annotated[
    bool, typer.Option("--take-theirs", help="Where a fact has another value there, take that; else yours is kept.")
]


def import_(
    source: From,
    root: Root = None,
    config: Config = None,
    workspace: Workspace = None,
    agent: Agent = None,
    given: Given = None,
    dry_run: DryRun = False,
    yes: Yes = False,
    mine: Mine = False,
    take_theirs: Theirs = False,
    json: Json = False,
) -> None:
    """Take in what another program remembers: OpenClaw, nanobot, memsearch, basic-memory, ChatGPT, Claude, an export.

    What would be written is shown first, and everything is backed up before. A second run changes nothing. Ctrl-C
    leaves memory as it was. Exit code 0: done, or nothing is new, 1: it was refused, or some of it could not be read.
    """
    settings = configuration(root, config, workspace, agent)
    from openclaw_memory.moving.importing import Options

    if given is not None and given not in FORMATS:
        raise typer.BadParameter(say("there are: {names}", names=", ".join(FORMATS)), param_hint="--from")
    options = Options(given, mine, take_theirs)  # type: ignore[arg-type]  # one of the formats, looked at above
    plan = _planned(settings, source, options)
    if not json:
        _show_plan(console(), plan)
    imported = None
    if plan.changes_anything and not dry_run:
        if not (yes or _agreed()):
            typer.echo(say("Nothing was changed."), err=True)
            raise typer.Exit(NOTHING)
        imported = _performed(settings, plan, options)
    refused = [] if imported is None else [*imported.written.refused, *imported.taken]
    if json:
        print_json(_json(plan, imported, refused))
    else:
        _show_done(console(), plan, imported, refused, dry_run=dry_run)
    raise typer.Exit(NOTHING if plan.problems or refused else DONE)


def _planned(settings: MemoryConfig, source: Path, options: Options) -> Plan:
    import anyio

    from openclaw_memory.cli.paths import no_such
    from openclaw_memory.clock import SystemClock
    from openclaw_memory.errors import OpenClawMemoryError
    from openclaw_memory.moving.importing import plan_import
    from openclaw_memory.storage.files import LocalFiles

    place = source.expanduser().absolute()
    if not place.exists():
        raise typer.BadParameter(no_such(place, files=True), param_hint="SOURCE")
    try:
        with patience(say("Reading {source} ...", source=place.name)):
            return anyio.run(plan_import, settings, place, options, LocalFiles(), SystemClock())
    except KeyboardInterrupt:
        typer.echo(say("Interrupted. Nothing was changed."), err=True)
        raise typer.Exit(INTERRUPTED) from None
    except OpenClawMemoryError as error:
        typer.echo(str(error), err=True)
        raise typer.Exit(NOTHING) from error
    except OSError as error:
        typer.echo(str(error), err=True)
        raise typer.Exit(TROUBLE) from error


def _performed(settings: MemoryConfig, plan: Plan, options: Options) -> Imported:
    from openclaw_memory.clock import SystemClock
    from openclaw_memory.moving.errors import BackupError, StoppedError
    from openclaw_memory.moving.importing import perform
    from openclaw_memory.storage.files import LocalFiles

    try:
        with progress_bar(say("items")) as progress:
            return perform(settings, plan, options, LocalFiles(), SystemClock(), partial(_open_bus, settings), progress)
    except KeyboardInterrupt as interrupt:
        state = str(interrupt) or say("nothing was changed")
        typer.echo(say("Interrupted: {state}.", state=state), err=True)
        raise typer.Exit(INTERRUPTED) from None
    except (BackupError, StoppedError) as error:
        typer.echo(str(error), err=True)
        raise typer.Exit(TROUBLE) from error


@asynccontextmanager
async def _open_bus(settings: MemoryConfig) -> AsyncIterator[tuple[EventBus, bool]]:
    from openclaw_memory.cli.asking import memory_of

    async with memory_of(settings, counts=False) as (memory, bus):
        yield bus, memory.status().owner is None


def _agreed() -> bool:
    if not sys.stdin.isatty():
        typer.echo(say("Give --yes to import without being asked."), err=True)
        return False
    return typer.confirm(say("Import this?"), default=False, err=True)


# -- shown -----------------------------------------------------------------------------------------------------------


def _show_plan(out: Console, plan: Plan) -> None:
    from rich.text import Text

    out.print(Text.assemble((say("Format: "), "dim"), (plan.format, "bold")))
    for layer in sorted({*plan.new, *plan.known}):
        new, known = plan.new[layer], plan.known[layer]
        words = say("{new:,} new, {known:,} known already", new=new, known=known)
        out.print(Text.assemble((padded(layer, 14), "bold"), words))
    if masked := sum(placement.masked for placement in plan.placements):
        out.print(Text(say("{count} secrets in files are masked", count=masked), "yellow"))
    for conflict in plan.conflicts[:SHOWN]:
        out.print(Text.assemble((conflict.address, "bold"), "  ", (_outcome(conflict.outcome), "yellow")))
        out.print(Text(say("    yours: {text}", text=conflict.ours)))
        out.print(Text(say("    there: {text}", text=conflict.theirs)))
    _more(out, len(plan.conflicts))
    _show_remarks(out, say("Could not be read:"), plan.problems, "bold red")
    _show_remarks(out, say("Stays out:"), plan.left_out, "cyan")


def _show_remarks(out: Console, title: str, remarks: Iterable[Remark], colour: str) -> None:
    from rich.text import Text

    listed = list(remarks)
    if not listed:
        return
    out.print(Text(title, colour))
    for remark in listed[:SHOWN]:
        out.print(Text.assemble("  ", (remark.where, "bold"), f"  {remark.words}"))
    _more(out, len(listed))


def _outcome(outcome: Outcome) -> str:
    match outcome:
        case "ours is kept":
            return say("yours is kept")
        case "theirs is taken":
            return say("theirs is taken")
        case "both are kept":
            return say("both are kept")


def _more(out: Console, count: int) -> None:
    if count > SHOWN:
        out.print(say("  and {count:,} more (--json lists all)", count=count - SHOWN))


def _show_done(out: Console, plan: Plan, imported: Imported | None, refused: list[Remark], *, dry_run: bool) -> None:
    from rich.text import Text

    if imported is None:
        words = say("Nothing was changed.") if dry_run and plan.changes_anything else say("Nothing in it is new.")
        out.print(Text(words, "green"))
        return
    _show_remarks(out, say("Was not taken:"), refused, "yellow")
    for layer, count in sorted(imported.written.counts.items()):
        out.print(Text.assemble((say("Imported: "), "green"), f"{layer} {count:,}"))
    backup = imported.backup
    out.print(say("As it was before: {backup} ({count:,} files)", backup=backup, count=imported.backed_up))
    out.print(say("docs/moving.md tells how to go back to it."))


def _json(plan: Plan, imported: Imported | None, refused: list[Remark]) -> dict[str, Any]:
    return {
        "format": plan.format,
        "new": dict(plan.new),
        "known": dict(plan.known),
        "conflicts": [
            {
                "address": one.address,
                "ours": one.ours,
                "theirs": one.theirs,
                "outcome": one.outcome,
                "where": one.where,
            }
            for one in plan.conflicts
        ],
        "problems": [{"where": one.where, "words": one.words} for one in plan.problems],
        "left_out": [{"where": one.where, "words": one.words} for one in plan.left_out],
        "imported": None if imported is None else dict(imported.written.counts),
        "refused": [{"where": one.where, "words": one.words} for one in refused],
        "backup": None if imported is None else str(imported.backup),
    }
