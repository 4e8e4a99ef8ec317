"""`openclaw-memory rebuild-index` and `openclaw-memory index status`."""

from __future__ import annotations

from dataclasses import asdict
from functools import partial
from typing import Annotated

import typer
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn
from rich.text import Text

from bus import EventBus
from openclaw_memory.actor import Memory
from openclaw_memory.cli.asking import run
from openclaw_memory.cli.options import Config, Json, Root, configuration
from openclaw_memory.cli.output import console, print_json
from openclaw_memory.retrieval.status import IndexStatus

Full = Annotated[bool, typer.Option("--full", help="Read every file again, instead of only making the terms anew.")]

index = typer.Typer(no_args_is_help=True, rich_markup_mode=None, help="Look after the index.")


def rebuild_index(root: Root = None, config: Config = None, full: Full = False, json: Json = False) -> None:
    """Make the index anew, beside the old one, which it replaces in one step.

    Nothing of memory rests on the index: it is derived from the files. No Gateway may run on the folder meanwhile; one
    that runs makes its index anew by itself when its files are deleted. Exit code 0: done, 1: it could not be done.
    """
    settings = configuration(root, config)
    err = Console(stderr=True)
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn())
    with Progress(*columns, console=err, transient=True, disable=not err.is_terminal) as bar:
        task = bar.add_task("files" if full else "pieces", total=None)
        told = run(partial(_rebuild, full, partial(_advance, bar, task)), settings)
    if json:
        print_json(asdict(told))
    else:
        _show(console(), told)
    raise typer.Exit(1 if told.problem else 0)


@index.command("status")
def status(root: Root = None, config: Config = None, json: Json = False) -> None:
    """Tell what the index holds and how it is. Exit code 0: it is well, 1: something is wrong with it."""
    told = run(_status, configuration(root, config))
    if json:
        print_json(asdict(told))
    else:
        _show(console(), told)
    raise typer.Exit(1 if told.problem else 0)


async def _rebuild(full: bool, progress: partial[None], memory: Memory, bus: EventBus) -> IndexStatus:
    await memory.rebuild_index(full=full, progress=progress)
    return await memory.index_status()


async def _status(memory: Memory, bus: EventBus) -> IndexStatus:
    return await memory.index_status()


def _advance(bar: Progress, task: int, done: int, of: int) -> None:
    bar.update(task, completed=done, total=of or None)  # type: ignore[arg-type]  # rich calls its int a TaskID


def _show(out: Console, told: IndexStatus) -> None:
    rows = [("engine", told.engine), ("pieces", f"{told.blocks:,} of {told.files:,} files")]
    rows += [(f"  {layer}", f"{count:,}") for layer, count in told.by_layer.items()]
    if told.waiting:
        rows.append(("not written yet", f"{told.waiting:,} changes (they are searched all the same)"))
    if told.bytes_on_disk:
        rows.append(("on disk", f"{told.bytes_on_disk / 1e6:,.1f} MB, generation {told.generation}"))
    for name, value in rows:
        out.print(Text(f"{name:<16} {value}"))
    out.print(Text(told.problem, "bold red") if told.problem else Text("The index is well.", "green"))
