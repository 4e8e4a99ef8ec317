"""Save screens as SVG pictures."""

from __future__ import annotations

import re
from html import unescape
from io import StringIO
from pathlib import Path

from rich.cells import cell_len
from rich.console import Console, RenderableType

WIDTH = 120
_TEXT = re.compile(r'textLength="(?P<length>[\d.]+)"(?P<rest>[^>]*)>(?P<text>[^<]+)</text>')


def save_picture(path: Path, title: str, *screens: RenderableType) -> None:
    """Draw screens one below the other, `WIDTH` columns wide, into an SVG file."""
    console = Console(width=WIDTH, record=True, file=StringIO(), force_terminal=True, color_system="truecolor")
    for screen in screens:
        console.print(screen)
    path.write_text(with_wide_characters(console.export_svg(title=title)), encoding="utf-8")


def with_wide_characters(svg: str) -> str:
    """Give Chinese and emoji the two columns that they have on a terminal.

    rich (15.0) reckons the length of each text as one column a character, and browsers squeeze the text into it.
    """

    def corrected(match: re.Match[str]) -> str:
        text = unescape(match["text"])
        length = float(match["length"]) / len(text) * cell_len(text)
        return f'textLength="{length:g}"{match["rest"]}>{match["text"]}</text>'

    return _TEXT.sub(corrected, svg)
