"""A bar that shows how the budget of a context is spent."""

from __future__ import annotations

from dataclasses import dataclass

from rich.console import Console, ConsoleOptions, RenderResult
from rich.text import Text

from contracts import TokenReport

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
            style, sign = PART_STYLES.get(part.name, ("white", "▪"))
            cells = max(1, round(part.used / report.max * width))
            bar.append((sign if console.no_color else "█") * cells, style)
            legend.append_text(
                Text.assemble((f"{sign if console.no_color else '█'} ", style), f"{part.name} {part.used}  ")
            )
        free = max(0, width - bar.cell_len)
        bar.append("·" * free, "dim")
        legend.append(f"· free {report.max - report.used}", "dim")
        bar.truncate(width)
        yield bar
        yield legend
