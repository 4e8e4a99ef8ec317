"""What a folder looks like to the model. Pure."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from openclaw_memory.filetool.paths import Parts, shown

DEPTH = 2
"""How many levels below a folder a view of it shows."""

LEFT_OUT = "node_modules"

_UNITS = ("B", "K", "M", "G", "T")


@dataclass(frozen=True, slots=True)
class Item:
    """A file or a folder. `size` in bytes; that of a folder is what its files take."""

    parts: Parts
    size: int
    is_folder: bool


def listing(parts: Parts, items: Iterable[Item]) -> str:
    """Show a folder: what is in it by name, two levels deep, folders with a slash at the end.

    Parameters: `parts` of the folder; `items`, all that lies in it and below, hidden ones left out.
    """
    inside = sorted((item for item in items if LEFT_OUT not in item.parts), key=lambda item: item.parts)
    total = sum(item.size for item in inside if not item.is_folder)
    rows = [f"{size_of(total)}\t{shown(parts)}"]
    rows += [
        f"{size_of(item.size)}\t{shown(item.parts)}{'/' * item.is_folder}"
        for item in inside
        if len(item.parts) - len(parts) <= DEPTH
    ]
    head = f"Here're the files and directories up to 2 levels deep in {shown(parts)}"
    return f"{head}, excluding hidden items and node_modules:\n" + "\n".join(rows)


def size_of(count: int) -> str:
    """Write a number of bytes as people do: `0B`, `512B`, `1.5K`, `2.0M`."""
    size, unit = float(count), 0
    while size >= 1024 and unit < len(_UNITS) - 1:
        size, unit = size / 1024, unit + 1
    return f"{count}B" if unit == 0 else f"{size:.1f}{_UNITS[unit]}"
