"""One file of a day's messages, and the four ways in which it changes. Each is harmless when done again."""

from __future__ import annotations

import zlib
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Any, Self

from openclaw_memory.layers.documents import REQUIRED, head_lines
from openclaw_memory.markdown.frontmatter import FrontMatter
from openclaw_memory.markdown.message_header import Language
from openclaw_memory.markdown.messages import Message, MessageBlock, MessageFile, format_message, parse_messages
from openclaw_memory.markdown.text import encode, newline_of
from openclaw_memory.storage.documents import Document
from openclaw_memory.storage.operations import MadeLater


@dataclass(frozen=True, slots=True)
class ConversationDocument(Document):
    """A day's messages, or a part of them. The body lives in `file`, in blocks that keep the bytes they were read from.

    `size` is that of all blocks in bytes.
    """

    front: FrontMatter
    file: MessageFile
    newline: str = "\n"
    encoding: str = "utf-8"
    changed_at: str | None = None
    size: int = 0
    places: dict[str, int] = field(default_factory=dict, compare=False)
    """Index of each message by id. Versions of the document that only add share this table; what lies beyond a
    version's own end is not its own, see `has`. Any other change begins another table."""

    @property
    def head_lines(self) -> int:
        """How many lines stand before the body."""
        return head_lines(self.front, self.changed_at is not None, (*REQUIRED, "message_count"))

    @property
    def blank(self) -> bool:
        """Whether there is nothing in it, not even a person's text."""
        return not (self.file.blocks or self.file.preamble or self.front.head)

    def has(self, message_id: str) -> bool:
        """Tell whether a message is in the file already."""
        return self.block_of(message_id) is not None

    def block_of(self, message_id: str) -> MessageBlock | None:
        """Give the block of a message, the last where a person made several; None when it is not in the file."""
        blocks = self.file.blocks
        place = self.places.get(message_id, len(blocks))
        return blocks[place] if place < len(blocks) and blocks[place].message.id == message_id else None


class MovedText(str):
    """The text of a document's blocks that still knows the document: parsing a full file would hold up everything else.

    Out of the journal it comes back as a plain string, which is parsed.
    """

    source: ConversationDocument

    def __new__(cls, source: ConversationDocument) -> Self:
        """Put the blocks together; one whose last line was left open gets an end."""
        text = super().__new__(cls, "".join(closed(block.raw, source.newline) for block in source.file.blocks))
        text.source = source
        return text


class NamedBlocks(MadeLater[list[str]]):
    """Ids and digests of blocks that still knows them. Out of the journal it comes back as a plain list."""

    __slots__ = ("blocks",)

    def __init__(self, blocks: tuple[MessageBlock, ...]) -> None:
        self.blocks = blocks

    def __len__(self) -> int:
        return len(self.blocks)

    def made(self) -> list[list[str]]:
        return [[block.message.id, digest(block.raw)] for block in self.blocks]


class Spoken(MadeLater[Mapping[str, Any]]):
    """Messages as JSON that still knows them: reading them back takes longer than all else that appending does.

    Out of the journal it comes back as a plain list, which is read.
    """

    __slots__ = ("messages",)

    def __init__(self, messages: Iterable[Message]) -> None:
        self.messages = tuple(messages)

    def __len__(self) -> int:
        return len(self.messages)

    def made(self) -> list[Mapping[str, Any]]:
        return [_as_json(message) for message in self.messages]


def spoken(given: Iterable[Mapping[str, Any]]) -> Sequence[Message]:
    """Give the messages that JSON stands for."""
    if isinstance(given, Spoken):
        return given.messages
    return [Message(**{**item, "time": datetime.fromisoformat(item["time"])}) for item in given]


def _as_json(message: Message) -> Mapping[str, Any]:
    written: dict[str, Any] = {
        "id": message.id,
        "session": message.session,
        "role": message.role,
        "time": message.time.isoformat(),
        "content": message.content,
    }
    if message.name is not None:
        written["name"] = message.name
    if message.origin is not None:
        written["origin"] = message.origin
    if message.important:
        written["important"] = True
    if message.visibility is not None:
        written["visibility"] = message.visibility
    return written


def same(one: str, other: str) -> bool:
    """Tell whether two blocks say the same; line ends and white space at the end do not count."""
    return one == other or _plain(one) == _plain(other)


def digest(raw: str) -> str:
    """Give a short name of what a block says."""
    plain = _plain(raw)
    # Only edits of one message have to be told apart, and a file of five megabytes within some milliseconds.
    return f"{len(plain)}-{zlib.crc32(plain.encode()):08x}"


def append(
    document: ConversationDocument, messages: Sequence[Message], language: Language, at: str
) -> ConversationDocument:
    """Add messages at the end; those with a known id are there already."""
    newline = document.newline
    new: list[tuple[Message, str]] = []
    ids: set[str] = set()
    for message in messages:
        if message.id not in ids and not document.has(message.id):
            ids.add(message.id)
            new.append((message, format_message(message, language=language, newline=newline)))
    return _extended(document, new, at)


