"""Draw the demo's moments with rich: fixed heights, 80 columns or more, with or without colour."""

from __future__ import annotations

from collections.abc import Iterable

from rich.console import Group, RenderableType
from rich.panel import Panel
from rich.progress_bar import ProgressBar
from rich.table import Table
from rich.text import Text

from examples.notes import KnownTask
from examples.scene import FactNow, Found, Scene
from examples.transcript import MORE, Transcript
from openclaw_memory.cli.budget import BudgetBar

WIDE = 100
"""Columns from which the screen has two columns."""
BUDGET_HEIGHT = 4
LINE_CHARS = 160
"""Characters of a message on a plain line."""
STATES = {"pending": "pending", "in_progress": "in progress", "completed": "done", "expired": "expired"}


def turn_screen(scene: Scene, width: int, height: int) -> RenderableType:
    """Draw a moment, `width` columns by `height` lines."""
    rest = height - 1 - BUDGET_HEIGHT
    budget = Panel(
        BudgetBar(scene.tokens),
        title=_budget_title(scene),
        title_align="left",
        border_style="dim",
        height=BUDGET_HEIGHT,
    )
    if width >= WIDE:
        upper = rest // 2
        middle = (rest - upper) // 2
        right = Group(_recalled(scene, upper), _facts(scene.facts, middle), _tasks(scene.tasks, rest - upper - middle))
        body = _columns((_talk(scene, rest), 1), (right, 1))
        return Group(_header(scene, width), body, budget)
    talk = max(5, rest * 4 // 10)
    lower = max(4, rest * 3 // 10)
    notes = _columns((_facts(scene.facts, lower), 1), (_tasks(scene.tasks, lower), 1))
    return Group(_header(scene, width), _talk(scene, talk), _recalled(scene, rest - talk - lower), notes, budget)


def turn_lines(scene: Scene) -> list[str]:
    """Write the newest turn of a moment as plain lines, for pipes and logs."""
    if not scene.said or scene.now is None:
        return []
    turn = scene.said[-1]
    said = one_line(turn.content)
    said = said if len(said) <= LINE_CHARS else said[:LINE_CHARS] + MORE
    lines = [f"{turn.time:%m-%d %H:%M} {'user ' if turn.role == 'user' else 'agent'} {said}"]
    if turn.role == "user":
        used = f"{scene.tokens.used}/{scene.tokens.max} tokens" if scene.tokens else "no context"
        lines.append(f"            context {used}, {len(scene.found)} recalled")
        lines += [f"            {item.score:.2f} {item.where} [{' '.join(item.words)}]" for item in scene.found[:2]]
    for fact in scene.facts:
        if fact.fresh:
            change = f"{fact.before} -> {fact.value}" if fact.before else fact.value
            lines.append(f"            fact {fact.section}/{fact.key}: {one_line(change)}")
    return lines + [f"            trouble: {notice}" for notice in scene.notices]


def one_line(text: str) -> str:
    """Put a text on one line: runs of white space become one space."""
    return " ".join(text.split())


def steps_bar(task: KnownTask) -> str:
    """Draw the steps of a task: filled where done."""
    return "".join("■" if step.done else "□" for step in task.steps)


def _header(scene: Scene, width: int) -> RenderableType:
    when = f"{scene.now:%a %Y-%m-%d %H:%M}" if scene.now else ""
    left = Text.assemble(("openclaw_memory", "bold"), "  ", (when, "yellow"), "  ", (scene.session, "dim"))
    left.no_wrap, left.overflow = True, "ellipsis"
    right = Text(f"turn {scene.played}/{scene.turns}", no_wrap=True)
    bar = ProgressBar(total=max(1, scene.turns), completed=scene.played, width=max(8, width // 8))
    row = Table.grid(expand=True, padding=(0, 1))
    row.add_column(ratio=1)
    row.add_column(justify="right")
    row.add_column(width=max(8, width // 8))
    row.add_row(left, right, bar)
    return row


def _talk(scene: Scene, height: int) -> Panel:
    return Panel(
        Transcript(scene.said, height - 2), title="talk", title_align="left", height=height, border_style="blue"
    )


def _recalled(scene: Scene, height: int) -> Panel:
    rows = Table.grid(padding=(0, 1), expand=True)
    rows.add_column(width=4, style="bold cyan")
    rows.add_column(width=5, style="dim")
    rows.add_column(ratio=3, no_wrap=True, overflow="ellipsis")
    rows.add_column(ratio=1, no_wrap=True, overflow="ellipsis", style="yellow")
    for item in scene.found[: height - 2]:
        rows.add_row(f"{item.score:.2f}", item.day[5:], highlighted(item), " ".join(item.words))
    shown = rows if scene.found else Text("nothing in memory answers this", style="dim")
    title = f"recalled · {len(scene.found)} pieces, and the words in common"
    return Panel(shown, title=title, title_align="left", height=height, border_style="cyan")


def highlighted(item: Found) -> Text:
    """Put a piece on one line, the shared words marked; it begins a little before the first of them."""
    plain = one_line(item.text)
    places = [at for word in item.words if (at := plain.lower().find(word)) >= 0]
    start = max(0, min(places, default=0) - 12)
    text = Text(("…" if start else "") + plain[start:], no_wrap=True, overflow="ellipsis")
    text.highlight_words(list(item.words), "bold yellow", case_sensitive=False)
    return text


def _facts(facts: Iterable[FactNow], height: int) -> Panel:
    lines = []
    for fact in list(facts)[: -(height - 1) : -1]:
        line = Text(no_wrap=True, overflow="ellipsis")
        line.append(f"{fact.key}: ", "bold green" if fact.fresh else "dim")
        if fact.before is not None:
            line.append(fact.before, "dim strike").append(" → ")
        lines.append(line.append(fact.value, "bold" if fact.fresh else ""))
    return Panel(Group(*lines), title="facts, newest first", title_align="left", height=height, border_style="green")


def _tasks(tasks: Iterable[KnownTask], height: int) -> Panel:
    lines = []
    for task in list(tasks)[-(height - 2) :]:
        line = Text(no_wrap=True, overflow="ellipsis")
        line.append(f"{task.id} ", "dim").append(f"{steps_bar(task)} ", "yellow")
        line.append(f"{STATES[task.state]} ", "bold green" if task.state == "completed" else "cyan")
        lines.append(line.append(task.title))
    return Panel(Group(*lines), title="tasks", title_align="left", height=height, border_style="yellow")


def _budget_title(scene: Scene) -> str | Text:
    if scene.notices:
        return Text(f"trouble: {'; '.join(scene.notices)}", style="bold red")
    if scene.tokens is None:
        return "token budget"
    spent = f"token budget · {scene.tokens.used} of {scene.tokens.max} ({scene.tokens.encoding})"
    return f"{spent} · answered in {scene.recall_seconds * 1_000:.1f} ms"


def _columns(*cells: tuple[RenderableType, int]) -> Table:
    """Put renderables side by side, as wide as their shares."""
    row = Table.grid(expand=True)
    for _, ratio in cells:
        row.add_column(ratio=ratio)
    row.add_row(*(cell for cell, _ in cells))
    return row
