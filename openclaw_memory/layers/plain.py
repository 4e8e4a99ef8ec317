"""Documents that are a person's own Markdown: no front matter of ours, no checksum, every byte of theirs kept.

They lie in a workspace (`MEMORY.md`, `memory/YYYY-MM-DD.md`, seed 003 sections 26.3 and 26.4). Front matter that a
person put there stays as it is. What is known of such a file beside its bytes is the store's to keep.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from openclaw_memory.errors import UnreadableDocumentError
from openclaw_memory.layers.cutting import CUT
from openclaw_memory.layers.documents import Change, Collision, MarkdownDocument, cut_front, no_collision, read_text
from openclaw_memory.markdown.frontmatter import split
from openclaw_memory.markdown.text import clean, decode, encode
from openclaw_memory.storage.operations import Operation

MAX_BYTES = 5_242_880
"""Largest file that is read, in bytes: as large as a day's file may become (seed 000 section 5.3)."""


class PlainFormat:
    """Format of documents that hold nothing but their text.

    Parameters: `changes`, one pure function of a body for each kind of operation; `collisions`, for those kinds that
    can collide.
    """

    def __init__(self, changes: Mapping[str, Change], collisions: Mapping[str, Collision]) -> None:
        self._changes = changes
        self._collisions = collisions

    def new(self, path: str) -> MarkdownDocument:
        return MarkdownDocument(path, split(""))

    def parse(self, path: str, data: bytes) -> MarkdownDocument:
        text, encoding = checked_text(path, data)
        return MarkdownDocument(path, split(text), encoding)

    def apply(self, document: MarkdownDocument, operation: Operation) -> MarkdownDocument:
        if operation.kind == CUT:
            front = cut_front(document.front, operation.arguments)
            return document if front is document.front else replace(document, front=front)
        body = self._changes[operation.kind](document.body, operation.arguments, document.newline)
        if body == document.body:
            return document
        return replace(document, front=replace(document.front, body=body))

    def joined(self, operations: Sequence[Operation]) -> Sequence[Operation]:
        return operations

    def collision(self, document: MarkdownDocument, operation: Operation) -> str | None:
        return self._collisions.get(operation.kind, no_collision)(document.body, operation.arguments)

    def render(self, document: MarkdownDocument) -> tuple[bytes, MarkdownDocument]:
        data, encoding = encoded(document.front.text, document.encoding)
        return data, document if encoding == document.encoding else replace(document, encoding=encoding)

    def flushed(self, document: MarkdownDocument, rendered: MarkdownDocument) -> MarkdownDocument:
        if document.body == rendered.body:
            return rendered
        return document if document.encoding == rendered.encoding else replace(document, encoding=rendered.encoding)

    def fits(self, document: MarkdownDocument) -> None:
        # There is no checksum in the file that its bytes could fit.
        return None

    def salvage(self, path: str, data: bytes) -> MarkdownDocument:
        return MarkdownDocument(path, split(clean(decode(data[:MAX_BYTES]).text)[0]))

    def version(self, document: MarkdownDocument) -> None:
        # The file names none. A hash of its bytes would not do: who takes our last line out again would be taken for
        # somebody who saves an old view, and the line would come back.
        return None


def checked_text(path: str, data: bytes, most: int = MAX_BYTES) -> tuple[str, str]:
    """Decode a file of a reasonable size into text and the name of its encoding.

    Raises: `UnreadableDocumentError` when it has more than `most` bytes, or no text in any likely encoding.
    """
    if len(data) > most:
        raise UnreadableDocumentError(
            path,
            f"{len(data):,} bytes, at most {most:,} are read; move the older part into another file",
            is_whole=True,
        )
    return read_text(path, data)


def encoded(text: str, encoding: str) -> tuple[bytes, str]:
    """Give the bytes of a file and their encoding: its own, or UTF-8 where the text would not be read back from that.

    Short texts in GB18030 look like other encodings; UTF-8 is never mistaken.
    """
    data = encode(text, encoding)
    if encoding != "utf-8":
        read = decode(data)
        if (read.text, read.encoding, read.problem) != (text, encoding, None):
            return encode(text, "utf-8"), "utf-8"
    return data, encoding
