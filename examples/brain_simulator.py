"""Play a Brain against real dialogue: `python -m examples.brain_simulator --dataset FILE`."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Annotated
from zoneinfo import available_timezones

import typer

from bus import Gateway
from examples.dialogue import Dialogue, first_turns, read_dialogue
from examples.errors import ExampleError
from examples.folders import fresh_folder
from examples.replay import DEFAULT_MAX_TOKENS, ReplayedExchange, ReplayReport, replay
from examples.sample import SAMPLE
from examples.views import one_line
from openclaw_memory import Memory, MemoryConfig
from openclaw_memory.clock import ManualClock

LINE_CHARS = 100
"""Characters of a message that are printed."""


def exchange_lines(replayed: ReplayedExchange) -> list[str]:
    """Write an exchange: what was said, what memory gave for it, what was written."""
    reply = replayed.reply
    lines = [
        f"{turn.time:%Y-%m-%d %H:%M} {turn.role:9} {one_line(turn.content)[:LINE_CHARS]}"
        for turn in replayed.exchange.turns
    ]
    context = reply.context
    if context is not None:
        lines.append(
            f"  context {replayed.tokens} tokens: {len(context.facts)} facts, {len(context.tasks)} tasks, "
            f"{len(context.recalled)} recalled, {len(context.history)} of history; {reply.recall_seconds * 1e3:.1f} ms"
        )
    lines.append(f"  written {', '.join(key for written in reply.written for key in written.keys or (written.key,))}")
    return lines + [f"  trouble: {trouble}" for trouble in reply.trouble]


def report_lines(report: ReplayReport, root: Path) -> list[str]:
    """Write what became of the dialogue."""
    stated = sum(len(turn.notes) for replayed in report.exchanges for turn in replayed.exchange.turns)
    return [
        f"{report.turns} turns in {len(report.exchanges)} exchanges; something was recalled for {report.recalled}",
        f"largest context {report.most_tokens} tokens; a context took {report.recall_milliseconds:.1f} ms (median)",
        f"{stated} facts and task changes were stated"
        if stated
        else "the dialogue marks no facts or tasks; none written",
        *(f"trouble: {trouble}" for trouble in report.trouble),
        f"the files: {root}",
    ]


async def run(dialogue: Dialogue, root: Path, *, max_tokens: int, quiet: bool) -> ReplayReport:
    """Replay a dialogue with its memory under `root`, each context within `max_tokens`."""
    clock = ManualClock(dialogue.turns[0].time)

    async def tell(replayed: ReplayedExchange) -> None:
        for line in exchange_lines(replayed):
            typer.echo(line)

    async with Gateway() as gateway:
        await gateway.register(Memory(MemoryConfig(root=root, timezone=dialogue.timezone), clock=clock))
        return await replay(gateway, dialogue, clock=clock, max_tokens=max_tokens, watch=None if quiet else tell)


def known_zone(name: str) -> str:
    """Refuse what is no IANA name."""
    if name not in available_timezones():
        raise typer.BadParameter(f"{name!r} is no IANA time zone; give one such as Asia/Shanghai or UTC")
    return name


app = typer.Typer(add_completion=False)


@app.command()
def main(
    dataset: Annotated[Path, typer.Option(help="A .jsonl like the sample, or a LoCoMo .json.")] = SAMPLE,
    root: Annotated[Path | None, typer.Option(help="Folder to remember in. Default: a new temporary one.")] = None,
    max_tokens: Annotated[int, typer.Option(min=1, help="Budget of each context, in tokens.")] = DEFAULT_MAX_TOKENS,
    turns: Annotated[int | None, typer.Option(min=1, help="Stop after so many turns.")] = None,
    timezone: Annotated[
        str, typer.Option(help="The user's time zone, an IANA name.", callback=known_zone)
    ] = "Asia/Shanghai",
    quiet: Annotated[bool, typer.Option(help="Print the report only.")] = False,
) -> None:
    """Replay a dialogue through a Gateway with Memory, and tell what was recalled and written."""
    folder: Path | None = None
    try:
        dialogue = first_turns(read_dialogue(dataset, timezone), turns)
        folder = fresh_folder(root, "brain")
        report = asyncio.run(run(dialogue, folder, max_tokens=max_tokens, quiet=quiet))
    except (ExampleError, OSError) as error:
        typer.echo(str(error), err=True)
        raise typer.Exit(1) from error
    except KeyboardInterrupt:
        typer.echo(f"\nstopped; what was remembered so far lies in {folder}" if folder else "\nstopped", err=True)
        raise typer.Exit(130) from None
    for line in report_lines(report, folder):
        typer.echo(line)
    if report.trouble:
        raise typer.Exit(1)


if __name__ == "__main__":
    app()
