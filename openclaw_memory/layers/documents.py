"""What the Markdown documents of all layers have in common: front matter, encoding, the time of the last change."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import date
from functools import partial
from typing import Any, TypeVar, cast

from contracts.limits import FIRST_YEAR, LAST_YEAR
from openclaw_memory.errors import UnreadableDocumentError
from openclaw_memory.layers.cutting import CUT, cut_lines
from openclaw_memory.markdown.frontmatter import FrontMatter, checksum, split
from openclaw_memory.markdown.text import clean, decode, encode, newline_of
from openclaw_memory.storage.documents import Document
from openclaw_memory.storage.operations import Operation


@dataclass(frozen=True, slots=True)
class MarkdownDocument(Document):
    """A document under `memory/`. `changed_at` (ISO 8601) is the time of a change that the front matter lacks yet."""

    front: FrontMatter
    encoding: str = "utf-8"
    changed_at: str | None = None
    _parsed: dict[str, Any] = field(default_factory=dict, init=False, compare=False, repr=False)

    def once(self, name: str, parse: Callable[[], T]) -> T:
        """Give what `parse` gives, and keep it: a document never changes, and parsing it costs."""
        if name not in self._parsed:
            self._parsed[name] = parse()
        return cast(T, self._parsed[name])

    def keep(self, other: MarkdownDocument, names: Iterable[str], more: Mapping[str, Any]) -> None:
        """Take over what was parsed of another document under names whose text is the same in both, and `more`."""
        self._parsed.update({name: other._parsed[name] for name in names if name in other._parsed})
        self._parsed.update(more)

    @property
    def body(self) -> str:
        """Everything after the front matter."""
        return self.front.body

    @property
    def newline(self) -> str:
        """Line end that prevails in the file."""
        return newline_of(self.body or self.front.head)

    @property
    def body_start(self) -> int:
        """Number of the body's first line in the file, from 1."""
        return head_lines(self.front, self.changed_at is not None, REQUIRED) + 1


T = TypeVar("T")
W = TypeVar("W", bound=date)

REQUIRED = ("created", "updated", "type", "checksum")
"""What every document's front matter says (seed 000 section 4.3)."""

Change = Callable[[str, Mapping[str, Any], str], str]
"""Pure change of a body: body, arguments of the operation, line end of the file -> new body, the same when equal."""

Collision = Callable[[str, Mapping[str, Any]], str | None]
"""What in a body collides with the arguments of an operation, in words; None when nothing does."""


def no_collision(body: str, arguments: Mapping[str, Any]) -> None:
    """An operation that only adds something, or that says the same again, collides with nothing."""
    return


class BodyFormat:
    """Format of documents whose operations change the text of the body.

    Parameters: `kind`, the `type` of the front matter; `changes`, one function for each kind of operation, all of
    which carry `at`, the time of the change in ISO 8601; `collisions`, for those kinds that can collide.
    """

    def __init__(self, kind: str, changes: Mapping[str, Change], collisions: Mapping[str, Collision]) -> None:
        self._kind = kind
        self._changes = changes
        self._collisions = collisions

    def new(self, path: str) -> MarkdownDocument:
        return MarkdownDocument(path, split(""))

    def parse(self, path: str, data: bytes) -> MarkdownDocument:
        text, encoding = read_text(path, data)
        return MarkdownDocument(path, split(text), encoding)

    def apply(self, document: MarkdownDocument, operation: Operation) -> MarkdownDocument:
        arguments = operation.arguments
        if operation.kind == CUT:
            front = cut_front(document.front, arguments)
            return document if front is document.front else replace(document, front=front, changed_at=arguments["at"])
        body = self._changes[operation.kind](document.body, arguments, document.newline)
        if body == document.body:
            return document
        front = replace(document.front, body=body)
        return replace(document, front=front, changed_at=arguments["at"])

    def joined(self, operations: Sequence[Operation]) -> Sequence[Operation]:
        return operations

    def collision(self, document: MarkdownDocument, operation: Operation) -> str | None:
        return self._collisions.get(operation.kind, no_collision)(document.body, operation.arguments)

    def render(self, document: MarkdownDocument) -> tuple[bytes, MarkdownDocument]:
        return written(
            document.front, self._kind, document.changed_at, document.encoding, {}, partial(_as_read, document)
        )

    def flushed(self, document: MarkdownDocument, rendered: MarkdownDocument) -> MarkdownDocument:
        if document.body == rendered.body:
            return rendered
        front = replace(rendered.front, body=document.body)
        return replace(document, front=front, encoding=rendered.encoding)

    def fits(self, document: MarkdownDocument) -> bool | None:
        return fits(document.front, document.body, document.encoding)

    def salvage(self, path: str, data: bytes) -> MarkdownDocument:
        return MarkdownDocument(path, split(clean(decode(data).text)[0]))

    def version(self, document: MarkdownDocument) -> str | None:
        return version_of(document.front)


