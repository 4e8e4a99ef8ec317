"""Putting lines into a document without touching the others."""

from __future__ import annotations

from collections.abc import Sequence

from openclaw_memory.markdown.items import Item, write_value
from openclaw_memory.markdown.outline import Outline, outline
from openclaw_memory.markdown.text import end_of, split_lines, without_end


def insert_lines(body: str, at: int, new: Sequence[str], *, newline: str, gap: bool = False) -> str:
    """Insert whole lines.

    Args:
        body: The document without its front matter.
        at: How many lines of the body come before the new ones.
        new: The new lines, with their ends.
        newline: Line end for what has to be added.
        gap: Whether an empty line must part them from the text before and after.
    """
    lines = split_lines(body)
    before, after = lines[:at], lines[at:]
    added = list(new)
    if before and gap and before[-1].strip():
        added.insert(0, newline)
    if before and not before[-1].endswith("\n"):
        added.insert(0, newline)
    if after and gap and after[0].strip():
        added.append(newline)
    return "".join([*before, *added, *after])


def replace_lines(body: str, start: int, end: int, new: Sequence[str], newline: str) -> str:
    """Replace the lines of an item, or take them out.

    Text that stood right below the item stays apart from it: where it would now continue an item, an empty line is put
    between them.

    Args:
        body: The document without its front matter.
        start: First line of the item, counted from 1.
        end: Its last line.
        new: The lines that come instead, with their ends.
        newline: Line end for an empty line.
    """
    lines = split_lines(body)
    above, below = [*lines[: start - 1], *new], lines[end:]
    changed = "".join([*above, *below])
    if not below or not below[0].strip():
        return changed
    boundary = len(above)
    items = (item for section in outline(changed).sections for item in section.items)
    if any(item.start_line <= boundary < item.end_line for item in items):
        return "".join([*above, newline, *below])
    return changed


def replace_value(body: str, item: Item, value: str, newline: str) -> str:
    """Replace the value of an item; bullet, key and colon stay as they are written.

    Args:
        body: The document without its front matter.
        item: An item of its outline that has a key.
        value: The new value.
        newline: Line end where the item's first line has none.
    """
    lines = split_lines(body)
    first, last = lines[item.start_line - 1], lines[item.end_line - 1]
    newline = end_of(first, newline)
    gap = "" if item.prefix.endswith((" ", "\t", "：")) else " "
    new = write_value(item.prefix + gap, value, newline, item.margin)
    if not last.endswith("\n"):
        new[-1] = without_end(new[-1])
    return replace_lines(body, item.start_line, item.end_line, new, newline)


def end_of_text(body: str, start_line: int, end_line: int) -> int:
    """Return how many lines come before the blank ones that end a range of lines.

    Args:
        body: The document without its front matter.
        start_line: First line of the range, counted from 1; never passed.
        end_line: Last line of the range.
    """
    lines = split_lines(body)
    at = end_line
    while at >= start_line and not lines[at - 1].strip():
        at -= 1
    return at


def places_at_end(body: str, found: Outline) -> tuple[int, ...]:
    """Return where a new block can go at the end of a body, best first, as numbers of lines before it.

    The others are before the last block and before the last heading: where the last block is a fence or comment that
    nobody closed, whatever stands after it would be part of it.
    """
    last_heading = found.headings[-1].line if found.headings else 1
    places = (end_of_text(body, 1, len(split_lines(body))), max(found.last_block_line, 1) - 1, last_heading - 1)
    return tuple(dict.fromkeys(places))


def other_items(found: Outline, item: Item | None) -> list[tuple[str, str]]:
    """Return the texts of all items but one, each with its section: what an edit must not change."""
    line = None if item is None else item.start_line
    return [
        (section.title, other.text) for section in found.sections for other in section.items if other.start_line != line
    ]
