"""HISTORY.md: everything that was said and every tool's result, a line each, only ever added to (seed 004 section 2.1).

Each line stands by itself, with its time, so that `grep` is enough to look something up. Lines of other programs, such
as `[2026-02-15 10:00] text` over several lines, are read as well.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime, tzinfo
from typing import Any

from openclaw_memory.layers.cutting import CUT, cut_lines
from openclaw_memory.layers.documents import told
from openclaw_memory.layers.plain import checked_text, encoded
from openclaw_memory.markdown.history_lines import HistoryEntry, format_entry, parse_history
from openclaw_memory.markdown.messages import Message
from openclaw_memory.markdown.text import clean, decode, newline_of
from openclaw_memory.retrieval.blocks import Block
from openclaw_memory.storage.documents import Document, Draft
from openclaw_memory.storage.operations import Operation

NAME = "HISTORY.md"
PATH = f"memory/{NAME}"
MAX_BYTES = 52_428_800
"""Largest history that is read, in bytes."""


@dataclass(frozen=True, slots=True)
class HistoryDocument(Document):
    """A history. `preamble` and the `raw` of all entries together are the file."""

    preamble: str = ""
    entries: tuple[HistoryEntry, ...] = ()
    newline: str = "\n"
    encoding: str = "utf-8"
    places: dict[str, int] = field(default_factory=dict, compare=False, repr=False)
    """Index of each entry by id. Versions that only add share this table; what lies beyond a version's own end is not
    its own, see `has`."""

    @property
    def text(self) -> str:
        """The whole file."""
        return self.preamble + "".join(entry.raw for entry in self.entries)

    def has(self, entry_id: str) -> bool:
        """Tell whether an entry is in the file already."""
        place = self.places.get(entry_id, len(self.entries))
        return place < len(self.entries) and self.entries[place].id == entry_id


class HistoryFormat:
    """How a history is read, added to and written. An entry with a known id is there already."""

    def new(self, path: str) -> HistoryDocument:
        return HistoryDocument(path)

    def parse(self, path: str, data: bytes) -> HistoryDocument:
        return _parsed(path, *checked_text(path, data, MAX_BYTES))

    def apply(self, document: HistoryDocument, operation: Operation) -> HistoryDocument:
        if operation.kind == CUT:
            text = document.text
            left = cut_lines(text, operation.arguments["cuts"], operation.arguments["salt"])
            return document if left == text else _parsed(document.path, left, document.encoding)
        if operation.kind == "take_in":
            return _adopted(document, operation.arguments["entries"])
        if operation.kind == "take_out":
            return _without(document, operation.arguments["entries"])
        items = [item for item in operation.arguments["messages"] if not document.has(item["id"])]
        if not items:
            return document
        document = _closed(document)
        line = document.text.count("\n") + 1 if not document.entries else document.entries[-1].end_line + 1
        entries = list(document.entries)
        for item in items:
            raw = format_entry(message_of(item), document.newline)
            new = replace(parse_history(raw)[1][0], start_line=line, end_line=line)
            document.places[new.id] = len(entries)
            entries.append(new)
            line += 1
        return replace(document, entries=tuple(entries))

    def joined(self, operations: Sequence[Operation]) -> Sequence[Operation]:
        return operations

    def collision(self, document: HistoryDocument, operation: Operation) -> None:
        return None

    def render(self, document: HistoryDocument) -> tuple[bytes, HistoryDocument]:
        data, encoding = encoded(document.text, document.encoding)
        return data, document if encoding == document.encoding else replace(document, encoding=encoding)

    def flushed(self, document: HistoryDocument, rendered: HistoryDocument) -> HistoryDocument:
        return document if document.encoding == rendered.encoding else replace(document, encoding=rendered.encoding)

    def fits(self, document: HistoryDocument) -> None:
        # There is no checksum in the file that its bytes could fit.
        return None

    def salvage(self, path: str, data: bytes) -> HistoryDocument:
        return _parsed(path, clean(decode(data[:MAX_BYTES]).text)[0], "utf-8")

    def version(self, document: HistoryDocument) -> None:
        # As with notes: the file names none.
        return None


FORMAT = HistoryFormat()


def plan_move(draft: Draft, source: str, target: str, entries: Sequence[HistoryEntry]) -> None:
    """Move entries into another history, word for word, in one record.

    An entry that the other one holds already is only taken out here: an editor may have saved an old view of the file.
    """
    there: HistoryDocument = draft.document(target)
    new = [[entry.id, entry.raw] for entry in entries if not there.has(entry.id)]
    if new:
        draft.apply(Operation(target, "take_in", {"entries": new}))
    draft.apply(Operation(source, "take_out", {"entries": [[entry.id, digest(entry.raw)] for entry in entries]}))


def digest(raw: str) -> str:
    """Give what tells whether an entry says the same as before."""
    return hashlib.sha256(raw.strip().encode("utf-8", "replace")).hexdigest()[:16]


def plan_history(draft: Draft, messages: Sequence[Message], path: str = PATH) -> list[str]:
    """Add messages and tool results at the end, in order; gives their keys.

    Parameters: `messages`, whose times are aware, in the user's zone; `path`, a document of the draft.
    """
    draft.apply(Operation(path, "append", {"messages": list(map(arguments_of, messages))}))
    return [f"{path}#{message.id}" for message in messages]


def blocks(document: HistoryDocument, zone: tzinfo, since: int = 0, prefix: str = "") -> list[Block]:
    """Give the entries as addressable pieces, from the `since`-th on.

    Parameters: `zone`, the user's time zone, that of times without an offset; `prefix`, what stands before the path in
    addresses, such as `workspace/main/`. What stands before the first entry is a piece as well.
    """
    path = f"{prefix}{document.path}"
    pieces = []
    if not since and document.preamble.strip():
        lines = document.preamble.count("\n") + (not document.preamble.endswith("\n"))
        pieces.append(Block(f"{path}#L1", "history", path, 1, lines, document.preamble.strip(), None))
    pieces += [
        Block(
            key=f"{path}#{entry.id}",
            layer="history",
            path=path,
            start_line=entry.start_line,
            end_line=entry.end_line,
            text=entry.text,
            time=_moment(entry.time, zone),
            session=entry.session,
            role=entry.role,
            visibility=entry.visibility or "private",
        )
        for entry in document.entries[since:]
    ]
    return pieces


def added_since(before: HistoryDocument, after: HistoryDocument) -> int:
    """Count the entries at the beginning that both have, of a history that was only added to by us; else 0."""
    count = len(before.entries)
    if before.places is not after.places or not count or len(after.entries) < count:
        return 0
    same = before.entries[-1] is after.entries[count - 1] and before.preamble == after.preamble
    return count if same else 0


def arguments_of(message: Message) -> dict[str, Any]:
    """Give a message as an operation carries it."""
    given = {
        "id": message.id,
        "session": message.session,
        "role": message.role,
        "time": message.time.isoformat(),
        "content": message.content,
        "name": message.name,
        "origin": message.origin,
        "visibility": message.visibility,
    }
    return {name: value for name, value in given.items() if value is not None}


def message_of(arguments: Mapping[str, Any]) -> Message:
    """Undo `arguments_of`."""
    return Message(**{**arguments, "time": datetime.fromisoformat(arguments["time"])})


def _adopted(document: HistoryDocument, given: Sequence[Sequence[str]]) -> HistoryDocument:
    """Add entries as they are written elsewhere; those with a known id are there already."""
    new = [(name, raw) for name, raw in given if not document.has(name)]
    if not new:
        return document
    document = _closed(document)
    line = document.entries[-1].end_line + 1 if document.entries else document.text.count("\n") + 1
    entries = list(document.entries)
    for name, raw in new:
        closed = raw if raw.endswith("\n") else raw + document.newline
        count = closed.count("\n")
        document.places[name] = len(entries)
        entries.append(replace(parse_history(closed)[1][0], id=name, start_line=line, end_line=line + count - 1))
        line += count
    return replace(document, entries=tuple(entries))


def _without(document: HistoryDocument, given: Sequence[Sequence[str]]) -> HistoryDocument:
    """Take entries out, those that still say the same."""
    gone = {entry[0]: entry[1] for entry in given}
    kept = [entry for entry in document.entries if entry.id not in gone or digest(entry.raw) != gone[entry.id]]
    if len(kept) == len(document.entries):
        return document
    line = document.preamble.count("\n") + 1
    for place, entry in enumerate(kept):
        count = entry.raw.count("\n") + (not entry.raw.endswith("\n"))
        if entry.start_line != line:
            kept[place] = replace(entry, start_line=line, end_line=line + count - 1)
        line += count
    places = {entry.id: place for place, entry in enumerate(kept)}
    return replace(document, entries=tuple(kept), places=places)


def _moment(time: datetime | None, zone: tzinfo) -> datetime | None:
    if time is None:
        return None
    return told(time if time.utcoffset() is not None else time.replace(tzinfo=zone))


def _parsed(path: str, text: str, encoding: str) -> HistoryDocument:
    preamble, entries = parse_history(text)
    places = {entry.id: place for place, entry in enumerate(entries)}
    return HistoryDocument(path, preamble, entries, newline_of(text), encoding, places)


def _closed(document: HistoryDocument) -> HistoryDocument:
    """Give the last line an end, so that what is added begins a line of its own."""
    if document.entries:
        last = document.entries[-1]
        if last.raw.endswith("\n"):
            return document
        closed = replace(last, raw=last.raw + document.newline)
        return replace(document, entries=(*document.entries[:-1], closed))
    if not document.preamble or document.preamble.endswith("\n"):
        return document
    return replace(document, preamble=document.preamble + document.newline)