def cut_front(front: FrontMatter, arguments: Mapping[str, Any]) -> FrontMatter:
    """Give a document's front matter and body without the lines that a `cut` names; the same when it has none."""
    body = cut_lines(front.body, arguments["cuts"], arguments["salt"])
    head = cut_lines(front.head, arguments["head"], arguments["salt"])
    if (head, body) == (front.head, front.body):
        return front
    return replace(front if head == front.head else split(head), body=body)


def read_text(path: str, data: bytes) -> tuple[str, str]:
    """Decode a file's bytes into text and the name of its encoding.

    Raises: `UnreadableDocumentError` when they are no text in any likely encoding.
    """
    decoded = decode(data)
    if decoded.problem is not None:
        raise UnreadableDocumentError(path, decoded.problem)
    return decoded.text, decoded.encoding


def renewed(
    front: FrontMatter, kind: str, changed_at: str | None, encoding: str, counts: Mapping[str, int]
) -> FrontMatter:
    """Bring front matter in step with its body (seed 000 section 4.3); every other line of it stays."""
    created = front.fields.get("created", changed_at)
    times = {"created": created, "updated": changed_at or front.fields.get("updated", created)}
    return front.with_fields(
        {
            # A file that was salvaged without its front matter has no times until it is changed.
            **{name: time for name, time in times.items() if time is not None},
            "type": kind,
            **counts,
            "checksum": checksum(front.body, encoding),
        }
    )


def head_lines(front: FrontMatter, to_be_written: bool, required: Sequence[str]) -> int:
    """Count the lines before the body, as they will be once a change of ours is flushed."""
    lines = front.head.count("\n")
    if not to_be_written:
        return lines
    return lines + (0 if lines else 2) + sum(name not in front.fields for name in required)


def fits(front: FrontMatter, body: str, encoding: str) -> bool | None:
    """Tell whether a body fits the checksum of its front matter; None when there is none."""
    declared = version_of(front)
    return None if declared is None else declared == checksum(body, encoding)


def written(
    front: FrontMatter,
    kind: str,
    changed_at: str | None,
    encoding: str,
    counts: Mapping[str, int],
    made: Callable[[FrontMatter, str], T],
) -> tuple[bytes, T]:
    """Give the bytes of a file with its front matter renewed, and the document `made` of that and its encoding.

    A file in another encoding stays in it, unless what it holds now would not be read back from there: short texts in
    GB18030 look like other encodings. Then it becomes UTF-8, which is never mistaken.
    """
    fresh = renewed(front, kind, changed_at, encoding, counts)
    data = encode(fresh.text, encoding)
    if encoding != "utf-8":
        read = decode(data)
        if (read.text, read.encoding, read.problem) != (fresh.text, encoding, None):
            return written(front, kind, changed_at, "utf-8", counts, made)
    return data, made(fresh, encoding)


def _as_read(document: MarkdownDocument, front: FrontMatter, encoding: str) -> MarkdownDocument:
    return MarkdownDocument(document.path, front, encoding)


def version_of(front: FrontMatter) -> str | None:
    """Give the version that a document names: its checksum as written, which a person's edit leaves alone."""
    version = front.fields.get("checksum")
    return version if isinstance(version, str) else None


def told(time: W | None) -> W | None:
    """Give a time as the events may carry it: a person may write any year into a file, and that stays in the file."""
    return time if time is not None and FIRST_YEAR <= time.year <= LAST_YEAR else None


def tags_of(front: FrontMatter) -> tuple[str, ...]:
    """Give the tags of a document's front matter."""
    tags = front.fields.get("tags")
    return tuple(str(tag) for tag in tags) if isinstance(tags, list | tuple) else ()
