"""Daily notes of a workspace: `memory/YYYY-MM-DD.md`, the log between session and MEMORY.md (seed 003 section 26.3).

Also read, and never written: notes with a slug (`2026-05-04-trip.md`) and notes in folders below.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import date, datetime, time, tzinfo
from typing import Any

from openclaw_memory.errors import Refused
from openclaw_memory.layers import day_log
from openclaw_memory.layers.documents import MarkdownDocument, tags_of, told
from openclaw_memory.layers.history import arguments_of
from openclaw_memory.layers.pieces import free_text
from openclaw_memory.layers.plain import MAX_BYTES, PlainFormat
from openclaw_memory.markdown.errors import UnwritableValueError
from openclaw_memory.markdown.message_header import Language
from openclaw_memory.markdown.messages import Message
from openclaw_memory.markdown.notes import (
    MAX_PARSED_CHARS,
    NoteEntry,
    append_note,
    append_plain,
    find_note,
    parse_notes,
)
from openclaw_memory.markdown.outline import Outline, outline
from openclaw_memory.retrieval.blocks import Block
from openclaw_memory.storage.documents import Draft
from openclaw_memory.storage.operations import Operation

FOLDER = "memory"
"""Where a workspace has its notes."""

_NAME = re.compile(r"(\d{4})-(\d\d)-(\d\d)(?:[-_ .][^/]*)?\.md", re.ASCII)


@dataclass(frozen=True, slots=True)
class NotePlan:
    """Where a note is now; `changed` tells whether it was not there before."""

    key: str
    changed: bool


def note_path(day: date, folder: str = FOLDER) -> str:
    """Give the file of a day."""
    return f"{folder}/{day.isoformat()}.md"


def day_of_note(path: str) -> date | None:
    """Read the day from a file's name, in whatever folder it lies; None when it names none."""
    match = _NAME.fullmatch(path.rpartition("/")[2])
    if match is None:
        return None
    try:
        return date(int(match[1]), int(match[2]), int(match[3]))
    except ValueError:
        return None


def recent_notes(paths: Iterable[str], today: date, days: int) -> list[str]:
    """Choose the notes of the last `days` days, today included, oldest first (`dailyLogDays`, seed 003 section 26.3.2).

    Of one day its own file comes first, then those with a slug. Notes of days to come are left out.
    """
    dated = [(day, path) for path in paths if (day := day_of_note(path)) is not None]
    # Counted in days: `today - timedelta(days)` is out of range when somebody sets a million days.
    chosen = [(day, path) for day, path in dated if 0 <= (today - day).days < days]
    return [
        path
        for _, _, path in sorted((day, (path.rpartition("/")[2] != f"{day}.md", path), path) for day, path in chosen)
    ]


def text_of(document: MarkdownDocument) -> str:
    """Give a note as the prompt holds it."""
    return document.body.replace("\r\n", "\n").strip()


def plan_note(
    draft: Draft, text: str, title: str | None, *, now: datetime, zone: tzinfo, folder: str = FOLDER
) -> NotePlan:
    """Add an entry to the log of the day that it is for the user. The same entry of the same minute is not added twice.

    Parameters: `text`, which `clean` has gone over; `title`, one line; `now`, aware; `folder`, that of the notes
    relative to the root of the draft's store, which has the day's document loaded (`note_path`).

    Raises: `Refused` when the entry would not be read back; then drop the draft.
    """
    local = now.astimezone(zone)
    path = note_path(local.date(), folder)
    arguments = {"time": f"{local:%H:%M}", "title": title or "", "text": text, "day": local.date().isoformat()}
    changed = draft.apply(Operation(path, "append", arguments))
    entry = _entry(draft.document(path), arguments)
    if entry is None:
        raise Refused("text", "it would be read back as something else; use plain paragraphs")
    line = entry.start_line + bool(entry.text) + draft.document(path).body_start - 1
    return NotePlan(f"{path}#L{line}", changed)


def _append(body: str, arguments: Mapping[str, Any], newline: str) -> str:
    when = time.fromisoformat(arguments["time"])
    try:
        return append_note(body, when, arguments["title"], arguments["text"], day=arguments["day"], newline=newline)
    except UnwritableValueError:
        # Planned on another text than a person has made of it since: the words are what must not be lost.
        return append_plain(body, arguments["text"], newline)


class NoteFormat(PlainFormat):
    """How a note is read, added to and written: entries are changes of its text, lines of the log additions to it."""

    def apply(self, document: MarkdownDocument, operation: Operation) -> MarkdownDocument:
        if operation.kind == LOG:
            return day_log.added(document, operation.arguments)
        return super().apply(document, operation)


LOG = "log"
"""Kind of the operation that adds what was said."""

FORMAT = NoteFormat({"append": _append}, {})


