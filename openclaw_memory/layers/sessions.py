"""Sessions: the messages of one session, a line each, only ever added to (seed 003 section 26.2).

Files of the real OpenClaw are read and never written: it keeps a tree in them that another writer would cut off.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Any

from openclaw_memory.errors import Refused, UnreadableDocumentError
from openclaw_memory.layers.cutting import CUT, mark
from openclaw_memory.layers.documents import told
from openclaw_memory.markdown.messages import Message
from openclaw_memory.retrieval.blocks import Block
from openclaw_memory.storage.documents import Document, Draft
from openclaw_memory.storage.operations import Operation
from openclaw_memory.transcripts.branch import current_branch
from openclaw_memory.transcripts.entries import is_others
from openclaw_memory.transcripts.ids import session_of, session_path
from openclaw_memory.transcripts.lines import Line, joined, read_line, split
from openclaw_memory.transcripts.values import SessionMessage, ToolCall, Transcript
from openclaw_memory.transcripts.writing import format_line

FOLDER = "agents"
MAX_BYTES = 52_428_800
"""Largest file that is held as a document, in bytes; of a larger one `TAIL_BYTES` are read."""

TAIL_BYTES = 4_194_304
"""How much of the end of a file that is too large tells the history of its session."""


@dataclass(frozen=True, slots=True)
class SessionDocument(Document):
    """A session's file. The `raw` of all lines together are the file."""

    lines: tuple[Line, ...] = ()
    places: dict[str, int] = field(default_factory=dict, compare=False, repr=False)
    """Index of each line by the id that it names. Versions that only add share this table; see `has`."""
    _read: dict[bool, Transcript] = field(default_factory=dict, init=False, compare=False, repr=False)

    @property
    def data(self) -> bytes:
        """The whole file."""
        return b"".join(line.raw for line in self.lines)

    def has(self, message_id: str) -> bool:
        """Tell whether a message is in the file already."""
        place = self.places.get(message_id, len(self.lines))
        return place < len(self.lines) and _named(self.lines[place]) == message_id

    def transcript(self, *, compacted: bool = True) -> Transcript:
        """Read the current branch, once; `compacted` as in `current_branch`."""
        if compacted not in self._read:
            self._read[compacted] = current_branch(reversed(self.lines), compacted=compacted)
        return self._read[compacted]


class SessionFormat:
    """How a session's file is read, added to and written; every byte that is there stays."""

    def new(self, path: str) -> SessionDocument:
        return SessionDocument(path)

    def parse(self, path: str, data: bytes) -> SessionDocument:
        if len(data) > MAX_BYTES:
            problem = f"{len(data):,} bytes, at most {MAX_BYTES:,} are held at once; its newest part is read"
            raise UnreadableDocumentError(path, problem, is_whole=True)
        return _document(path, split(data))

    def apply(self, document: SessionDocument, operation: Operation) -> SessionDocument:
        if operation.kind == CUT:
            return _without(document, operation.arguments)
        items = [item for item in operation.arguments["messages"] if not document.has(item["id"])]
        if not items or any(map(is_others, document.lines[:1])):
            # Its files begin with a line of their own kind. What the real OpenClaw began meanwhile is its own; the
            # message is in the file of its day.
            return document
        lines = list(document.lines)
        if lines and lines[-1].torn:
            lines[-1] = replace(lines[-1], raw=lines[-1].raw + b"\n")
        offset = lines[-1].offset + len(lines[-1].raw) if lines else 0
        for item in items:
            line = read_line(offset, format_line(_message(item)))
            document.places[item["id"]] = len(lines)
            lines.append(line)
            offset += len(line.raw)
        return SessionDocument(document.path, tuple(lines), document.places)

    def joined(self, operations: Sequence[Operation]) -> Sequence[Operation]:
        return operations

    def collision(self, document: SessionDocument, operation: Operation) -> None:
        return None

    def render(self, document: SessionDocument) -> tuple[bytes, SessionDocument]:
        return document.data, document

    def flushed(self, document: SessionDocument, rendered: SessionDocument) -> SessionDocument:
        return document

    def fits(self, document: SessionDocument) -> None:
        # There is no checksum in the file that its bytes could fit.
        return None

    def salvage(self, path: str, data: bytes) -> SessionDocument:
        return _document(path, split(data[-MAX_BYTES:]))

    def version(self, document: SessionDocument) -> None:
        # As with notes: the file names none.
        return None


FORMAT = SessionFormat()


def path_of(agent_id: str, session_id: str) -> str:
    """Give the file of a session, relative to the root. Raises: `Refused` with the field `agentId` or `sessionId`."""
    return session_path(agent_id, session_id)


def plan_session(draft: Draft, path: str, messages: Sequence[Message | SessionMessage]) -> list[str]:
    """Add messages to a session's file, in order; gives their keys. One whose id is there already is not added again.

    Raises: `Refused` when the file is the real OpenClaw's own.
    """
    document: SessionDocument = draft.document(path)
    if has_others(document):
        raise Refused(
            "sessionId", f"{path} is written by OpenClaw itself, and only read here; give the session another id"
        )
    draft.apply(Operation(path, "append", {"messages": [_arguments(message) for message in messages]}))
    return [f"{path}#{message.id}" for message in messages]