def adopt(document: ConversationDocument, text: str, tags: Sequence[str], at: str) -> ConversationDocument:
    """Add the messages of another file as they are written there; those with a known id are there already."""
    if document.blank:
        document = replace(document, newline=newline_of(text))
        if tags:
            document = replace(document, front=document.front.with_fields({"tags": list(tags)}))
    if isinstance(text, MovedText):
        source = text.source
        if document.blank and source.encoding == document.encoding and _is_bare(source.file):
            return replace(document, file=source.file, size=source.size, places=source.places, changed_at=at)
        blocks = source.file.blocks
    else:
        blocks = parse_messages(text).blocks
    # One id may be there twice, where a person copied a block: both come along.
    new = [
        (block.message, closed(block.raw, document.newline)) for block in blocks if not document.has(block.message.id)
    ]
    return _extended(document, new, at)


def take_out(
    document: ConversationDocument, which: NamedBlocks | Collection[Sequence[str]], at: str
) -> ConversationDocument:
    """Remove blocks by id and digest. One that says something else by now was edited, and stays."""
    if isinstance(which, NamedBlocks) and which.blocks is document.file.blocks:
        return _arranged(document, (), at) if which else document
    named = {(message_id, said) for message_id, said in which}
    ids = {message_id for message_id, _ in named}
    kept = [
        block
        for block in document.file.blocks
        if block.message.id not in ids or (block.message.id, digest(block.raw)) not in named
    ]
    return document if len(kept) == len(document.file.blocks) else _arranged(document, kept, at)


def headed(document: ConversationDocument, front: FrontMatter, preamble: str, at: str) -> ConversationDocument:
    """Give a document with other front matter, and another text before its first message."""
    if (front.head, preamble) == (document.front.head, document.file.preamble):
        return document
    file = MessageFile(preamble, document.file.blocks)
    return _arranged(replace(document, front=front, file=file), document.file.blocks, at)


def amend(document: ConversationDocument, changes: Iterable[tuple[str, str, str]], at: str) -> ConversationDocument:
    """Put edited texts in the places of the earlier ones: id, digest of the text before, text.

    Where the message says something else by now, somebody edited it here as well: both texts are kept.
    """
    blocks = list(document.file.blocks)
    changed = False
    for message_id, before, text in changes:
        places = [place for place, block in enumerate(blocks) if block.message.id == message_id]
        digests = [digest(blocks[place].raw) for place in places]
        if digest(text) in digests:
            continue
        changed = True
        raw = closed(text, document.newline)
        edited = MessageBlock(parse_messages(raw).blocks[0].message._replace(id=message_id), raw, 0, 0)
        if before in digests:
            blocks[places[digests.index(before)]] = edited
        else:
            blocks.insert(places[-1] + 1 if places else len(blocks), edited)
    return _arranged(document, blocks, at) if changed else document


def amend_collision(document: ConversationDocument, arguments: Mapping[str, Any]) -> str | None:
    """Say which messages were edited in two files at once; None when there is none."""
    both = []
    for message_id, before, text in arguments["changes"]:
        block = document.block_of(message_id)
        if block is not None and digest(block.raw) not in (before, digest(text)):
            both.append(message_id)
    return f"{', '.join(both)}: edited here and in the day's own file; both texts are kept" if both else None


def _is_bare(file: MessageFile) -> bool:
    """Tell whether a file is messages and nothing else, so that they stand at the same lines in a file of their own."""
    return not file.preamble and bool(file.blocks) and file.blocks[-1].raw.endswith("\n")


def closed(raw: str, newline: str) -> str:
    """Give a block whose last line has an end; a person's editor may have left it open."""
    return raw if raw.endswith("\n") else raw + newline


def _plain(raw: str) -> str:
    # One character is found much faster than two.
    return (raw.replace("\r\n", "\n") if "\r" in raw else raw).rstrip()


def _extended(document: ConversationDocument, new: Sequence[tuple[Message, str]], at: str) -> ConversationDocument:
    if not new:
        return document
    held = document.file.blocks
    preamble = document.file.preamble
    if held:
        last = held[-1]
        if (raw := closed(last.raw, document.newline)) is not last.raw:
            held = (*held[:-1], last._replace(raw=raw))
    elif preamble:
        preamble = closed(preamble, document.newline)
    line = held[-1].end_line + 1 if held else preamble.count("\n") + 1
    size, place = document.size, len(held)
    added = []
    for message, raw in new:
        document.places[message.id] = place
        end = line + raw.count("\n")
        added.append(MessageBlock(message, raw, line, end - 1))
        line, place = end, place + 1
        size += len(raw) if raw.isascii() and document.encoding == "utf-8" else len(encode(raw, document.encoding))
    # Spelled out: `replace` takes three times as long, and every message waits for this.
    return ConversationDocument(
        document.path,
        document.front,
        MessageFile(preamble, held + tuple(added)),
        document.newline,
        document.encoding,
        at,
        size,
        document.places,
    )


def _arranged(document: ConversationDocument, blocks: Sequence[MessageBlock], at: str) -> ConversationDocument:
    """Give a document with other blocks: numbered and counted anew."""
    preamble = document.file.preamble
    line = preamble.count("\n") + 1
    arranged, places, size = [], {}, 0
    for place, block in enumerate(blocks):
        raw = closed(block.raw, document.newline)
        end = line + raw.count("\n")
        arranged.append(MessageBlock(block.message, raw, line, end - 1))
        places[block.message.id] = place
        line = end
        size += len(encode(raw, document.encoding))
    file = MessageFile(preamble, tuple(arranged))
    return replace(document, file=file, size=size, places=places, changed_at=at)
