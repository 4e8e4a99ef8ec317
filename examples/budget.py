"""Show how the budget of a context is spent after six days of dialogue, as `openclaw-memory context --budget` does.

`python -m examples.budget --svg docs/images/budget.svg` draws the picture of the documentation.
"""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console

from bus import Gateway
from contracts import MemoryContext, MemoryRead
from examples.dialogue import read_dialogue
from examples.errors import ExampleError
from examples.folders import fresh_folder
from examples.pictures import save_picture
from examples.replay import replay
from examples.sample import SAMPLE
from openclaw_memory import Memory, MemoryConfig
from openclaw_memory.cli.budget import budget_lines
from openclaw_memory.clock import ManualClock

QUESTION = "离线缓存的数据怎么淘汰？"
MAX_TOKENS = 2_000
ZONE = "Asia/Shanghai"


async def run(root: Path, question: str, max_tokens: int) -> MemoryContext:
    """Play the bundled dialogue into a memory under `root`, then ask it, within `max_tokens`."""
    dialogue = read_dialogue(SAMPLE, ZONE)
    clock = ManualClock(dialogue.turns[0].time)
    async with Gateway() as gateway:
        await gateway.register(Memory(MemoryConfig(root=root, timezone=ZONE), clock=clock))
        await replay(gateway, dialogue, clock=clock)
        last = dialogue.turns[-1].session
        return await gateway.bus.request(MemoryRead(query=question, session_id=last, max_tokens=max_tokens))


app = typer.Typer(add_completion=False)


@app.command()
def main(
    root: Annotated[
        Path | None, typer.Option(help="Empty folder to remember in. Default: a new temporary one.")
    ] = None,
    question: Annotated[str, typer.Option(help="What the user says.")] = QUESTION,
    max_tokens: Annotated[int, typer.Option(min=1, help="Budget of the context, in tokens.")] = MAX_TOKENS,
    svg: Annotated[Path | None, typer.Option(help="Also save the picture as this file.")] = None,
) -> None:
    """Show how the budget of a context is divided and spent."""
    try:
        context = asyncio.run(run(fresh_folder(root, "budget"), question, max_tokens))
    except (ExampleError, OSError) as error:
        typer.echo(str(error), err=True)
        raise typer.Exit(1) from error
    assert context.tokens is not None, "memory counts what it gives"
    lines = budget_lines(context.tokens)
    Console().print(*lines, sep="\n")
    if svg is not None:
        save_picture(svg, f'openclaw-memory context "{question}" --max-tokens {max_tokens} --budget', *lines)


if __name__ == "__main__":
    app()
