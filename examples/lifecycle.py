"""Show where a memory lies as days pass: one message and two tasks, among the talk of ten weeks of heartbeats.

`python -m examples.lifecycle --svg docs/images/lifecycle.svg` draws the picture of the documentation.
"""

from __future__ import annotations

import asyncio
import re
from collections.abc import Iterator
from dataclasses import astuple, dataclass
from datetime import date, datetime, timedelta
from pathlib import Path
from typing import Annotated
from zoneinfo import ZoneInfo

import typer
from rich.console import Console, RenderableType
from rich.table import Table
from rich.text import Text

from bus import EventBus, Gateway
from contracts import CuratedContent, HeartbeatTick, MemoryRead, MemoryWrite, TaskStateChange, UpdateFact
from examples.errors import ExampleError
from examples.folders import fresh_folder
from examples.pictures import WIDTH, save_picture
from openclaw_memory import Memory, MemoryConfig
from openclaw_memory.clock import ManualClock

ZONE = ZoneInfo("Asia/Shanghai")
BEGIN = datetime(2026, 5, 4, 14, 30, tzinfo=ZONE)
DAYS = 70
RETENTION_DAYS = 60
SAID = "我们决定迁移到 Zustand，编号 DEC-0054。"
TASKS = ("写迁移说明", "整理旧组件")
TALK = (
    "今天把第 {} 个组件换完了，测试全绿。",
    "The build of day {} took 41 seconds.",
    "第 {} 天的评审定在下午三点。",
)
VERSIONS = ("v22.11.0", "v22.12.0", "v24.0.1")
"""Of Node.js, each for three weeks."""
COUNTED_EVERY = 7
"""Days."""


@dataclass(frozen=True, slots=True)
class Step:
    """What became of something on a day: the file that has it now, and what stands there."""

    day: date
    path: str
    words: str


@dataclass(frozen=True, slots=True)
class Counts:
    """How much lies where at the end of a day, in the order in which the table shows it."""

    messages: int
    archived: int
    daily: int
    weekly: int
    monthly: int
    facts: int
    old_facts: int
    entries: int
    active: int
    completed: int
    archived_tasks: int


@dataclass(frozen=True, slots=True)
class Way:
    """Each change of place of the message and the tasks, in order; and how much lay where, by day."""

    steps: list[Step]
    counts: dict[date, Counts]


async def run(root: Path) -> Way:
    """Live through the days."""
    clock = ManualClock(BEGIN)
    config = MemoryConfig(root=root, timezone=str(ZONE), retention_days=RETENTION_DAYS, heartbeat={"enabled": False})
    memory = Memory(config, clock=clock)
    steps: list[Step] = []
    counts: dict[date, Counts] = {}
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
            today = clock.now().astimezone(ZONE).date()
            if number % COUNTED_EVERY == 0:
                counts[today] = _counted(config)
            for path, words in _found(config.memory_folder):
                if (path, words) not in seen:
                    seen.add((path, words))
                    steps.append(Step(today, path, words))
            clock.move_to((BEGIN + timedelta(days=number + 1)).replace(hour=0, minute=5))
            await bus.request(HeartbeatTick(now=clock.now()), timeout=None)
        read = MemoryRead(query="DEC-0054 是什么决定？", session_id="s2", max_tokens=500)
        found = (await bus.request(read)).citations[0]
        await memory.flush()
        today = clock.now().astimezone(ZONE).date()
        counts[today] = _counted(config)
        steps.append(Step(today, found.path, "← DEC-0054 是什么决定？"))
    return Way(steps, counts)


async def _act(bus: EventBus, number: int) -> None:
    """Talk; finish the first task the next day; a change of a state eight days later moves it on."""
    messages = [
        {"role": "assistant" if place else "user", "content": TALK[(number + place) % len(TALK)].format(number + 1)}
        for place in range(2)
    ]
    await bus.request(MemoryWrite(type="conversation", content={"messages": messages}, session_id="s1"))
    if number % 21 == 0:
        await bus.request(UpdateFact(section="技术栈", key="Node.js", value=VERSIONS[number // 21 % len(VERSIONS)]))
    if number % 14 == 7:
        entry = CuratedContent(text=f"第 {number // 7} 周起，周会改在周{'一二三四五'[number // 14 % 5]}")
        await bus.request(MemoryWrite(type="memory", content=entry, session_id="s1"))
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


def _counted(config: MemoryConfig) -> Counts:
    """Count what lies in the files of each layer, as `grep -c` would."""

    def lines(folder: Path, pattern: str, beginning: str) -> int:
        texts = (path.read_text(encoding="utf-8") for path in folder.glob(pattern))
        return sum(len(re.findall(f"^{beginning}", text, re.MULTILINE)) for text in texts)

    memory = config.memory_folder
    return Counts(
        messages=lines(memory, "conversations/*.md", r"### \d{4}-"),
        archived=lines(memory, "conversations/archive/*.md", r"### \d{4}-"),
        daily=len(list(memory.glob("summaries/daily/*.md"))),
        weekly=len(list(memory.glob("summaries/weekly/*.md"))),
        monthly=len(list(memory.glob("summaries/monthly/*.md"))),
        facts=lines(memory, "facts/*.md", "- "),
        old_facts=lines(memory, "facts/archive/*.md", "- "),
        entries=lines(config.workspace_folder, config.memory_file, "- "),
        active=lines(memory, "tasks/active.md", r"### \[OPEN-"),
        completed=lines(memory, "tasks/completed.md", r"### \[OPEN-"),
        archived_tasks=lines(memory, "tasks/archived/*.md", r"### \[OPEN-"),
    )


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


COUNTED = {
    "对话": ("消息", "归档"),
    "总结": ("日", "周", "月"),
    "事实": ("现值", "旧值"),
    "MEMORY.md": ("条目",),
    "任务": ("活跃", "完成", "归档"),
}
"""Layers, and what is counted of each."""
OF_LAYERS = ("cyan", "magenta", "green", "blue", "yellow")
BAR = 10
"""Columns of the longest bar."""


def counts_of(way: Way) -> RenderableType:
    """Draw how much lay where: a row a week, a column a place; the bars are the messages that are not archived."""
    table = Table(box=None, padding=(0, 2, 0, 0), header_style="bold")
    table.add_column("日期", no_wrap=True)
    for (layer, names), colour in zip(COUNTED.items(), OF_LAYERS, strict=True):
        for name in names:
            title = f"{layer}\n{name}" if name == names[0] else f"\n{name}"
            table.add_column(title, justify="right", style=colour, no_wrap=True)
    table.add_column("", no_wrap=True, style="cyan")
    most = max(counts.messages for counts in way.counts.values())
    for day, counts in way.counts.items():
        bar = "▇" * round(BAR * counts.messages / most)
        table.add_row(day.isoformat(), *(str(number or "·") for number in astuple(counts)), bar)
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
        way = asyncio.run(run(fresh_folder(root, "lifecycle")))
    except (ExampleError, OSError) as error:
        typer.echo(str(error), err=True)
        raise typer.Exit(1) from error
    screens = (table_of(way.steps), Text(), counts_of(way))
    console = Console(width=max(WIDTH, Console().width))
    for screen in screens:
        console.print(screen)
    if svg is not None:
        save_picture(svg, "python -m examples.lifecycle", *screens)


if __name__ == "__main__":
    app()
