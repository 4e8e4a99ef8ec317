"""`openclaw-memory heartbeat`."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Annotated

import typer

from openclaw_memory.cli.asking import run
from openclaw_memory.cli.exits import DONE, NOTHING, TROUBLE
from openclaw_memory.cli.options import Agent, Config, Json, Root, Workspace, configuration
from openclaw_memory.cli.output import console, print_json
from openclaw_memory.cli.payloads import built
from openclaw_memory.cli.words import say

if TYPE_CHECKING:
    from bus import EventBus
    from contracts import HeartbeatDone
    from openclaw_memory.actor import Memory

Now = Annotated[
    str | None,
    typer.Option("--now", metavar="TIME", help="Time that the jobs take it to be, ISO 8601. [default: now]"),
]


def heartbeat(
    now: Now = None,
    root: Root = None,
    config: Config = None,
    workspace: Workspace = None,
    agent: Agent = None,
    json: Json = False,
) -> None:
    """Do what is due: summaries, clean-up of tasks, what the configuration asks for.

    For programs that send no heartbeat of their own, such as cron. Beside a running Gateway the jobs are left to that
    one. Exit code 1: they were left to it, 3: a job failed.
    """
    settings = configuration(root, config, workspace, agent)
    done = run(partial(_tick, now), settings)
    if json:
        print_json(done.model_dump(mode="json", by_alias=True))
    else:
        out = console()
        for job in done.jobs:
            out.print(f"{job.name}: {_ending(job.outcome)}", markup=False)
            for line in [*job.keys, *([job.message] if job.message else [])]:
                out.print(f"  {line}", markup=False)
        if not done.jobs:
            out.print(say("Nothing is due."), markup=False)
    outcomes = {job.outcome for job in done.jobs}
    raise typer.Exit(TROUBLE if "failed" in outcomes else NOTHING if "skipped" in outcomes else DONE)


def _ending(outcome: str) -> str:
    words = {"done": say("done"), "nothing": say("nothing to do"), "skipped": say("skipped"), "failed": say("failed")}
    return words[outcome]


async def _tick(now: str | None, memory: Memory, bus: EventBus) -> HeartbeatDone:
    from contracts import HeartbeatTick
    from openclaw_memory.clock import SystemClock

    tick = built(HeartbeatTick, now=now if now is not None else SystemClock().now())
    # Jobs may ask a model, and there may be years to catch up with.
    return await bus.request(tick, timeout=None)
