"""What was said, as a day's note tells it beside what a person or the agent noted there (seed 004 section 2.1)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import date, datetime, time, tzinfo
from typing import Any

from openclaw_memory.layers.documents import MarkdownDocument, told
from openclaw_memory.layers.history import message_of
from openclaw_memory.markdown.log_lines import LogLine, log_to_add, parse_log, without_log
from openclaw_memory.markdown.messages import Message
from openclaw_memory.retrieval.blocks import Block

_BYTES_A_CHARACTER = 4
_BESIDE_THE_TEXT = 500
"""Bytes that a line takes beside its text, at most, but for a long name."""
_FAR_FROM_FULL = 1_000_000
"""Characters up to which nobody asks for the exact size of a note."""

_OF_WHAT_IS_NOTED = ("outline", "notes", "noted", "loaded")
"""What is parsed of a note and rests on its own text alone."""


@dataclass(frozen=True, slots=True)
class Log:
    """What a note tells of what was said. `own` is its text with these lines left blank.

    `places` is the place of each line by its id. Notes that only such lines were added to share this table; what lies
    beyond a note's own end is not its own, see `has`.
    """

    lines: tuple[LogLine, ...]
    places: dict[str, int]
    own: str
    newline: str

    def has(self, message_id: str) -> bool:
        """Tell whether a message has its line."""
        place = self.places.get(message_id, len(self.lines))
        return place < len(self.lines) and self.lines[place].id == message_id


def log_of(document: MarkdownDocument) -> Log:
    """Read the lines of a note that tell what was said, once."""
    return document.once("log", lambda: _read(document))


def lines_of(document: MarkdownDocument) -> tuple[LogLine, ...]:
    """Give the lines of a note that tell what was said, in the order of the file."""
    return log_of(document).lines


def own_text(document: MarkdownDocument) -> str:
    """Give the text of a note with these lines left blank."""
    return log_of(document).own


def added(document: MarkdownDocument, arguments: Mapping[str, Any]) -> MarkdownDocument:
    """Do the operation `log`: a line for each message that has none yet; the same document where all have one."""
    log = log_of(document)
    new = [message_of(given) for given in arguments["messages"] if not log.has(given["id"])]
    if not new:
        return document
    body = document.body
    more, alone = log_to_add(
        body, log.own, new, day=arguments["day"], language=arguments["language"], newline=log.newline
    )
    after = replace(document, front=replace(document.front, body=body + more))
    if alone:
        # A note that thousands of lines were added to, one by one, is not read anew each time.
        after.keep(document, _OF_WHAT_IS_NOTED, {"log": _with(log, more, body)})
    return after


def would_hold(document: MarkdownDocument, messages: Sequence[Message]) -> int:
    """Give how many bytes a note would have with these messages, or a little more."""
    more = sum(len(message.content.encode()) + len(message.name or "") * 8 + _BESIDE_THE_TEXT for message in messages)
    front = document.front
    held = len(front.head) + len(front.body)
    return more + (held * _BYTES_A_CHARACTER if held <= _FAR_FROM_FULL else len(front.text.encode()))


def _read(document: MarkdownDocument) -> Log:
    lines = parse_log(document.body)
    places = {line.id: place for place, line in enumerate(lines)}
    return Log(lines, places, without_log(document.body), document.newline)


def _with(log: Log, more: str, body: str) -> Log:
    """Add lines to what was read of a note whose text, `body`, ends with one, and is longer by `more` now."""
    before = log.lines[-1].line - (not body.endswith("\n"))
    lines = [replace(line, line=line.line + before) for line in parse_log(more)]
    for place, line in enumerate(lines, start=len(log.lines)):
        log.places[line.id] = place
    return Log((*log.lines, *lines), log.places, log.own + without_log(more), log.newline)


def added_since(before: MarkdownDocument, after: MarkdownDocument) -> int:
    """Count the lines that a note had before nothing but such lines was added to it; 0 where anything else happened."""
    count, body = len(lines_of(before)), after.body
    if not count or before.front.head != after.front.head or not body.startswith(before.body):
        return 0
    return 0 if without_log(body[len(before.body) :]).strip() else count


def blocks(document: MarkdownDocument, day: date | None, zone: tzinfo, prefix: str = "", since: int = 0) -> list[Block]:
    """Give these lines as addressable pieces, from the `since`-th on: each with the role of who said it.

    Parameters: as those of `block_of`.
    """
    return [block_of(document, line, day, zone, prefix) for line in lines_of(document)[since:]]


def block_of(document: MarkdownDocument, line: LogLine, day: date | None, zone: tzinfo, prefix: str = "") -> Block:
    """Give one of these lines as a piece.

    Parameters: `day` of the note, and `zone`, the user's time zone, for a line that does not tell its time exactly;
    `prefix`, what stands before the path in addresses.
    """
    path, number = f"{prefix}{document.path}", document.body_start - 1 + line.line
    return Block(
        key=f"{path}#{line.id}",
        layer="note",
        path=path,
        start_line=number,
        end_line=number,
        text=line.text,
        time=told(line.time or _moment(day, line.clock, zone)),
        session=line.session,
        role=line.role or "user",
        visibility=line.visibility or "private",
        name=line.name,
        origin=line.origin,
    )


def _moment(day: date | None, clock: str, zone: tzinfo) -> datetime | None:
    try:
        return None if day is None else datetime.combine(day, time.fromisoformat(clock), zone)
    except (ValueError, OverflowError):
        # A person may write 25:00, or a year that no time zone reaches.
        return None
