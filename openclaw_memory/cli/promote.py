"""`openclaw-memory promote`."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Annotated, Any

import typer

from openclaw_memory.cli.asking import run
from openclaw_memory.cli.exits import DONE, NOTHING
from openclaw_memory.cli.options import Agent, Config, Json, Root, Workspace, configuration
from openclaw_memory.cli.output import console, print_json
from openclaw_memory.cli.words import say

if TYPE_CHECKING:
    from rich.console import Console

    from bus import EventBus
    from openclaw_memory.actor import Memory

Apply = Annotated[bool, typer.Option("--apply", help="Promote what is shown; without it nothing is changed.")]
Undo = Annotated[bool, typer.Option("--undo", help="Take the last promotion back.")]
Explain = Annotated[bool, typer.Option("--explain", help="Show every candidate, with what it has and what it needs.")]


def promote(
    apply: Apply = False,
    undo: Undo = False,
    explain: Explain = False,
    root: Root = None,
    config: Config = None,
    workspace: Workspace = None,
    agent: Agent = None,
    json: Json = False,
) -> None:
    """Show what of notes and talk would go into MEMORY.md, since it was recalled again and again.

    What a person wrote in MEMORY.md stays, and the text before is kept. Exit code 1: there is nothing to promote, or to
    take back.
    """
    if apply and undo:
        raise typer.BadParameter(say("give one of them, not both"), param_hint="--apply, --undo")
    settings = configuration(root, config, workspace, agent)
    action = "undo" if undo else "apply" if apply else "preview"
    told = run(partial(_promoted, action), settings)
    if json:
        print_json(told)
    elif undo:
        _show_undone(console(), told)
    else:
        _show(console(), told, explain=explain)
    promoted = [one for one in told.get("candidates", ()) if one["promoted"]]
    raise typer.Exit(DONE if told.get("undone") or promoted else NOTHING)


async def _promoted(action: str, memory: Memory, bus: EventBus) -> dict[str, Any]:
    return await memory.promote(action)


def _show(out: Console, told: dict[str, Any], *, explain: bool) -> None:
    from rich.text import Text

    chosen = [one for one in told["candidates"] if one["promoted"]]
    for one in told["candidates"] if explain else chosen:
        mark = ("+ ", "bold green") if one["promoted"] else ("  ", "")
        out.print(Text.assemble(mark, one["text"], (f"  {one['section']}", "cyan")))
        if not explain:
            continue
        out.print(Text(f"    {one['score']:.2f}  {one['from']}", "dim"))
        for gate in one["gates"]:
            passed = ("✓", "green") if gate["passed"] else ("✗", "red")
            out.print(Text.assemble("    ", passed, f" {gate['name']}: {gate['has']} ({gate['needs']})"))
        if not one["promoted"]:
            out.print(Text(f"    → {one['why']}", "yellow"))
    for text in told["retired"]:
        out.print(Text.assemble(("- ", "bold red"), text))
    if not chosen:
        out.print(say("Nothing was recalled often enough to be promoted."), markup=False)
    elif told["applied"]:
        out.print(say("{count} entries are in MEMORY.md now.", count=len(told["keys"])), markup=False)
    else:
        out.print(say("Nothing was changed; `--apply` promotes them."), markup=False)


def _show_undone(out: Console, told: dict[str, Any]) -> None:
    from rich.text import Text

    if not told["undone"]:
        out.print(say("There is no promotion to take back."), markup=False)
        return
    for mark, name in (("-", "taken_out"), ("+", "put_back")):
        for text in told[name]:
            out.print(Text(f"{mark} {text}"))
    out.print(say("The promotion of {at} is taken back.", at=told["at"]), markup=False)
