"""Take lines out of a text by keyed names of what they say: what forgetting does to a document.

An operation that forgets lies in the journal for a while, so it must not hold what it removes. It names each run of
lines by a keyed hash, and is harmless when done again: where the lines say something else by now, they stay.
"""

from __future__ import annotations

import hmac
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from openclaw_memory.markdown.text import split_lines

CUT = "cut"
"""Kind of the operation, the same in every format."""

_BYTES = 12

Run = tuple[int, int]
"""First and last line, from 1, both ends included."""


def mark(salt: str, text: str) -> str:
    """Give a name of a text that tells nothing of it to whoever lacks the salt (hexadecimal)."""
    return hmac.digest(bytes.fromhex(salt), text.encode("utf-8", "surrogatepass"), "sha256")[:_BYTES].hex()


def cuts_of(text: str, runs: Iterable[Run], salt: str) -> list[list[Any]]:
    """Name runs of lines, for `cut_lines`: how many, the first one, all of them, the heading above where it matters.

    The heading matters where the same lines stand elsewhere as well, and stay there.
    """
    lines = [line.rstrip() for line in split_lines(text)]
    wanted = sorted({(start, end) for start, end in runs if any(lines[start - 1 : end])})
    taken = {number for start, end in wanted for number in range(start, end + 1)}
    places: dict[str, list[int]] = {}
    for number, line in enumerate(lines, start=1):
        places.setdefault(line, []).append(number)
    cuts = []
    for start, end in wanted:
        while not lines[start - 1]:
            start += 1
        run = lines[start - 1 : end]
        others = [at for at in places[run[0]] if at not in taken and lines[at - 1 : at - 1 + len(run)] == run]
        under = mark(salt, _heading_above(lines, start)) if others else None
        cuts.append([len(run), mark(salt, run[0]), mark(salt, "\n".join(run)), under])
    return cuts


def cut_lines(text: str, cuts: Sequence[Sequence[Any]], salt: str) -> str:
    """Give a text without these runs of lines, and without the gap that each would leave."""
    if not cuts or not text:
        return text
    by_first: dict[str, list[Sequence[Any]]] = {}
    # The longest first: a section goes with its lines, and not its first line alone.
    for cut in sorted(cuts, key=lambda cut: -int(cut[0])):
        by_first.setdefault(cut[1], []).append(cut)
    raw = split_lines(text)
    lines = [line.rstrip() for line in raw]
    kept: list[str] = []
    at, changed = 0, False
    while at < len(raw):
        found = _found(lines, at, by_first, salt) if lines[at] else 0
        if not found:
            kept.append(raw[at])
            at += 1
            continue
        at, changed = at + found, True
        if not kept or not kept[-1].strip():
            while at < len(raw) and not lines[at]:
                at += 1
    return "".join(kept) if changed else text


def _found(lines: Sequence[str], at: int, by_first: Mapping[str, list[Sequence[Any]]], salt: str) -> int:
    """Count the lines of the cut that begins here; 0 where none does."""
    for count, _, whole, under in by_first.get(mark(salt, lines[at]), ()):
        run = lines[at : at + count]
        if len(run) != count or mark(salt, "\n".join(run)) != whole:
            continue
        if under is None or mark(salt, _heading_above(lines, at + 1)) == under:
            return int(count)
    return 0


def _heading_above(lines: Sequence[str], number: int) -> str:
    """Give the last line before this one that begins with `#`; whether it is a heading does not matter here."""
    return next((lines[at] for at in range(number - 2, -1, -1) if lines[at].lstrip().startswith("#")), "")
