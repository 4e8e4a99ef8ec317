"""Files whose lines tell what was said: sessions, HISTORY.md, logs of days. They may be long, and are mostly added to.

A line that is a message of its day as well is found as that.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import tzinfo
from typing import Any

from openclaw_memory.context.visibility import kind_of
from openclaw_memory.layers import conversations, day_log, history, history_shards, notes, sessions
from openclaw_memory.layers.documents import MarkdownDocument
from openclaw_memory.layers.history import HistoryDocument
from openclaw_memory.layers.rooms import room_of
from openclaw_memory.layers.sessions import SessionDocument
from openclaw_memory.retrieval.blocks import Block
from openclaw_memory.retrieval.index import Index
from openclaw_memory.transcripts.ids import session_of

TellsLines = SessionDocument | HistoryDocument | MarkdownDocument


def tells_lines(document: Any) -> bool:
    """Tell whether a document is one of these; a note only where it holds lines that tell what was said."""
    return isinstance(document, SessionDocument | HistoryDocument) or is_log(document)


def is_log(document: Any) -> bool:
    """Tell whether a note holds lines that tell what was said."""
    return isinstance(document, MarkdownDocument) and bool(day_log.lines_of(document))


def added_since(before: Any, after: Any) -> int:
    """Give the place from which lines were added to what was there before; 0 where the file changed otherwise."""
    if isinstance(before, SessionDocument) and isinstance(after, SessionDocument):
        return sessions.added_since(before, after)
    if isinstance(before, HistoryDocument) and isinstance(after, HistoryDocument):
        return history.added_since(before, after)
    if isinstance(before, MarkdownDocument) and isinstance(after, MarkdownDocument):
        return day_log.added_since(before, after)
    return 0


def visibility_of(session_file: str) -> str:
    """Give who may see the lines of a session's file that do not say it: a group's were said to the group."""
    return "group" if kind_of(session_of(session_file), "primary") == "group" else "private"


def pieces_of(document: TellsLines, index: Index, zone: tzinfo, since: int = 0) -> list[Block]:
    """Give the pieces of a document, from a place on, that are not found elsewhere already."""
    if isinstance(document, MarkdownDocument):
        return _of_log(document, index, zone, since)
    if isinstance(document, HistoryDocument):
        blocks = history.blocks(document, zone, since)
    else:
        blocks = sessions.blocks(document, visibility=visibility_of(document.path), since=since)
    return _left(blocks, as_messages(blocks, index, zone), index, since)


def _of_log(document: MarkdownDocument, index: Index, zone: tzinfo, since: int) -> list[Block]:
    """Give the pieces of a day's log: what is noted there, and what was said and is found nowhere else so."""
    if since:
        said = day_log.blocks(document, notes.day_of_note(document.path), zone, since=since)
        noted: list[Block] = []
    else:
        blocks = room_of(document.path).blocks(document, zone)
        noted, said = ([block for block in blocks if (block.role is None) is own] for own in (True, False))
    known = as_messages(said, index, zone) | _in_history(said, index)
    return sorted([*noted, *_left(said, known, index, since)], key=lambda block: block.start_line)


def _left(blocks: Sequence[Block], known: Mapping[str, str], index: Index, since: int) -> list[Block]:
    """Leave out what is found elsewhere. What we have just added says the same there; a whole file may be edited."""

    def same(block: Block) -> bool:
        return any(other.text.strip() == block.text.strip() for other in index.find(known[block.key]))

    return [block for block in blocks if block.key not in known or not (since or same(block))]


def as_messages(blocks: Sequence[Block], index: Index, zone: tzinfo) -> dict[str, str]:
    """Give, by its own address, the one that a line has as a message of its day, where it is found as that."""
    keys = {block.key: key for block in blocks if (key := as_message(block, zone)) is not None}
    known = index.paths_holding(keys.values())
    return {line: key for line, key in keys.items() if key in known}


def as_message(block: Block, zone: tzinfo) -> str | None:
    """Give the address that a line has as a message of its day, if it is one."""
    if block.time is None:
        return None
    return f"{conversations.day_path(block.time, zone)}#{block.key.rpartition('#')[2]}"


def _in_history(blocks: Sequence[Block], index: Index) -> dict[str, str]:
    """Give, by its own address, the one that a line of a log is found by in HISTORY.md, or in one of its months."""
    keys: dict[str, str] = {}
    for block in blocks:
        whole = f"{block.path.rpartition('/')[0]}/{history.NAME}"
        day, name = notes.day_of_note(block.path), block.key.rpartition("#")[2]
        places = [whole, *([history_shards.shard_path(whole, day)] if day is not None else [])]
        keys |= {f"{place}#{name}": block.key for place in places}
    found = index.paths_holding(keys)
    return {keys[key]: key for key in found}
