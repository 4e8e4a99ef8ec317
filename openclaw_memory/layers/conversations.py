"""Conversations: what was said, a file a day (seed 000 section 2.1)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime, tzinfo
from typing import Any

from contracts import MessageContent
from openclaw_memory.layers.documents import REQUIRED, fits, head_lines, read_text, renewed, tags_of, version_of
from openclaw_memory.markdown.frontmatter import FrontMatter, split
from openclaw_memory.markdown.messages import Message, MessageBlock, MessageFile, format_message, parse_messages
from openclaw_memory.markdown.text import clean, decode, encode, newline_of
from openclaw_memory.retrieval.blocks import Block
from openclaw_memory.storage.documents import Document, Draft
from openclaw_memory.storage.operations import Operation

FOLDER = "conversations"


@dataclass(frozen=True, slots=True)
class ConversationDocument(Document):
    """One day's messages. The body lives in `file`, in blocks that keep the bytes they were read from."""

    front: FrontMatter
    file: MessageFile
    newline: str = "\n"
    encoding: str = "utf-8"
    changed_at: str | None = None
    places: dict[str, int] = field(default_factory=dict, compare=False)
    """Index of each message by id. Later versions of the document add to the same table; what lies beyond this
    version's own end is not this version's, see `has`."""

    @property
    def head_lines(self) -> int:
        """How many lines stand before the body."""
        return head_lines(self.front, self.changed_at is not None, (*REQUIRED, "message_count"))

    def has(self, message_id: str) -> bool:
        """Tell whether a message is in the file already."""
        blocks = self.file.blocks
        place = self.places.get(message_id, len(blocks))
        return place < len(blocks) and blocks[place].message.id == message_id


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
        blocks = list(document.file.blocks)
        preamble = document.file.preamble
        for item in arguments["messages"]:
            message = Message(**{**item, "time": datetime.fromisoformat(item["time"])})
            if document.has(message.id):
                continue
            raw = format_message(message, language=arguments["language"], newline=document.newline)
            before = blocks[-1].raw if blocks else preamble
            if before and not before.endswith("\n"):
                # A person's editor left the last line open.
                if blocks:
                    blocks[-1] = replace(blocks[-1], raw=before + document.newline)
                else:
                    preamble = before + document.newline
            document.places[message.id] = len(blocks)
            start = blocks[-1].end_line + 1 if blocks else preamble.count("\n") + 1
            blocks.append(MessageBlock(message, raw, start, start + raw.count("\n") - 1))
        if len(blocks) == len(document.file.blocks):
            return document
        return replace(document, file=MessageFile(preamble, tuple(blocks)), changed_at=arguments["at"])

    def collision(self, document: ConversationDocument, operation: Operation) -> None:
        return None

    def render(self, document: ConversationDocument) -> tuple[bytes, ConversationDocument]:
        front = renewed(
            replace(document.front, body=_body(document)),
            "conversation",
            document.changed_at,
            document.encoding,
            {"message_count": len(document.file.blocks)},
        )
        data = encode(front.text, document.encoding)
        return data, replace(document, front=replace(front, body=""), changed_at=None)

    def flushed(self, document: ConversationDocument, rendered: ConversationDocument) -> ConversationDocument:
        changed_at = None if document.file is rendered.file else document.changed_at
        return replace(document, front=rendered.front, changed_at=changed_at)

    def version(self, document: ConversationDocument) -> str | None:
        return version_of(document.front)


def _parsed(path: str, text: str, encoding: str) -> ConversationDocument:
    front = split(text)
    file = parse_messages(front.body)
    places = {block.message.id: place for place, block in enumerate(file.blocks)}
    # The blocks hold the body from here on; a second copy would double the memory of a long day.
    return ConversationDocument(path, replace(front, body=""), file, newline_of(text), encoding, places=places)


def _body(document: ConversationDocument) -> str:
    return document.file.preamble + "".join(block.raw for block in document.file.blocks)


def day_path(time: datetime, zone: tzinfo) -> str:
    """Give the file of the day on which a message was said, in the user's time zone."""
    return f"{FOLDER}/{time.astimezone(zone).date().isoformat()}.md"


@dataclass(frozen=True, slots=True)
class Said:
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
    for content in messages:
        time = (content.timestamp or now).astimezone(zone)
        text, replaced = clean(content.content)
        metadata = content.metadata
        message = Message(
            id=new_id(time),
            session=session,
            role=content.role,
            time=time,
            content=text,
            name=clean(metadata.name)[0] if metadata and metadata.name else None,
            origin=origin,
            important=bool(metadata and metadata.important),
            visibility=visibility,
        )
        said.append(Said(message, day_path(time, zone), replaced))
    return said


def plan_messages(draft: Draft, said: Sequence[Said], *, now: datetime, language: str) -> list[str]:
    """Append messages to their days, in order; gives their keys."""
    by_path: dict[str, list[dict[str, Any]]] = {}
    for item in said:
        by_path.setdefault(item.path, []).append(_arguments(item.message))
    for path, messages in by_path.items():
        draft.apply(
            Operation(
                path, "append", {"messages": messages, "at": now.isoformat(timespec="seconds"), "language": language}
            )
        )
    return [f"{item.path}#{item.message.id}" for item in said]


def _arguments(message: Message) -> dict[str, Any]:
    given = {
        "name": message.name,
        "origin": message.origin,
        "important": message.important or None,
        "visibility": message.visibility,
    }
    return {
        "id": message.id,
        "session": message.session,
        "role": message.role,
        "time": message.time.isoformat(),
        "content": message.content,
        **{name: value for name, value in given.items() if value is not None},
    }


def blocks(document: ConversationDocument, since: int = 0) -> list[Block]:
    """Give the messages of a day as addressable pieces, from the `since`-th on."""
    start = document.head_lines
    tags = tags_of(document.front)
    return [
        Block(
            key=f"{document.path}#{block.message.id}",
            layer="conversation",
            path=document.path,
            start_line=start + block.start_line,
            end_line=start + block.end_line,
            text=block.message.content,
            time=block.message.time,
            session=block.message.session,
            role=block.message.role,
            visibility=block.message.visibility or "private",
            important=block.message.important,
            tags=tags,
        )
        for block in document.file.blocks[since:]
    ]
