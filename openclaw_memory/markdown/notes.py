"""Daily notes: entries `### HH:MM — title` in a file a day, added to and never changed (seed 003 section 26.3.1).

An entry is a heading of any level that begins with a time of day; it reaches to the next of them, or to the next `#`
heading of its own level or above.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import time

from openclaw_memory.markdown.errors import UnwritableValueError
from openclaw_memory.markdown.fences import HIDES, closing_line, fenced_lines
from openclaw_memory.markdown.items import canonical
from openclaw_memory.markdown.log_lines import without_log
from openclaw_memory.markdown.outline import Heading, Outline, outline, write_heading
from openclaw_memory.markdown.text import split_lines, without_end

LEVEL = 3
"""Level of the headings that we write."""
MAX_PARSED_CHARS = 250_000
"""A longer body is never parsed as a whole: 1 MB takes a second."""
TAIL_CHARS = 20_000
"""How much of the end of a longer body is looked at when something is added."""

_TIME = re.compile(r"([01]?\d|2[0-3])[:：]([0-5]\d)(?:[:：]([0-5]\d))?(?!\d)[ \t]*(?:[—–|:：-]{1,2}[ \t]*)?(.*)")
_ENTRY_LINE = re.compile(r"^#{1,6}[ \t]+(?:[01]?\d|2[0-3])[:：][0-5]\d(?!\d)", re.MULTILINE)
_HEADING = rf"(?=#{{1,{LEVEL}}}(?:[ \t]|$)|#{{{LEVEL + 1},6}}[ \t]+\d{{1,2}}[:：]\d\d)"
"""Begins a line that would end an entry of ours, or begin another one."""
_READS_AS_HEADING = re.compile(rf"^( {{0,3}}\\*){_HEADING}")
_ESCAPED = re.compile(rf"^( {{0,3}})\\(\\*){_HEADING}")
_BACKSLASHES = re.compile(r"\\+(?=#)")


@dataclass(frozen=True, slots=True)
class NoteEntry:
    """One entry. Lines are counted from 1 in the body, both ends included.

    `text` is what stands below the heading, without blank lines around it; `title` is empty where there is none.
    """

    time: time
    title: str
    text: str
    start_line: int
    end_line: int


def parse_notes(body: str, found: Outline | None = None) -> tuple[NoteEntry, ...]:
    """Read the entries of a day, in the order of the file. What stands outside of them is no entry.

    Parameters: `body`, the document without front matter and with its log lines left blank (`without_log`); `found`,
    its outline, where it is known.
    """
    lines = split_lines(body)
    found = found or outline(body)
    fenced = fenced_lines(body) if found.headings else frozenset()
    hashed = [head for head in found.headings if lines[head.line - 1].lstrip(" \ufeff").startswith("#")]
    entries = []
    for index, heading in enumerate(hashed):
        read = _read_heading(heading)
        if read is None:
            continue
        after = (head for head in hashed[index + 1 :] if head.level <= heading.level or _read_heading(head))
        end = next((head.line - 1 for head in after), len(lines))
        while end > heading.line and not lines[end - 1].strip():
            end -= 1
        text = "\n".join(
            line if "\\#" not in line or number in fenced else _ESCAPED.sub(r"\1\2", line)
            for number, line in enumerate(_plain(lines[heading.line : end]), start=heading.line + 1)
        )
        entries.append(NoteEntry(*read, canonical(text), heading.line, end))
    return tuple(entries)


def canonical_note(text: str) -> str:
    r"""Give a text as an entry can hold it: lines end at `\n`, no blank lines around, nothing left open at its end."""
    kept = canonical(text)
    closing = closing_line(kept)
    return f"{kept}\n{closing}" if closing else kept


def append_note(body: str, when: time, title: str, text: str, *, day: str, newline: str) -> str:
    """Add an entry at the end; every byte before it stays. An entry that is there already is not added again.

    What somebody left open at the end, a fence or a comment, is closed first: it would swallow the entry.

    Parameters: `body`, the document without front matter; `when`, the time of day, of which the minute is written;
    `title`, one line or empty; `text`, Markdown, or blank where there is a title; `day`, the heading of a file that
    is blank so far, such as `2026-05-04`; `newline`, the line end of the file.

    Raises: `UnwritableValueError` when the entry would not be read back.
    """
    # Lines that tell what was said are no part of any entry; they only stay where they are.
    whole = body if body.endswith("\n") or not body else body + newline
    as_it_was, body = body, without_log(whole)
    kept = canonical_note(text)
    when = when.replace(second=0, microsecond=0, tzinfo=None)
    title = " ".join(title.split())
    heading = write_heading(LEVEL, f"{when:%H:%M} — {title}" if title else f"{when:%H:%M}")
    start = _looked_at_from(body, heading)
    known = parse_notes(body[start:])
    if any(_says(entry, when, title, kept) for entry in known):
        return as_it_was
    base = body or f"{write_heading(2, day)}{newline}"
    start = min(start, len(base))
    opened = closing_line(base[start:])
    begun = base + ("" if base.endswith("\n") else newline) + (opened + newline if opened else "")
    lines = [heading, *_escaped(kept)] if kept else [heading]
    gap = "" if (whole + begun[len(body) :]).endswith(("\n\n", "\n\r\n")) else newline
    changed = begun + gap + "".join(line + newline for line in lines)
    again = parse_notes(changed[start:])
    if not again or not _stay(known, again[:-1]) or not _says(again[-1], when, title, kept):
        raise UnwritableValueError("text", text, "it would be read back as something else; use plain paragraphs")
    return whole + changed[len(body) :]


def find_note(body: str, when: time, title: str, text: str) -> NoteEntry | None:
    """Give the entry that `append_note` has added, or found to be there; None where there is none.

    Parameters: as those of `append_note`. In a very long body only its last entries are looked at.
    """
    body = without_log(body)
    start = _looked_at_from(body, f"{when:%H:%M}")
    skipped = body.count("\n", 0, start)
    kept, title = canonical_note(text), " ".join(title.split())
    for entry in reversed(parse_notes(body[start:])):
        if _says(entry, when.replace(second=0, microsecond=0, tzinfo=None), title, kept):
            return replace(entry, start_line=entry.start_line + skipped, end_line=entry.end_line + skipped)
    return None


def append_plain(body: str, text: str, newline: str) -> str:
    """Add a text as it is at the end, unless it is there: for what can't be an entry beside what a body holds."""
    kept = canonical(text)
    if kept in body.replace("\r\n", "\n"):
        return body
    lines = [line + newline for line in kept.split("\n")]
    return body + ("" if not body or body.endswith("\n") else newline) + newline + "".join(lines)


