"""Draw how the budget of a context is divided and spent."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from rich.console import Console, ConsoleOptions, RenderResult
from rich.text import Text

from contracts import PartTokens, TokenReport
from openclaw_memory.cli.output import padded
from openclaw_memory.cli.words import say

PART_STYLES = {
    "facts": ("green", "█"),
    "memory": ("bright_green", "▆"),
    "tasks": ("yellow", "▓"),
    "summaries": ("magenta", "▒"),
    "notes": ("bright_magenta", "▤"),
    "recalled": ("cyan", "▞"),
    "history": ("blue", "▚"),
}
"""Colour of each part of the context, and the sign that stands for it where there are no colours."""

NAME_COLUMNS = 12
FIGURE_COLUMNS = 9
LEAST_BAR = 20


@dataclass(frozen=True, slots=True)
class BudgetBar:
    """How the budget of the context is spent: a bar and its legend."""

    tokens: TokenReport | None

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        """Draw each part as wide as its share of the budget."""
        if self.tokens is None:
            yield Text("no context", style="dim")
            return
        width, report = options.max_width, self.tokens
        bar, legend = Text(no_wrap=True), Text(no_wrap=True, overflow="ellipsis")
        for part in report.parts:
            if not part.used:
                continue
            style, sign = _sign(console, part.name)
            # A part that was counted alone may have more than the whole.
            cells = max(1, round(min(1.0, part.used / report.max) * width))
            bar.append(sign * cells, style)
            legend.append_text(Text.assemble((f"{sign} ", style), f"{part.name} {part.used}  "))
        free = max(0, width - bar.cell_len)
        bar.append("·" * free, "dim")
        legend.append(f"· free {report.max - report.used}", "dim")
        bar.truncate(width)
        yield bar
        yield legend


@dataclass(frozen=True, slots=True)
class BudgetTable:
    """What was planned for each part and what it used: a line a part, its bar with a mark where its share ends."""

    tokens: TokenReport

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        """Draw all parts to one scale."""
        report = self.tokens
        width = max(LEAST_BAR, options.max_width - NAME_COLUMNS - 2 * FIGURE_COLUMNS - 2)
        largest = max((max(part.planned, part.used) for part in report.parts), default=0) or 1
        head = f"{'':{NAME_COLUMNS}}{padded(say('planned'), FIGURE_COLUMNS)}{padded(say('used'), FIGURE_COLUMNS)}"
        yield Text(head.rstrip(), "dim")
        for part in report.parts:
            line = Text(no_wrap=True)
            line.append(f"{part.name:{NAME_COLUMNS}}", _sign(console, part.name)[0])
            planned = f"{part.planned:,}" if part.planned else "-"
            line.append(f"{planned:{FIGURE_COLUMNS}}{part.used:<{FIGURE_COLUMNS},}")
            for text, style in self._bar(console, part, largest, width):
                line.append(text, style)
            yield line

    def _bar(self, console: Console, part: PartTokens, largest: int, width: int) -> Iterator[tuple[str, str]]:
        style, sign = _sign(console, part.name)
        used = round(part.used / largest * width)
        used = max(1, used) if part.used else 0
        planned = round(part.planned / largest * width)
        for cell in range(max(used, planned)):
            if part.planned and cell == max(0, planned - 1):
                yield "┃", "bold white"
            elif cell < used:
                yield sign, style
            else:
                yield "·", "dim"


def budget_lines(report: TokenReport) -> tuple[Text | BudgetBar | BudgetTable, ...]:
    """Give the picture of a budget: its sum, all parts in one bar, and each part by itself."""
    words = say(
        "{used} of {most} tokens ({encoding})",
        used=f"{report.used:,}",
        most=f"{report.max:,}",
        encoding=report.encoding,
    )
    shares = say("┃ a part's share; MEMORY.md shares with facts, notes with summaries.")
    rest = say("What parts leave goes to recalled pieces, then to older messages.")
    return (
        Text(words, "bold"),
        BudgetBar(report),
        Text(""),
        BudgetTable(report),
        Text(""),
        Text(shares, "dim"),
        Text(rest, "dim"),
    )


def _sign(console: Console, name: str) -> tuple[str, str]:
    style, sign = PART_STYLES.get(name, ("white", "▪"))
    return style, sign if console.no_color or not console.is_terminal else "█"
