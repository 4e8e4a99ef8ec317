"""Watch a memory at work: `python -m examples.demo`. Ends by itself and leaves its files for you to look at."""

from __future__ import annotations

import asyncio
from datetime import timedelta
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console, RenderableType
from rich.rule import Rule

from bus import Gateway
from examples.answers import Answered, ask
from examples.closing import answer_panel, commands, file_head, file_tree
from examples.dialogue import Dialogue, first_turns, read_dialogue
from examples.errors import ExampleError
from examples.folders import fresh_folder
from examples.pictures import WIDTH, save_picture
from examples.replay import ReplayReport, replay
from examples.sample import SAMPLE, Question, read_questions
from examples.stage import LARGEST_HEIGHT, Stage
from examples.views import turn_screen
from openclaw_memory import Memory, MemoryConfig
from openclaw_memory.clock import ManualClock

MAX_TOKENS = 1_200
"""Budget of each context in tokens: small, so that one sees what is chosen when not everything fits."""
SHOWN_QUESTIONS = 4
QUESTION_SECONDS = 1.2
HEAD_LINES = 27


async def play(root: Path, dialogue: Dialogue, stage: Stage) -> ReplayReport:
    """Let the agent live through the dialogue with its memory under `root`."""
    clock = ManualClock(dialogue.turns[0].time)
    async with Gateway() as gateway:
        await gateway.register(Memory(MemoryConfig(root=root, timezone=dialogue.timezone), clock=clock))
        return await replay(gateway, dialogue, clock=clock, max_tokens=MAX_TOKENS, watch=stage.show)


async def ask_again(root: Path, dialogue: Dialogue, questions: tuple[Question, ...]) -> list[Answered]:
    """Open the memory under `root` anew, the day after the dialogue, and ask."""
    clock = ManualClock(dialogue.turns[-1].time + timedelta(days=1))
    async with Gateway() as gateway:
        await gateway.register(Memory(MemoryConfig(root=root, timezone=dialogue.timezone), clock=clock))
        return [
            await ask(gateway.bus, question, session_id="after-the-restart", max_tokens=MAX_TOKENS)
            for question in questions
        ]


async def run(console: Console, root: Path, *, live: bool, speed: float, turns: int | None, svg: Path | None) -> None:
    """Play, show the files, restart, ask; with `svg`, leave pictures too."""
    dialogue = first_turns(read_dialogue(SAMPLE), turns)
    with Stage(console, dialogue, live=live, speed=speed) as stage:
        report = await play(root, dialogue, stage)
    for trouble in report.trouble:
        console.print(f"trouble: {trouble}", style="red", markup=False)
    screens = list(file_screens(root))
    for screen in screens:
        console.print(screen)
    told = dialogue.turns[-1].time
    questions = tuple(question for question in read_questions() if question.evidence <= told)
    answers = await ask_again(root, dialogue, questions[:SHOWN_QUESTIONS])
    console.print(Rule("closed, and opened again from the files: what does it still know?", style="yellow"))
    console.print("No language model runs here: below each question stands the piece that memory would give to one.")
    for answered in answers:
        if live:
            await asyncio.sleep(QUESTION_SECONDS / speed)
        screens.append(answer_panel(answered))
        console.print(screens[-1])
    console.print("\nYours to look at:", style="bold")
    console.print(commands(root), markup=False, highlight=False, soft_wrap=True)
    if svg is not None:
        draw_pictures(svg, stage, screens)


def file_screens(root: Path) -> tuple[RenderableType, ...]:
    """Give the tree of files and the head of the facts."""
    profile = root / "memory" / "facts" / "user-profile.md"
    heads = (file_head(profile, root, HEAD_LINES),) if profile.exists() else ()
    return (Rule("what is on the disk now", style="yellow"), file_tree(root), *heads)


def can_draw(console: Console) -> bool:
    """Tell whether there is a screen to draw on, and room enough."""
    return console.is_terminal and not console.is_dumb_terminal and console.width >= 70 and console.height >= 22


def draw_pictures(svg: Path, stage: Stage, screens: list[RenderableType]) -> None:
    """Save the fullest moment as `svg`, and what comes after it as `<name>-files.svg`."""
    save_picture(svg, "make demo", turn_screen(stage.richest, WIDTH, LARGEST_HEIGHT))
    save_picture(svg.with_name(f"{svg.stem}-files.svg"), "after a restart", *screens)


app = typer.Typer(add_completion=False)


@app.command()
def main(
    root: Annotated[
        Path | None, typer.Option(help="Empty folder to remember in. Default: a new temporary one.")
    ] = None,
    speed: Annotated[float, typer.Option(min=0.1, help="How fast: 2 is twice as fast.")] = 1.0,
    live: Annotated[bool | None, typer.Option(help="Draw in place. Default: when this is a terminal.")] = None,
    turns: Annotated[int | None, typer.Option(min=1, help="Stop after so many turns.")] = None,
    svg: Annotated[Path | None, typer.Option(help="Also save pictures: this file, and <name>-files.svg.")] = None,
) -> None:
    """Play six days of a developer and their agent, then restart and ask what it remembers."""
    console = Console()
    try:
        folder = fresh_folder(root, "demo")
    except (ExampleError, OSError) as error:
        console.print(str(error), style="red", soft_wrap=True)
        raise typer.Exit(1) from error
    try:
        in_place = can_draw(console) if live is None else live
        asyncio.run(run(console, folder, live=in_place, speed=speed, turns=turns, svg=svg))
    except KeyboardInterrupt:
        console.print(f"\nStopped. What was remembered so far lies in {folder}", soft_wrap=True)
        raise typer.Exit(130) from None


if __name__ == "__main__":
    app()
