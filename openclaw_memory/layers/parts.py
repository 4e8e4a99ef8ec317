"""Names of a day's files: `2026-05-04.md`, and before it the parts that it was rotated into, oldest first.

A message's address names the day, whichever of its files holds the message: ids are unique across them.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable
from functools import cache

FOLDER = "conversations"

_PART = re.compile(rf"({FOLDER}/\d{{4}}-\d\d-\d\d)-(\d{{3,}})\.md")


@cache
def day_of(path: str) -> str:
    """Give the day's own file for any of its parts; every other path is its own."""
    match = _PART.fullmatch(path)
    return f"{match[1]}.md" if match else path


@cache
def order_of(path: str) -> tuple[str, float]:
    """Give what files sort by: days by date, and of a day the parts by number, then the day's own file."""
    match = _PART.fullmatch(path)
    return (f"{match[1]}.md", int(match[2])) if match else (path, math.inf)


def parts_of(day: str, paths: Iterable[str]) -> list[str]:
    """Choose the parts of a day, the oldest first."""
    return sorted((path for path in paths if path != day and day_of(path) == day), key=order_of)


def next_parts(day: str, known: Iterable[str], count: int) -> list[str]:
    """Name so many parts of a day behind all that are known, so that numbers tell the order (seed 000 section 5.3)."""
    parts = parts_of(day, known)
    last = int(order_of(parts[-1])[1]) if parts else 0
    return [f"{day.removesuffix('.md')}-{number:03d}.md" for number in range(last + 1, last + count + 1)]
