"""`openclaw-memory context`."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Annotated

import typer

from openclaw_memory.cli.asking import REPLY_SECONDS, SESSION, run
from openclaw_memory.cli.exits import DONE, NOTHING
from openclaw_memory.cli.options import Agent, Config, Json, Root, Workspace, configuration
from openclaw_memory.cli.output import console, print_json
from openclaw_memory.cli.payloads import built
from openclaw_memory.cli.words import say

if TYPE_CHECKING:
    from bus import EventBus
    from contracts import MemoryContext, MemoryRead
    from openclaw_memory.actor import Memory
    from openclaw_memory.config import MemoryConfig

Query = Annotated[str, typer.Argument(metavar="QUERY", help="What the user says; empty: what comes in any case.")]
MaxTokens = Annotated[
    int | None,
    typer.Option(
        "--max-tokens",
        metavar="N",
        min=1,
        help="Budget of the context, in tokens. [default: session_start_tokens of the configuration]",
    ),
]
Session = Annotated[
    str, typer.Option("--session", metavar="ID", help="Session that asks: a group's gets what a group may see.")
]
Budget = Annotated[
    bool, typer.Option("--budget", help="Show how the budget is divided and spent, instead of the text.")
]


def context(
    query: Query,
    root: Root = None,
    config: Config = None,
    workspace: Workspace = None,
    agent: Agent = None,
    max_tokens: MaxTokens = None,
    session: Session = SESSION,
    budget: Budget = False,
    json: Json = False,
) -> None:
    """Show the context that memory gives for what a user says, as it goes into the prompt.

    It may run beside a Gateway. Exit code 0: there is a context, 1: memory has nothing for this session.
    """
    from contracts import MemoryRead

    settings = configuration(root, config, workspace, agent)
    asked = built(MemoryRead, query=query, session_id=session, max_tokens=max_tokens or settings.session_start_tokens)
    found = run(partial(_ask, asked), settings)
    if json:
        print_json(found.model_dump(mode="json", by_alias=True))
    elif budget:
        show_budget(found)
    else:
        show_context(found, settings)
    raise typer.Exit(DONE if found.tokens is not None and found.tokens.used else NOTHING)


def show_context(found: MemoryContext, settings: MemoryConfig) -> None:
    """Print the sections of a prompt that memory fills, then what was left out."""
    from openclaw_memory.context import as_text, assemble_prompt

    text = as_text(assemble_prompt(found, None, language=settings.language, tz=settings.zone))
    typer.echo(text or say("Memory has nothing for this session."))
    _show_notice(found)


def show_budget(found: MemoryContext) -> None:
    """Draw how the budget is divided and spent."""
    from openclaw_memory.cli.budget import budget_lines

    if found.tokens is None:
        typer.echo(say("Memory did not say how many tokens its answer has."))
    else:
        out = console()
        for line in budget_lines(found.tokens):
            out.print(line)
    _show_notice(found)


def _show_notice(found: MemoryContext) -> None:
    from rich.text import Text

    if found.notice:
        console().print(Text(f"\n{found.notice}", "yellow"))


async def _ask(asked: MemoryRead, memory: Memory, bus: EventBus) -> MemoryContext:
    return await bus.request(asked, timeout=REPLY_SECONDS)
