"""Show where a memory lies as days pass: one message and two tasks, through eight months of heartbeats.

`python -m examples.lifecycle --svg docs/images/lifecycle.svg` draws the picture of the documentation.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from pathlib import Path
from typing import Annotated
from zoneinfo import ZoneInfo

import typer
from rich.console import Console, RenderableType
from rich.table import Table
from rich.text import Text

from bus import EventBus, Gateway
from contracts import HeartbeatTick, MemoryRead, MemoryWrite, TaskStateChange
from examples.errors import ExampleError
from examples.folders import fresh_folder
from examples.pictures import WIDTH, save_picture
from openclaw_memory import Memory, MemoryConfig
from openclaw_memory.clock import ManualClock

ZONE = ZoneInfo("Asia/Shanghai")
BEGIN = datetime(2026, 5, 4, 14, 30, tzinfo=ZONE)
DAYS = 240
RETENTION_DAYS = 180
SAID = "我们决定迁移到 Zustand，编号 DEC-0054。"
TASKS = ("写迁移说明", "整理旧组件")


@dataclass(frozen=True, slots=True)
class Step:
    """What became of something on a day: the file that has it now, and what stands there."""

    day: date
    path: str
    words: str


async def run(root: Path) -> list[Step]:
    """Live through the days; gives each change of place of the message and the tasks, in order."""
    clock = ManualClock(BEGIN)
    config = MemoryConfig(root=root, timezone=str(ZONE), retention_days=RETENTION_DAYS, heartbeat={"enabled": False})
    memory = Memory(config, clock=clock)
    steps: list[Step] = []
    async with Gateway() as gateway:
        await gateway.register(memory)
        bus = gateway.bus
        content = {"role": "user", "content": SAID}
        await bus.request(MemoryWrite(type="conversation", content=content, session_id="s1"))
        for title in TASKS:
            await bus.request(MemoryWrite(type="task", content={"title": title}, session_id="s1"))
        seen: set[tuple[str, str]] = set()
        for number in range(DAYS):
            await _act(bus, number)
            await memory.flush()
            for path, words in _found(config.memory_folder):
                if (path, words) not in seen:
                    seen.add((path, words))
                    steps.append(Step(clock.now().astimezone(ZONE).date(), path, words))
            clock.move_to((BEGIN + timedelta(days=number + 1)).replace(hour=0, minute=5))
            await bus.request(HeartbeatTick(now=clock.now()), timeout=None)
        read = MemoryRead(query="DEC-0054 是什么决定？", session_id="s2", max_tokens=500)
        found = (await bus.request(read)).citations[0]
        steps.append(Step(clock.now().astimezone(ZONE).date(), found.path, "← DEC-0054 是什么决定？"))
    return steps


async def _act(bus: EventBus, number: int) -> None:
    """Finish the first task the next day; a change of a state eight days later moves it on."""
    if number == 1:
        await bus.request(TaskStateChange(task_id="OPEN-001", new_state="completed"))
    if number == 9:
        await bus.request(TaskStateChange(task_id="OPEN-002", new_state="pending", reason="等评审"))


def _found(folder: Path) -> Iterator[tuple[str, str]]:
    """Yield the lines of the files that speak of the message or a task, without what says when and from what."""
    for path in sorted(folder.rglob("*.md")):
        state = ""
        for line in path.read_text(encoding="utf-8").splitlines():
            words = line.partition(" <!--")[0].strip()
            if "[OPEN-" in words or "DEC-0054" in words:
                state = words
                if not words.startswith("###"):
                    yield str(path.relative_to(folder)), words
            elif words.startswith(("- 状态:", "- State:")) and state:
                yield str(path.relative_to(folder)), f"{state.removeprefix('### ')} · {words.partition(':')[2].strip()}"


COLOURS = {"conversations": "cyan", "summaries": "magenta", "tasks": "yellow"}


def table_of(steps: list[Step]) -> RenderableType:
    """Draw the steps: day, file, words."""
    table = Table(box=None, padding=(0, 2, 0, 0), header_style="bold")
    for name in ("日期", "第几天", "文件", "内容"):
        table.add_column(name, no_wrap=True, justify="right" if name == "第几天" else "left")
    for step in steps:
        days = (step.day - BEGIN.date()).days
        colour = COLOURS.get(step.path.partition("/")[0], "white")
        table.add_row(step.day.isoformat(), str(days), Text(step.path, colour), Text(step.words))
    return table


app = typer.Typer(add_completion=False)


@app.command()
def main(
    root: Annotated[
        Path | None, typer.Option(help="Empty folder to remember in. Default: a new temporary one.")
    ] = None,
    svg: Annotated[Path | None, typer.Option(help="Also save the picture as this file.")] = None,
) -> None:
    """Show the way of a memory through the layers."""
    try:
        steps = asyncio.run(run(fresh_folder(root, "lifecycle")))
    except (ExampleError, OSError) as error:
        typer.echo(str(error), err=True)
        raise typer.Exit(1) from error
    table = table_of(steps)
    Console(width=max(WIDTH, Console().width)).print(table)
    if svg is not None:
        save_picture(svg, "python -m examples.lifecycle", table)


if __name__ == "__main__":
    app()
