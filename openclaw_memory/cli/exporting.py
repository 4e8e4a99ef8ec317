"""`openclaw-memory export`."""

from __future__ import annotations

from datetime import datetime
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from openclaw_memory.cli.exits import DONE, INTERRUPTED, NOTHING, TROUBLE
from openclaw_memory.cli.options import Agent, Config, Json, Root, Workspace, configuration
from openclaw_memory.cli.output import console, print_json, progress_bar
from openclaw_memory.cli.words import say

if TYPE_CHECKING:
    from rich.console import Console

    from openclaw_memory.config import MemoryConfig
    from openclaw_memory.moving.exporting import Exported

To = Annotated[Path, typer.Argument(metavar="DEST", help="File or folder to write; it must not exist yet.")]
As = Annotated[
    str, typer.Option("--format", metavar="FORMAT", help="`jsonl`, one object a line, or `markdown`, the files.")
]
OfSession = Annotated[
    str | None, typer.Option("--session", metavar="ID", help="Only the messages of this session (`jsonl` only).")
]
Since = Annotated[
    str | None,
    typer.Option("--since", metavar="DATE", help="Only what has a time on or after this day (`jsonl` only)."),
]
Force = Annotated[bool, typer.Option("--force", help="Write over what is there.")]


def export(
    destination: To,
    root: Root = None,
    config: Config = None,
    workspace: Workspace = None,
    agent: Agent = None,
    form: As = "jsonl",
    session: OfSession = None,
    since: Since = None,
    force: Force = False,
    json: Json = False,
) -> None:
    """Write everything that memory holds into a file of JSON lines, or its Markdown files into a folder.

    Secrets are exported as they are stored. It works beside a running Gateway. Exit code 0: done, 1: it was refused, or
    some documents could not be read and are there as their bytes only.
    """
    settings = configuration(root, config, workspace, agent)
    import anyio

    from openclaw_memory.clock import SystemClock
    from openclaw_memory.moving.errors import DestinationError
    from openclaw_memory.moving.exporting import Wanted
    from openclaw_memory.moving.exporting import export as write
    from openclaw_memory.storage.files import LocalFiles

    if form not in ("jsonl", "markdown"):
        raise typer.BadParameter(say("there are: {names}", names="jsonl, markdown"), param_hint="--format")
    if destination == Path("-"):
        words = say("an export is there whole or not at all, which a pipe can't promise; use a file name")
        raise typer.BadParameter(words, param_hint="DEST")
    wanted = Wanted(session, _day(settings, since))
    try:
        with progress_bar(say("documents")) as progress:
            exported = anyio.run(
                partial(
                    write,
                    settings,
                    destination.expanduser().absolute(),
                    form,  # type: ignore[arg-type]  # one of the two, looked at above
                    wanted,
                    LocalFiles(),
                    SystemClock(),
                    force=force,
                    progress=progress,
                )
            )
    except KeyboardInterrupt:
        typer.echo(say("Interrupted. Nothing was written."), err=True)
        raise typer.Exit(INTERRUPTED) from None
    except DestinationError as error:
        typer.echo(str(error), err=True)
        raise typer.Exit(NOTHING) from error
    except OSError as error:
        typer.echo(say("{path} can't be written: {error}", path=destination, error=error), err=True)
        raise typer.Exit(TROUBLE) from error
    unreadable = exported.unreadable or {}
    if json:
        print_json(
            {
                "destination": str(exported.destination),
                "documents": exported.documents,
                "pieces": exported.pieces,
                "unreadable": dict(unreadable),
            }
        )
    else:
        _show_export(console(), exported)
    raise typer.Exit(NOTHING if unreadable else DONE)


def _day(settings: MemoryConfig, since: str | None) -> datetime | None:
    if since is None:
        return None
    try:
        time = datetime.fromisoformat(since)
    except ValueError as error:
        words = say("{since!r} is no day such as 2026-05-04", since=since)
        raise typer.BadParameter(words, param_hint="--since") from error
    return time if time.utcoffset() is not None else time.replace(tzinfo=settings.zone)


def _show_export(out: Console, exported: Exported) -> None:
    from rich.text import Text

    words = say("{count:,} documents, {pieces:,} pieces", count=exported.documents, pieces=exported.pieces)
    out.print(Text.assemble((say("Exported: "), "green"), (str(exported.destination), "bold"), f"  {words}"))
    for path, problem in sorted((exported.unreadable or {}).items()):
        out.print(Text.assemble((path, "bold red"), f"  {problem}"))
