"""Names of a day's files: `2026-05-04.md`, and before it the parts that it was rotated into, oldest first.

A message's address names the day, whichever of its files holds the message: ids are unique across them.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable
from functools import cache

FOLDER = "conversations"
ARCHIVE = "conversations/archive"
"""Where files go that are older than `retention_days`; they are found as before."""

FOLDERS = (FOLDER, ARCHIVE)

_FILE = re.compile(rf"{FOLDER}/(archive/)?(\d{{4}}-\d\d-\d\d)(?:-(\d{{3,}}))?\.md")
_ARCHIVED_FIRST = 1e15
"""Taken from the numbers of archived parts: what was archived was said before what was not."""


@cache
def day_of(path: str) -> str:
    """Give the day's own file for any of its parts, archived or not; every other path is its own."""
    match = _FILE.fullmatch(path)
    return f"{FOLDER}/{match[2]}.md" if match else path


@cache
def order_of(path: str) -> tuple[str, float]:
    """Give what files sort by: days by date, of a day what is archived, the parts by number, the day's own file."""
    match = _FILE.fullmatch(path)
    if match is None:
        return path, math.inf
    number = float(match[3]) if match[3] else math.inf
    return day_of(path), min(number, _ARCHIVED_FIRST - 1) - _ARCHIVED_FIRST if match[1] else number


def archived(path: str) -> str:
    """Give the place in the archive of a day's file, or of a part of it."""
    return f"{ARCHIVE}/{path.rpartition('/')[2]}"


def is_archived(path: str) -> bool:
    """Tell whether a file lies in the archive."""
    return path.startswith(f"{ARCHIVE}/")


def parts_of(day: str, paths: Iterable[str]) -> list[str]:
    """Choose the parts of a day, the oldest first."""
    return sorted((path for path in paths if path != day and day_of(path) == day), key=order_of)


def next_parts(day: str, known: Iterable[str], count: int) -> list[str]:
    """Name so many parts of a day behind all that are known, so that numbers tell the order (seed 000 section 5.3)."""
    parts = [path for path in parts_of(day, known) if not is_archived(path)]
    last = int(order_of(parts[-1])[1]) if parts else 0
    return [f"{day.removesuffix('.md')}-{number:03d}.md" for number in range(last + 1, last + count + 1)]