def _looked_at_from(body: str, heading: str) -> int:
    """Give where to begin reading when an entry is added, so that most of a long day need not be parsed.

    At the last entry, or the first place where the heading is found, when nothing above can hide it; else at the top.
    Of a very long body whatever is above is not looked at.
    """
    first = body.find(heading)
    starts = [match.start() for match in _ENTRY_LINE.finditer(body)]
    start = max((start for start in starts if first < 0 or start <= first), default=0)
    if len(body) <= MAX_PARSED_CHARS:
        return 0 if HIDES.search(body, 0, start) else start
    return start if first >= 0 else max(start, body.rfind("\n", 0, len(body) - TAIL_CHARS) + 1)


def _read_heading(heading: Heading) -> tuple[time, str] | None:
    match = _TIME.fullmatch(heading.title)
    if match is None:
        return None
    return time(int(match[1]), int(match[2]), int(match[3] or 0)), match[4].strip()


def _stay(known: Sequence[NoteEntry], again: Sequence[NoteEntry]) -> bool:
    """Tell whether all entries are as they were, but for what was closed at the end of the last one."""
    if len(known) != len(again):
        return False
    pairs = list(zip(known, again, strict=True))
    return all(one == other for one, other in pairs[:-1]) and all(
        (one.start_line, one.title) == (other.start_line, other.title) and other.text.startswith(one.text)
        for one, other in pairs[-1:]
    )


def _says(entry: NoteEntry, when: time, title: str, text: str) -> bool:
    """Compare an entry; a backslash before `#` more or less is the same to a reader."""
    return (entry.time, entry.title) == (when, title) and (
        entry.text == text or _BACKSLASHES.sub("", entry.text) == _BACKSLASHES.sub("", text)
    )


def _plain(lines: Sequence[str]) -> list[str]:
    return [without_end(line).removesuffix("\r") for line in lines]


def _escaped(text: str) -> list[str]:
    """Give the lines of a text with one more backslash before those that would end the entry, fences left alone."""
    fenced = fenced_lines(text)
    return [
        line if number in fenced else _READS_AS_HEADING.sub(r"\1\\", line, count=1)
        for number, line in enumerate(text.split("\n"), start=1)
    ]
