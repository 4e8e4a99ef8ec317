"""Conversations: what was said, a file a day (seed 000 section 2.1)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from datetime import datetime, tzinfo
from itertools import chain, groupby
from typing import NamedTuple

from contracts import MessageContent
from openclaw_memory.layers import day_files
from openclaw_memory.layers.cutting import CUT
from openclaw_memory.layers.day_files import ConversationDocument, Spoken
from openclaw_memory.layers.documents import cut_front, fits, read_text, tags_of, told, version_of, written
from openclaw_memory.layers.parts import FOLDER, day_of
from openclaw_memory.markdown.frontmatter import FrontMatter, split
from openclaw_memory.markdown.message_header import Language
from openclaw_memory.markdown.messages import Message, MessageFile, parse_messages
from openclaw_memory.markdown.text import clean, decode, encode, newline_of
from openclaw_memory.retrieval.blocks import Block
from openclaw_memory.storage.operations import Operation

APPEND = "append"
"""Kind of the operation that adds messages at the end."""


class ConversationFormat:
    """How a day's file is read, appended to and written."""

    def new(self, path: str) -> ConversationDocument:
        return ConversationDocument(path, split(""), MessageFile("", ()))

    def parse(self, path: str, data: bytes) -> ConversationDocument:
        return _parsed(path, *read_text(path, data))

    def fits(self, document: ConversationDocument) -> bool | None:
        return fits(document.front, _body(document), document.encoding)

    def salvage(self, path: str, data: bytes) -> ConversationDocument:
        return _parsed(path, clean(decode(data).text)[0], "utf-8")

    def apply(self, document: ConversationDocument, operation: Operation) -> ConversationDocument:
        arguments = operation.arguments
        at = arguments["at"]
        if operation.kind == CUT:
            front = cut_front(replace(document.front, body=document.file.preamble), arguments)
            return day_files.headed(document, replace(front, body=""), front.body, at)
        match operation.kind:
            case "adopt":
                return day_files.adopt(document, arguments["text"], arguments["tags"], at)
            case "take_out":
                return day_files.take_out(document, arguments["messages"], at)
            case "amend":
                return day_files.amend(document, arguments["changes"], at)
        return day_files.append(document, day_files.spoken(arguments["messages"]), arguments["language"], at)

    def joined(self, operations: Sequence[Operation]) -> Sequence[Operation]:
        # Each version of a document has a table of all its blocks: a hundred messages cost one, not a hundred.
        joined: list[Operation] = []
        for (path, kind, language), group in groupby(operations, _what):
            several = list(group)
            if kind == APPEND and len(several) > 1:
                said = Spoken(chain.from_iterable(day_files.spoken(one.arguments["messages"]) for one in several))
                several = [append_of(path, said, several[-1].arguments["at"], language)]
            joined += several
        return joined

    def collision(self, document: ConversationDocument, operation: Operation) -> str | None:
        return day_files.amend_collision(document, operation.arguments) if operation.kind == "amend" else None

    def render(self, document: ConversationDocument) -> tuple[bytes, ConversationDocument]:
        def made(front: FrontMatter, encoding: str) -> ConversationDocument:
            return replace(document, front=replace(front, body=""), encoding=encoding, changed_at=None)

        counts = {"message_count": len(document.file.blocks)}
        front = replace(document.front, body=_body(document))
        return written(front, "conversation", document.changed_at, document.encoding, counts, made)

    def flushed(self, document: ConversationDocument, rendered: ConversationDocument) -> ConversationDocument:
        changed_at = None if document.file is rendered.file else document.changed_at
        return replace(document, front=rendered.front, encoding=rendered.encoding, changed_at=changed_at)

    def version(self, document: ConversationDocument) -> str | None:
        return version_of(document.front)


def append_of(path: str, messages: Spoken, at: str, language: Language) -> Operation:
    """Give the operation that adds messages at the end of a day's file."""
    return Operation(path, APPEND, {"messages": messages, "at": at, "language": language})


def _what(operation: Operation) -> tuple[str, str, Language]:
    return operation.path, operation.kind, operation.arguments.get("language", "en")


def _parsed(path: str, text: str, encoding: str) -> ConversationDocument:
    front = split(text)
    file = parse_messages(front.body)
    places = {block.message.id: place for place, block in enumerate(file.blocks)}
    size = sum(len(encode(block.raw, encoding)) for block in file.blocks)
    # The blocks hold the body from here on; a second copy would double the memory of a long day.
    return ConversationDocument(
        path, replace(front, body=""), file, newline_of(text), encoding, size=size, places=places
    )


def _body(document: ConversationDocument) -> str:
    return document.file.preamble + "".join(block.raw for block in document.file.blocks)


def day_path(time: datetime, zone: tzinfo) -> str:
    """Give the file of the day on which a message was said, in the user's time zone."""
    return path_of(time.astimezone(zone))


def path_of(local: datetime) -> str:
    """Give the file of the day of a time on the user's clock."""
    return f"{FOLDER}/{local.date().isoformat()}.md"


class Said(NamedTuple):
    """A message ready to be planned: `replaced` characters of it could not be stored."""

    message: Message
    path: str
    replaced: int


def prepare(
    messages: Sequence[MessageContent],
    session: str,
    *,
    now: datetime,
    zone: tzinfo,
    new_id: Callable[[datetime], str],
    origin: str | None,
    visibility: str | None,
) -> list[Said]:
    """Turn contents into messages with ids, times and places. A message without a time was said `now`."""
    said = []
    local = now.astimezone(zone)
    for content in messages:
        time = local if content.timestamp is None else content.timestamp.astimezone(zone)
        text, replaced = clean(content.content)
        message = message_of(content, text, session, time, new_id(time), origin=origin, visibility=visibility)
        said.append(Said(message, path_of(time), replaced))
    return said


def message_of(
    content: MessageContent,
    text: str,
    session: str,
    time: datetime,
    message_id: str,
    *,
    origin: str | None,
    visibility: str | None,
) -> Message:
    """Turn a content into a message that was said at `time`, on the user's clock; `text` is what a file can hold."""
    metadata = content.metadata
    name, important = None, False
    if metadata is not None:
        name = clean(metadata.name)[0] if metadata.name else None
        important = bool(metadata.important)
    return Message(message_id, session, content.role, time, text, name, origin, important, visibility)


def blocks(document: ConversationDocument, since: int = 0) -> list[Block]:
    """Give the messages of a day as addressable pieces, from the `since`-th on."""
    start = document.head_lines
    day = day_of(document.path)
    tags = tags_of(document.front)
    return [
        Block(
            key=f"{day}#{block.message.id}",
            layer="conversation",
            path=document.path,
            start_line=start + block.start_line,
            end_line=start + block.end_line,
            text=block.message.content,
            time=told(block.message.time),
            session=block.message.session,
            role=block.message.role,
            visibility=block.message.visibility or "private",
            important=block.message.important,
            tags=tags,
            name=block.message.name,
            origin=block.message.origin,
        )
        for block in document.file.blocks[since:]
    ]
