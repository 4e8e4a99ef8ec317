"""`openclaw-memory rebuild-index` and `openclaw-memory index status`."""

from __future__ import annotations

from dataclasses import asdict
from functools import partial
from typing import TYPE_CHECKING, Annotated

import typer

from openclaw_memory.cli.asking import run
from openclaw_memory.cli.exits import DONE, NOTHING
from openclaw_memory.cli.options import Agent, Config, Json, Root, configuration
from openclaw_memory.cli.output import console, padded, print_json
from openclaw_memory.cli.words import say

if TYPE_CHECKING:
    from rich.console import Console
    from rich.progress import Progress

    from bus import EventBus
    from openclaw_memory.actor import Memory
    from openclaw_memory.retrieval.status import IndexStatus

Full = Annotated[bool, typer.Option("--full", help="Read every file again, instead of only making the terms anew.")]

index = typer.Typer(no_args_is_help=True, rich_markup_mode=None, help="Look after the index.")


def rebuild_index(
    root: Root = None, config: Config = None, agent: Agent = None, full: Full = False, json: Json = False
) -> None:
    """Make the index anew, beside the old one, which it replaces in one step.

    Nothing of memory rests on the index: it is derived from the files. No Gateway may run on the folder meanwhile; one
    that runs makes its index anew by itself when its files are deleted. Exit code 0: done, 1: it could not be done.
    """
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn

    settings = configuration(root, config, None, agent)
    err = Console(stderr=True)
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn())
    with Progress(*columns, console=err, transient=True, disable=not err.is_terminal) as bar:
        task = bar.add_task(say("files") if full else say("pieces"), total=None)
        told = run(partial(_rebuild, full, partial(_advance, bar, task)), settings, quiet=True, counts=False)
    if json:
        print_json(asdict(told))
    else:
        _show(console(), told)
    raise typer.Exit(NOTHING if told.problem else DONE)


@index.command("status")
def status(root: Root = None, config: Config = None, agent: Agent = None, json: Json = False) -> None:
    """Tell what the index holds and how it is. Exit code 0: it is well, 1: something is wrong with it."""
    told = run(_status, configuration(root, config, None, agent), counts=False)
    if json:
        print_json(asdict(told))
    else:
        _show(console(), told)
    raise typer.Exit(NOTHING if told.problem else DONE)


async def _rebuild(full: bool, progress: partial[None], memory: Memory, bus: EventBus) -> IndexStatus:
    await memory.rebuild_index(full=full, progress=progress)
    return await memory.index_status()


async def _status(memory: Memory, bus: EventBus) -> IndexStatus:
    return await memory.index_status()


def _advance(bar: Progress, task: int, done: int, of: int) -> None:
    bar.update(task, completed=done, total=of or None)  # type: ignore[arg-type]  # rich calls its int a TaskID


def _show(out: Console, told: IndexStatus) -> None:
    from rich.text import Text

    rows = [
        (say("engine"), told.engine),
        (say("pieces"), say("{blocks:,} of {files:,} files", blocks=told.blocks, files=told.files)),
    ]
    rows += [(f"  {layer}", f"{count:,}") for layer, count in told.by_layer.items()]
    if told.waiting:
        words = say("{count:,} changes (they are searched all the same)", count=told.waiting)
        rows.append((say("not written yet"), words))
    if told.bytes_on_disk:
        size, generation = told.bytes_on_disk / 1e6, told.generation
        words = say("{size:,.1f} MB, generation {generation}", size=size, generation=generation)
        rows.append((say("on disk"), words))
    for name, value in rows:
        out.print(Text(padded(name, 16) + f" {value}"))
    out.print(Text(told.problem, "bold red") if told.problem else Text(say("The index is well."), "green"))