def appended(tail: bytes, messages: Sequence[SessionMessage]) -> bytes:
    """Give the bytes to put behind a file that ends with `tail`: for a file that is too large to be held."""
    return joined(tail, b"".join(format_line(message) for message in messages))


def messages_of(document: SessionDocument) -> tuple[SessionMessage, ...]:
    """Give the session as its context holds it: the current branch, summaries in place of what they stand for."""
    return document.transcript().messages


def has_others(document: SessionDocument) -> bool:
    """Tell whether the real OpenClaw writes this file."""
    return any(is_others(line) for line in document.lines)


def problems_of(document: SessionDocument) -> tuple[str, ...]:
    """Tell which lines could not be understood; they are kept as they are."""
    numbers = {line.offset: number for number, line in enumerate(document.lines, start=1)}
    found = document.transcript(compacted=False).problems
    return tuple(f"{document.path} line {numbers.get(problem.offset, 0)}: {problem.reason}" for problem in found)


def blocks(
    document: SessionDocument, *, visibility: str = "private", since: int = 0, compacted: bool = False
) -> list[Block]:
    """Give what was said on the current branch as addressable pieces, also what a compaction has summed up.

    Parameters: `visibility`, that of lines which do not name theirs; `since`, the number of lines to pass over, of a
    file that has nothing but lines of ours; `compacted`, whether summaries come in place of what they stand for. Their
    session is the one that the file is named after: the ids within the real OpenClaw's headers are the same.
    """
    session = session_of(document.path)
    part = replace(document, lines=document.lines[since:]) if since else document
    numbers = _line_numbers(part, since + 1)
    return [
        Block(
            key=f"{document.path}#{message.id}",
            layer="conversation",
            path=document.path,
            start_line=(number := numbers.get(message.id, numbers.get(message.id.partition(".")[0], 1))),
            end_line=number,
            text=text,
            time=None if message.time is None else told(message.time),
            session=session,
            role=message.role,
            visibility=message.visibility or visibility,
            important=message.important,
            name=message.name,
            origin=message.origin,
        )
        for message in part.transcript(compacted=compacted).messages
        if (text := searchable(message))
    ]


def added_since(before: SessionDocument, after: SessionDocument) -> int:
    """Count the lines at the beginning that both have, of a file that was only added to by us; else 0."""
    lines = len(before.lines)
    if before.places is not after.places or not lines or len(after.lines) < lines:
        return 0
    return lines if before.lines[-1] is after.lines[lines - 1] else 0


def searchable(message: SessionMessage) -> str:
    """Give what recall sees of a message: its text, and the calls that it makes."""
    calls = [f"{call.name}({call.arguments})" for call in message.calls]
    return "\n".join(part for part in [message.text, *calls] if part.strip())


def _line_numbers(document: SessionDocument, first: int) -> dict[str, int]:
    numbers: dict[str, int] = {}
    for number, line in enumerate(document.lines, start=first):
        numbers[_named(line) or f"b{line.offset}"] = number
    return numbers


def _document(path: str, lines: Sequence[Line]) -> SessionDocument:
    places = {name: place for place, line in enumerate(lines) if (name := _named(line)) is not None}
    return SessionDocument(path, tuple(lines), places)


def tail_of(path: str, data: bytes) -> SessionDocument:
    """Read the end of a file; its first line is left out, since it may be the rest of one."""
    return _document(path, split(data.partition(b"\n")[2]))


def mark_of(line: Line, salt: str) -> str:
    """Name a line for a `cut`, without telling what it says."""
    return mark(salt, line.raw.strip().decode("utf-8", "surrogateescape"))


def _without(document: SessionDocument, arguments: Mapping[str, Any]) -> SessionDocument:
    """Give a document without the lines that a `cut` names, or with other lines in their places."""
    others: dict[str, str | None] = dict(arguments["lines"])
    raws, changed = [], False
    for line in document.lines:
        name = mark_of(line, arguments["salt"]) if line.raw.strip() else ""
        if name not in others:
            raws.append(line.raw)
            continue
        changed = True
        if (other := others[name]) is not None:
            raws.append(other.encode() + b"\n")
    return _document(document.path, split(b"".join(raws))) if changed else document


def _named(line: Line) -> str | None:
    """Give the id that a line names."""
    given = None if line.value is None else line.value.get("id")
    return given if isinstance(given, str) and given else None


def _arguments(message: Message | SessionMessage) -> dict[str, Any]:
    if isinstance(message, Message):
        message = SessionMessage(
            message.id,
            message.role,
            message.content,
            message.time,
            message.name,
            origin=message.origin,
            important=message.important,
            visibility=message.visibility,
        )
    return {
        "id": message.id,
        "role": message.role,
        "text": message.text,
        "time": None if message.time is None else message.time.isoformat(),
        "name": message.name,
        "calls": [[call.id, call.name, call.arguments] for call in message.calls],
        "call_id": message.call_id,
        "origin": message.origin,
        "important": message.important,
        "visibility": message.visibility,
    }


def _message(item: dict[str, Any]) -> SessionMessage:
    time = None if item["time"] is None else datetime.fromisoformat(item["time"])
    calls = tuple(ToolCall(*call) for call in item["calls"])
    return SessionMessage(**{**item, "time": time, "calls": calls})
