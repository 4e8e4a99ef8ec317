"""`openclaw-memory forget`."""

from __future__ import annotations

from datetime import datetime
from functools import partial
from typing import TYPE_CHECKING, Annotated, Any

import typer

from openclaw_memory.cli.asking import run
from openclaw_memory.cli.exits import DONE, NOTHING
from openclaw_memory.cli.options import Agent, Config, Json, Root, Workspace, configuration
from openclaw_memory.cli.output import console, print_json
from openclaw_memory.cli.payloads import built
from openclaw_memory.cli.refusals import refusal
from openclaw_memory.cli.words import say

if TYPE_CHECKING:
    from bus import EventBus
    from contracts import Forget, Forgotten
    from openclaw_memory.actor import Memory
    from openclaw_memory.config import MemoryConfig

FORGET_SECONDS = 600.0
"""Longest wait for an answer: everything that is kept is looked through, and the index made anew."""

Text = Annotated[str | None, typer.Argument(metavar="TEXT", help="What is to be forgotten wherever it stands.")]
Topic = Annotated[str | None, typer.Option("--topic", metavar="TOPIC", help="A fact file, without `.md`.")]
Section = Annotated[str | None, typer.Option("--section", metavar="S", help="Section of a fact; goes with --key.")]
Key = Annotated[str | None, typer.Option("--key", metavar="K", help="Key of a fact; goes with --section.")]
TaskId = Annotated[str | None, typer.Option("--task", metavar="ID", help="A task, such as OPEN-003.")]
Session = Annotated[str | None, typer.Option("--session", metavar="ID", help="All that was said in a session.")]
Before = Annotated[
    str | None, typer.Option("--before", metavar="TIME", help="Everything before a day or time (ISO 8601).")
]
After = Annotated[
    str | None, typer.Option("--after", metavar="TIME", help="Everything after it; may go with --before.")
]
Path = Annotated[
    str | None,
    typer.Option("--path", metavar="FILE", help="A document, as `search` names it, with its messages' copies."),
]
DryRun = Annotated[bool, typer.Option("--dry-run", help="Only show what would go.")]
Yes = Annotated[bool, typer.Option("--yes", "-y", help="Do not ask.")]


def forget(
    text: Text = None,
    topic: Topic = None,
    section: Section = None,
    key: Key = None,
    task: TaskId = None,
    session: Session = None,
    before: Before = None,
    after: After = None,
    path: Path = None,
    dry_run: DryRun = False,
    yes: Yes = False,
    root: Root = None,
    config: Config = None,
    workspace: Workspace = None,
    agent: Agent = None,
    json: Json = False,
) -> None:
    """Remove something from memory for good: documents, archives, backups, journal, index.

    Shows what would go, and asks. It can't be undone. It may run beside a Gateway, which then does it. Exit code 0: it
    is gone, and every byte was looked through; 1: nothing was found, it was refused or not confirmed, or it still
    stands somewhere, which is told.
    """
    settings = configuration(root, config, workspace, agent)
    asked = {
        "text": text,
        "topic": topic,
        "section": section,
        "key": key,
        "task_id": task,
        "session_id": session,
        "before": _time(before, "--before", settings),
        "after": _time(after, "--after", settings),
        "path": path,
    }
    if dry_run or not yes:
        told = _asked(settings, asked, dry_run=True)
        if dry_run or json or not told.total:
            _end(told, json)
        _show(told)
        if not typer.confirm(say("Forget this for good?"), default=False):
            typer.echo(say("Nothing was changed."), err=True)
            raise typer.Exit(NOTHING)
    _end(_asked(settings, asked, dry_run=False), json)


def _asked(settings: MemoryConfig, selector: dict[str, Any], *, dry_run: bool) -> Forgotten:
    from contracts import Forget, Selector

    given = {name: value for name, value in selector.items() if value is not None}
    event = built(Forget, selector=built(Selector, **given), dry_run=dry_run)
    return run(partial(_ask, event), settings, counts=False)


async def _ask(event: Forget, memory: Memory, bus: EventBus) -> Forgotten:
    return await bus.request(event, timeout=FORGET_SECONDS)


def _end(told: Forgotten, json: bool) -> None:
    """Show a reply, and end with its exit code."""
    if json:
        print_json(told.model_dump(mode="json", by_alias=True))
    else:
        _show(told)
    raise typer.Exit(DONE if told.total and (told.dry_run or told.verified) else NOTHING)


def _show(told: Forgotten) -> None:
    from rich.text import Text as Shown

    out = console()
    width = max((len(str(place.count)) for place in told.places), default=0)
    for place in told.places:
        out.print(Shown.assemble((f"{place.count:>{width}}  ", "cyan"), (place.path, "bold")))
    if not told.total:
        out.print(say("Nothing was found."))
    elif told.dry_run:
        out.print(Shown(say("{total} in all would go.", total=told.total)))
    elif told.verified:
        words = say("{total} in all are gone; every byte was looked through, and nothing is left.", total=told.total)
        out.print(Shown(words, "green"))
    else:
        out.print(Shown(say("{total} in all are gone, but something is left:", total=told.total), "bold red"))
    if told.notice:
        out.print(Shown(refusal(told.notice), "yellow"))


def _time(given: str | None, option: str, settings: MemoryConfig) -> datetime | None:
    """Read a day or time; without an offset it is the user's."""
    if given is None:
        return None
    try:
        read = datetime.fromisoformat(given)
    except ValueError:
        words = say("{given!r} is no time; write 2026-05-04 or 2026-05-04T14:30", given=given)
        raise typer.BadParameter(words, param_hint=option) from None
    return read if read.utcoffset() is not None else read.replace(tzinfo=settings.zone)
