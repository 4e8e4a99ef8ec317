"""Draw what is left when the demo is over: the files, the head of one, and questions answered after a restart."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from rich.console import Console, ConsoleOptions, Group, RenderableType, RenderResult
from rich.panel import Panel
from rich.syntax import Syntax
from rich.text import Text
from rich.tree import Tree

from examples.answers import Answered
from examples.scene import shared_words
from examples.transcript import folded

EXCERPT_CHARS = 200
"""Characters shown of a line that answers."""
DATE_CHARS = 16
"""A first line this short is the date (and place) of a recalled piece."""


def size_text(size: int) -> str:
    """Write a size in bytes for people."""
    return f"{size} B" if size < 1_000 else f"{size / 1_000:.1f} kB"


def file_tree(root: Path) -> Tree:
    """Draw the tree of files under `root`; what is not for people (names with a dot) is dim and not opened."""
    tree = Tree(Text(f"{root.name}/", style="bold"), guide_style="dim")
    _grow(tree, root)
    return tree


def file_head(path: Path, root: Path, lines: int) -> Panel:
    """Show the first `lines` lines of a Markdown file."""
    head = "\n".join(path.read_text(encoding="utf-8").split("\n")[:lines])
    shown = Syntax(head, "markdown", theme="ansi_dark", background_color="default", word_wrap=True)
    return Panel(shown, title=str(path.relative_to(root)), title_align="left", border_style="blue")


@dataclass(frozen=True, slots=True)
class Excerpt:
    """The lines of a piece that hold the answer, `shared` words and `expect`ed ones marked; long ones are cut."""

    piece: str
    shared: tuple[str, ...]
    expect: tuple[str, ...]

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        """Give a line for the date where the piece begins with one, then the lines that answer."""
        for number, line in enumerate(self.piece.split("\n")):
            answers = any(text in line for text in self.expect)
            if not answers and (number > 0 or len(line) > DATE_CHARS):
                continue
            for part in folded(_around(line, self.expect) if answers else line, options.max_width):
                text = Text(part)
                text.highlight_words(list(self.shared), "yellow", case_sensitive=False)
                text.highlight_words(list(self.expect), "bold green reverse")
                yield text


def _around(line: str, expect: tuple[str, ...]) -> str:
    """Cut a long line around the first of the expected texts that it holds."""
    first = min(at for text in expect if (at := line.find(text)) >= 0)
    start = max(0, first - EXCERPT_CHARS // 2) if len(line) > EXCERPT_CHARS else 0
    cut = line[start : start + EXCERPT_CHARS]
    return f"{'…' if start else ''}{cut}{'…' if start + EXCERPT_CHARS < len(line) else ''}"


def answer_panel(answered: Answered) -> Panel:
    """Show a question and the piece of memory that answers it."""
    question, piece = answered.question, answered.piece
    if piece is None:
        shown: RenderableType = Text("memory has nothing that answers this", style="bold red")
    else:
        text = Excerpt(piece.text, shared_words(question.text, piece.text), question.expect)
        origin = Text.assemble((f"{piece.part}  {piece.where}", "cyan"))
        shown = Group(text, origin, Text(" · ".join(piece.steps), style="dim"))
    used = f"{answered.context.tokens.used} tokens" if answered.context.tokens else ""
    title = Text.assemble(("? ", "bold yellow"), (question.text, "bold"))
    return Panel(shown, title=title, title_align="left", subtitle=used, subtitle_align="right", border_style="cyan")


def commands(root: Path) -> str:
    """Name the commands by which a person looks at the folder, one a line."""
    memory = root / "memory"
    return "\n".join(
        (
            f"find {root} -name '*.md'",
            f"cat {memory}/facts/*.md",
            f"cat {memory}/tasks/active.md",
            f"grep -rn DEC-0054 {memory} --include='*.md'",
        )
    )


def _grow(tree: Tree, folder: Path) -> None:
    for path in sorted(folder.iterdir(), key=lambda path: (path.name.startswith("."), path.is_file(), path.name)):
        hidden = path.name.startswith(".") or ".sqlite" in path.name or path.suffix == ".index"
        if path.is_dir() and not hidden:
            _grow(tree.add(Text(f"{path.name}/", style="bold blue")), path)
        elif path.is_dir():
            inside = sum(file.stat().st_size for file in path.rglob("*") if file.is_file())
            tree.add(Text(f"{path.name}/  {size_text(inside)}", style="dim"))
        else:
            label = Text.assemble((path.name, "dim" if hidden else ""), (f"  {size_text(path.stat().st_size)}", "dim"))
            tree.add(label)
