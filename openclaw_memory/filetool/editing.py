"""What a command makes of a file's text, and how the model is shown it. Pure."""

from __future__ import annotations

from dataclasses import dataclass

from openclaw_memory.filetool.errors import CommandRefusedError
from openclaw_memory.markdown.text import BOM, newline_of, split_lines, without_end
from openclaw_memory.retrieval.cutting import safe_cut

MAX_LINES = 999_999
"""Longest file that is shown, in lines: the numbers are six digits wide (Anthropic's documentation of the tool)."""

MAX_SHOWN_CHARS = 40_000
"""Longest answer of one view, in characters; the rest is asked for by `view_range`."""

MAX_QUOTED_CHARS = 1_000
"""How much of `old_str` an answer repeats."""

_AROUND = 2
"""Lines before and after a change that are shown with it."""

_SNIPPET_CHARS = 4_000

_MOST_PLACES = 50
"""Most occurrences of a text that are told."""


@dataclass(frozen=True, slots=True)
class Edited:
    """A text after an edit, with the first and the last line that it changed, from 1."""

    text: str
    first: int
    last: int


def replaced(text: str, old: str, new: str, path: str) -> Edited:
    r"""Replace the one place that says `old`.

    A file whose lines end in CRLF is shown without saying so; there `\n` in `old` and `new` stands for its line end.

    Raises: `CommandRefusedError` when there is no such place, or several.
    """
    if not old:
        raise CommandRefusedError("No replacement was performed, old_str must not be empty.")
    old, new = _as_in_file(text, old, new)
    places = _places(text, old)
    quoted = old if len(old) <= MAX_QUOTED_CHARS else f"{old[:MAX_QUOTED_CHARS]}…"
    if not places:
        raise CommandRefusedError(
            f"No replacement was performed, old_str `{quoted}` did not appear verbatim in {path}."
        )
    if len(places) > 1:
        lines = ", ".join(_lines_of(text, places))
        raise CommandRefusedError(
            f"No replacement was performed. Multiple occurrences of old_str `{quoted}` in lines: {lines}. "
            "Please ensure it is unique"
        )
    at = places[0]
    first = _line_at(text, at)
    return Edited(text[:at] + new + text[at + len(old) :], first, first + new.count("\n"))


def inserted(text: str, after_line: int, added: str) -> Edited:
    """Insert whole lines after a line; 0 is the beginning. The line ends are those of the file.

    Raises: `CommandRefusedError` when there is no such line.
    """
    lines = split_lines(text.removeprefix(BOM))
    if not 0 <= after_line <= len(lines):
        raise CommandRefusedError(
            f"Error: Invalid `insert_line` parameter: {after_line}. "
            f"It should be within the range of lines of the file: [0, {len(lines)}]"
        )
    end = newline_of(text)
    before, after = lines[:after_line], lines[after_line:]
    if before and not before[-1].endswith("\n"):
        before[-1] += end
    whole = added if added.endswith("\n") else f"{added}\n"
    new = _with_line_end(whole, end)
    bom = BOM if text.startswith(BOM) else ""
    return Edited(bom + "".join([*before, new, *after]), after_line + 1, after_line + new.count("\n"))


def shown_lines(text: str, path: str, view_range: tuple[int, int] | None) -> str:
    """Show a file's lines with their numbers, as many as one answer holds.

    Raises: `CommandRefusedError` for a range that the file does not have, and for a file of too many lines.
    """
    lines = _lines(text)
    if len(lines) > MAX_LINES:
        raise CommandRefusedError(f"File {path} exceeds maximum line limit of 999,999 lines.")
    first, last = _within(view_range, len(lines))
    rows, size = [], 0
    for number in range(first, last + 1):
        row = f"{number:6}\t{lines[number - 1]}"
        size += len(row) + 1
        if size > MAX_SHOWN_CHARS:
            break
        rows.append(row)
    told = f"Here's the content of {path} with line numbers:\n"
    if not rows:
        row = f"{first:6}\t{lines[first - 1]}"
        kept = row[: safe_cut(row, MAX_SHOWN_CHARS)]
        return f"{told}{kept}\n[line {first} is cut: it has {len(lines[first - 1]):,} characters]{_rest(first, last)}"
    shown = first + len(rows) - 1
    return told + "\n".join(rows) + _rest(shown, last)


def snippet_of(edited: Edited) -> str:
    """Show the lines around a change, with their numbers."""
    lines = _lines(edited.text)
    first, last = max(1, edited.first - _AROUND), min(len(lines), edited.last + _AROUND)
    shown = "\n".join(f"{number:6}\t{lines[number - 1]}" for number in range(first, last + 1))
    return shown if len(shown) <= _SNIPPET_CHARS else f"{shown[: safe_cut(shown, _SNIPPET_CHARS)]}…"


def _rest(shown: int, last: int) -> str:
    """Tell how to see what was left out."""
    if shown >= last:
        return ""
    return f"\n[lines {shown + 1} to {last} are left out; view them with view_range [{shown + 1}, {last}]]"


def _within(view_range: tuple[int, int] | None, count: int) -> tuple[int, int]:
    if view_range is None:
        return 1, count
    first, last = view_range
    if not 1 <= first <= count or (last != -1 and last < first):
        raise CommandRefusedError(
            f"Error: Invalid `view_range` parameter: [{first}, {last}]. The first line must be within [1, {count}], "
            "the last not before it, or -1 for the end of the file"
        )
    return first, count if last == -1 else min(last, count)


def _lines(text: str) -> list[str]:
    """Give the lines without their ends; a text without any has one that is empty."""
    return [without_end(line).rstrip("\r") for line in split_lines(text.removeprefix(BOM))] or [""]


def _as_in_file(text: str, old: str, new: str) -> tuple[str, str]:
    """Write what is looked for, where it is not there as it is, and what replaces it with the line ends of the file."""
    end = newline_of(text)
    if old not in text and end != "\n":
        old = _with_line_end(old, end)
    return old, _with_line_end(new, end)


def _with_line_end(text: str, end: str) -> str:
    return text if end == "\n" else text.replace("\r\n", "\n").replace("\n", end)


def _places(text: str, old: str) -> list[int]:
    """Find places, also where two overlap, but no more than are told."""
    places: list[int] = []
    at = text.find(old)
    while at >= 0 and len(places) < _MOST_PLACES:
        places.append(at)
        at = text.find(old, at + 1)
    return places


def _lines_of(text: str, places: list[int]) -> list[str]:
    """Give the numbers of the lines that hold these places, each once."""
    lines: dict[int, None] = {}
    number, before = 1, 0
    for place in places:
        number += text.count("\n", before, place)
        before = place
        lines[number] = None
    return [*map(str, lines), *(["…"] if len(places) == _MOST_PLACES else [])]


def _line_at(text: str, at: int) -> int:
    return text.count("\n", 0, at) + 1
