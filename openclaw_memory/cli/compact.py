"""`openclaw-memory compact`."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Annotated

import typer

from openclaw_memory.cli.asking import REPLY_SECONDS, run
from openclaw_memory.cli.exits import DONE, NOTHING
from openclaw_memory.cli.options import Agent, Config, Json, Root, Workspace, configuration
from openclaw_memory.cli.output import console, print_json
from openclaw_memory.cli.payloads import built
from openclaw_memory.cli.refusals import refusal
from openclaw_memory.cli.words import say

if TYPE_CHECKING:
    from bus import EventBus
    from contracts import MemoryCompacted
    from openclaw_memory.actor import Memory

Session = Annotated[str, typer.Argument(metavar="SESSION", help="Session whose history is made shorter.")]
Window = Annotated[
    int | None,
    typer.Option(
        "--window", metavar="N", help="Window of the model, in tokens; compacted only when it is nearly full."
    ),
]
Used = Annotated[int | None, typer.Option("--used", metavar="N", help="Tokens of it in use. [default: counted]")]


def compact(
    session: Session,
    window: Window = None,
    used: Used = None,
    root: Root = None,
    config: Config = None,
    workspace: Workspace = None,
    agent: Agent = None,
    json: Json = False,
) -> None:
    """Have a session go on behind a summary of its beginning.

    A fifth of its messages, at least four, stay as they are. Nothing leaves the files: what was said is found as
    before. Exit code 1: nothing was changed, and why.
    """
    settings = configuration(root, config, workspace, agent)
    done = run(partial(_compacted, session, window, used), settings)
    if json:
        print_json(done.model_dump(mode="json", by_alias=True))
    elif done.dropped:
        told = say("{dropped} messages are summed up, {kept} stay.", dropped=done.dropped, kept=done.kept)
        console().print(told, markup=False)
        for key in [key for key in (done.summary_key, *done.flushed_keys) if key]:
            console().print(f"  {key}", markup=False)
    else:
        console().print(refusal(done.notice) if done.notice else say("Nothing was changed."), markup=False)
    raise typer.Exit(DONE if done.dropped else NOTHING)


async def _compacted(
    session: str, window: int | None, used: int | None, memory: Memory, bus: EventBus
) -> MemoryCompacted:
    from contracts import MemoryCompact

    asked = built(MemoryCompact, session_id=session, context_window=window, used_tokens=used)
    return await bus.request(asked, timeout=REPLY_SECONDS)