def plan_log(
    draft: Draft, messages: Sequence[Message], *, zone: tzinfo, language: Language, folder: str = FOLDER
) -> list[str]:
    """Add messages and tool results to the notes of their days, a line each; gives the notes that are full.

    Parameters: `messages`, whose times are aware; `zone`, the user's; `folder`, that of the notes, whose documents of
    these days (`days_of`) the draft has loaded, as far as they can be read.
    """
    full = []
    for path, said in days_of(messages, zone, folder).items():
        day = said[0].time.astimezone(zone).date().isoformat()
        arguments = {"messages": list(map(arguments_of, said)), "day": day, "language": language}
        if day_log.would_hold(draft.document(path), said) > MAX_BYTES:
            full.append(path)
        else:
            draft.apply(Operation(path, LOG, arguments))
    return full


def days_of(messages: Iterable[Message], zone: tzinfo, folder: str = FOLDER) -> dict[str, list[Message]]:
    """Give messages by the note of the day that each was said on for the user."""
    found: dict[str, list[Message]] = {}
    for message in messages:
        found.setdefault(note_path(message.time.astimezone(zone).date(), folder), []).append(message)
    return found


def notes_in(document: MarkdownDocument) -> tuple[NoteEntry, ...]:
    """Read the entries of a note, once. Of one that is too long to be parsed at once there are none."""
    own = day_log.own_text(document)
    if len(own) > MAX_PARSED_CHARS:
        return ()
    return document.once("notes", lambda: parse_notes(own, _outline(document)))


def blocks(document: MarkdownDocument, zone: tzinfo, prefix: str = "") -> list[Block]:
    """Give the items and paragraphs of a note as addressable pieces, with the title of their entry as section.

    Their time is that of their entry; outside of entries it is the end of the day. Lines that tell what was said are
    pieces with a role. Parameters: `zone`, the user's time zone; `prefix`, what stands before the path in addresses,
    such as `workspace/main/`.
    """
    said = day_log.blocks(document, day_of_note(document.path), zone, prefix)
    own = pieces(document, zone, prefix)
    return sorted([*own, *said], key=lambda block: block.start_line) if said else own


def pieces(document: MarkdownDocument, zone: tzinfo, prefix: str = "") -> list[Block]:
    """Give the same without the lines that tell what was said: what a note says itself."""
    day = day_of_note(document.path)
    entries = notes_in(document)
    starts = [entry.start_line for entry in entries]
    offset = document.body_start - 1
    last = None if day is None else _moment(day, time.max, zone)
    found = []
    for piece in _pieces(document, entries):
        at = bisect_right(starts, piece.start_line - offset) - 1
        inside = at >= 0 and piece.start_line - offset <= entries[at].end_line
        when, section = last, piece.section
        if inside:
            section = entries[at].title or None
            when = None if day is None else _moment(day, entries[at].time, zone)
        found.append(
            piece._replace(key=f"{prefix}{piece.key}", path=f"{prefix}{piece.path}", time=told(when), section=section)
        )
    return found


def _moment(day: date, at: time, zone: tzinfo) -> datetime | None:
    try:
        return datetime.combine(day, at, zone)
    except OverflowError:
        return None


def _pieces(document: MarkdownDocument, entries: Iterable[NoteEntry]) -> list[Block]:
    """Cut a note into items, paragraphs, and headings of entries that have no text, in the order of the file."""
    said = [line.line for line in day_log.lines_of(document)]
    if len(day_log.own_text(document)) > MAX_PARSED_CHARS:
        return free_text(document, "note", time=None, taken=frozenset(said))
    found = _outline(document)
    offset = document.body_start - 1
    whole = [(entry.start_line, entry.end_line, entry.title) for entry in entries if entry.title and not entry.text]
    whole += [
        (item.start_line, item.end_line, item.text) for section in found.sections for item in section.items if item.text
    ]
    taken = {*said, *(line for start, end, _ in whole for line in range(start, end + 1))}
    whole_pieces = [
        Block(
            key=f"{document.path}#L{offset + start}",
            layer="note",
            path=document.path,
            start_line=offset + start,
            end_line=offset + end,
            text=text,
            time=None,
            section=None,
            tags=tags_of(document.front),
        )
        for start, end, text in whole
    ]
    rest = free_text(document, "note", time=None, taken=taken)
    return sorted(whole_pieces + rest, key=lambda piece: piece.start_line)


def _outline(document: MarkdownDocument) -> Outline:
    """Read what a document is made of, once."""
    return document.once("outline", lambda: outline(day_log.own_text(document)))


def _entry(document: MarkdownDocument, arguments: Mapping[str, Any]) -> NoteEntry | None:
    """Find the entry that an operation has added."""
    return find_note(document.body, time.fromisoformat(arguments["time"]), arguments["title"], arguments["text"])
