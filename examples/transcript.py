"""Talk on a terminal: text broken into lines that fit, the newest turns at the bottom."""

from __future__ import annotations

import re
from dataclasses import dataclass

from rich.cells import cell_len, set_cell_size
from rich.console import Console, ConsoleOptions, RenderResult
from rich.text import Text

from examples.dialogue import Turn

MORE = " …"
_CHUNK = re.compile(r"[\u2e80-\u9fff\uff00-\uffef][，。：；！？、」』）”]*|[^\s\u2e80-\u9fff\uff00-\uffef]+|\s+")
"""Where a line may be broken: after any Chinese character and what must not begin a line, or between words."""


def folded(text: str, width: int) -> list[str]:
    """Break a text into lines of at most `width` cells, Chinese anywhere, without blank lines and fences."""
    lines = []
    for raw in text.split("\n"):
        if raw.startswith("```"):
            continue
        line = ""
        for chunk in _CHUNK.findall(raw.replace("`", "")):
            if line.strip() and cell_len(line + chunk.rstrip()) > width:
                lines.append(line.rstrip())
                line = chunk.lstrip()
            else:
                line += chunk
            while cell_len(line.rstrip()) > width:
                head = set_cell_size(line, width).rstrip() or line[:1]
                lines.append(head)
                line = line[len(head) :]
        lines.append(line.rstrip())
    return [line for line in lines if line.strip()] or [""]


@dataclass(frozen=True, slots=True)
class Transcript:
    """The last turns, newest at the bottom, as many lines as there is room for."""

    turns: tuple[Turn, ...]
    height: int
    newest_lines: int = 5
    older_lines: int = 2

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        """Cut each turn to a few lines, then keep what fits from the bottom."""
        lines: list[Text] = []
        for turn in self.turns:
            most = self.newest_lines if turn is self.turns[-1] else self.older_lines
            style, name = ("bold cyan", "user  ") if turn.role == "user" else ("bold green", "agent ")
            shown = folded(turn.content, options.max_width - len(name) - len(MORE))
            cut = [*shown[: most - 1], shown[most - 1] + MORE] if len(shown) > most else shown
            for number, line in enumerate(cut):
                lines.append(Text.assemble((name if number == 0 else " " * len(name), style), line))
        yield from lines[-self.height :]
