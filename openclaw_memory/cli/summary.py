"""`openclaw-memory summary`."""

from __future__ import annotations

from datetime import date, datetime, timedelta
from functools import partial
from typing import TYPE_CHECKING, Annotated

import typer

from openclaw_memory.cli.asking import REPLY_SECONDS, run
from openclaw_memory.cli.exits import DONE, NOTHING, TROUBLE
from openclaw_memory.cli.options import Agent, Config, Json, Root, Workspace, configuration
from openclaw_memory.cli.output import console, print_json
from openclaw_memory.cli.paths import nearest
from openclaw_memory.cli.words import say

if TYPE_CHECKING:
    from bus import EventBus
    from contracts import MemoryDocument
    from openclaw_memory.actor import Memory
    from openclaw_memory.lifecycle.jobs import Outcome
    from openclaw_memory.markdown.summaries import Period

PERIODS = ("daily", "weekly", "monthly")

Length = Annotated[
    str, typer.Argument(metavar="[daily|weekly|monthly]", help="How long a time.", autocompletion=lambda: list(PERIODS))
]
When = Annotated[
    str | None,
    typer.Argument(metavar="DATE", help="2026-05-04, 2026-w18 or 2026-05. [default: the last that has ended]"),
]
Make = Annotated[bool, typer.Option("--make", help="Make it first, also anew; what a person wrote in it stays.")]


def summary(
    length: Length = "daily",
    when: When = None,
    make: Make = False,
    root: Root = None,
    config: Config = None,
    workspace: Workspace = None,
    agent: Agent = None,
    json: Json = False,
) -> None:
    """Show the summary of a day, a week or a month.

    `--make` needs the folder to itself: beside a running Gateway that one makes them. Exit code 1: there is none.
    """
    settings = configuration(root, config, workspace, agent)
    period = _period(length)
    today = datetime.now(settings.zone).date()
    day = _last_ended(period, today) if when is None else _day(period, when)
    made, document = run(partial(_shown, period, day, make), settings)
    if json:
        told = None if made is None else {"outcome": made.outcome, "keys": list(made.keys), "message": made.message}
        print_json({"path": document.path, "text": document.text, "notice": document.notice, "made": told})
    else:
        if made is not None and made.message:
            typer.echo(made.message, err=True)
        console().print(document.text or say("There is no summary {path}.", path=document.path), markup=False)
    if made is not None and made.outcome == "failed":
        raise typer.Exit(TROUBLE)
    raise typer.Exit(DONE if document.text else NOTHING)


async def _shown(
    period: Period, day: date, make: bool, memory: Memory, bus: EventBus
) -> tuple[Outcome | None, MemoryDocument]:
    from contracts import MemoryGet
    from openclaw_memory.layers.summaries import path_of
    from openclaw_memory.markdown.summary_items import without_sources

    made = await memory.make_summary(period, day) if make else None
    document = await bus.request(MemoryGet(path=path_of(period, day), session_kind="primary"), timeout=REPLY_SECONDS)
    return made, document.model_copy(update={"text": without_sources(document.text)})


def _period(given: str) -> Period:
    for period in PERIODS:
        if given == period:
            return period  # type: ignore[return-value]  # it is one of the words
    meant = nearest(given, PERIODS)
    hint = f"; {say('did you mean {meant!r}?', meant=meant)}" if meant else ""
    raise typer.BadParameter(f"{given!r}: {say('there are: {names}', names=', '.join(PERIODS))}{hint}")


def _last_ended(period: Period, today: date) -> date:
    if period == "daily":
        return today - timedelta(days=1)
    if period == "weekly":
        return today - timedelta(days=today.weekday() + 7)
    return today.replace(day=1) - timedelta(days=1)


def _day(period: Period, given: str) -> date:
    """Read a day, a week or a month as files are named by it."""
    from openclaw_memory.layers.summaries import period_of

    found = period_of(f"{given.lower()}.md")
    if found is None:
        raise typer.BadParameter(say("{given!r} is no date; give 2026-05-04, 2026-w18 or 2026-05", given=given))
    # The middle of a week is its Thursday, by whose month and year it goes.
    return found.first + timedelta(days=3) if period != "daily" and found.last != found.first else found.first
