"""Messages of a conversation: blocks that begin with a header line.

The grammar is one of lines, not of Markdown: with a Markdown parser, an unclosed fence or comment in one message would
hide all that follow. What is written is read back exactly, whatever the content (seed 000 section 2.1).
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Mapping
from datetime import datetime
from typing import NamedTuple, get_args

from openclaw_memory.markdown import message_header
from openclaw_memory.markdown.errors import UnwritableValueError
from openclaw_memory.markdown.message_header import LABELS, Header, Language, Role

_CANDIDATE = re.compile(r"\n### \d{4}-")
_ROLES: Mapping[str, Role] = {role: role for role in get_args(Role)}


class Message(NamedTuple):
    """One message. A tuple, since every write waits until one is made.

    `name` is that of the tool or speaker; `origin`, `visibility` and `kind` (of the session) are words that others
    define and that are kept here as they are. Two messages are equal when everything is; times compare as instants.
    """

    id: str
    session: str
    role: Role
    time: datetime
    content: str
    name: str | None = None
    origin: str | None = None
    important: bool = False
    visibility: str | None = None
    kind: str | None = None


class MessageBlock(NamedTuple):
    """A message and the very text that it was read from; lines are counted from 1 in the body, both ends included."""

    message: Message
    raw: str
    start_line: int
    end_line: int


class MessageFile(NamedTuple):
    """A body with messages: `preamble` and all `raw` together are the body, always."""

    preamble: str
    blocks: tuple[MessageBlock, ...]


def format_message(message: Message, *, language: Language, newline: str = "\n") -> str:
    r"""Write one block: header, label, empty line, content, empty line.

    Line breaks at the beginning and end of the content are counted in the header (`before`, `after`), so that blank
    lines in the file mean nothing; content whose lines all end in `\r\n` is written with the file's own line ends and
    marked `eol=crlf`.

    Args:
        message: Its texts have gone through `text.clean`; its time is aware, and written as given.
        language: Language of the label.
        newline: Line end of the file.

    Raises:
        UnwritableValueError: The time has no offset.
    """
    if message.time.utcoffset() is None:
        raise UnwritableValueError(
            "time", message.time.isoformat(), "it has no offset; put it into the user's time zone"
        )
    content = message.content
    crlf = "\r" in content and content.count("\r\n") == content.count("\n") == content.count("\r")
    if crlf:
        content = content.replace("\r\n", "\n")
    rest = content.lstrip("\n")
    kept = rest.rstrip("\n")
    before, after = len(content) - len(rest), len(rest) - len(kept)

    # Put together as text at once: every write waits for this.
    written = message_header.escape_value
    comment = f"id={written(message.id)}"
    if message.session:
        comment += f" session={written(message.session)}"
    comment += f" role={message.role}"
    if message.name is not None:
        comment += f" name={written(message.name)}"
    if message.origin is not None:
        comment += f" origin={written(message.origin)}"
    if message.visibility is not None:
        comment += f" visibility={written(message.visibility)}"
    if message.kind is not None:
        comment += f" kind={written(message.kind)}"
    if message.important:
        comment += " important=true"
    if crlf:
        comment += " eol=crlf"
    if before:
        comment += f" before={before}"
    if after:
        comment += f" after={after}"

    lines = f"{message_header.format_header(message.time, comment)}\n**{LABELS[language][message.role]}**:\n\n"
    if kept:
        lines += f"{message_header.escape(kept)}\n\n"
    return lines if newline == "\n" else lines.replace("\n", newline)


def append_message(body: str, message: Message, *, language: Language, newline: str = "\n") -> str:
    """Put a block at the end of a body, after an empty line.

    Args:
        body: May end in the middle of a line, as an editor left it.
        message: See `format_message`.
        language: Language of the label.
        newline: Line end of the file.
    """
    if body and not body.endswith("\n"):
        body += newline
    if body and not body.endswith(("\n\n", "\n\r\n")):
        body += newline
    return body + format_message(message, language=language, newline=newline)


def parse_messages(body: str) -> MessageFile:
    """Read all messages of a body, also those that a person wrote or edited.

    A header without a comment gets an id that follows from time, role and content; the same file gives the same ids.

    Args:
        body: The document without its front matter.
    """
    headers = list(_headers(body))
    ends = [*(start for start, _ in headers[1:]), len(body)] if headers else []
    blocks = []
    seen: dict[str, int] = {}
    line = 1 + body.count("\n", 0, headers[0][0]) if headers else 1
    for (start, header), end in zip(headers, ends, strict=True):
        raw = body[start:end]
        breaks = raw.count("\n")
        last = line + breaks - raw.endswith("\n")
        blocks.append(MessageBlock(_read_block(header, raw, seen), raw, line, last))
        line += breaks
    return MessageFile(body[: headers[0][0]] if headers else body, tuple(blocks))


def _headers(body: str) -> list[tuple[int, Header]]:
    """Find the header lines: where each begins, and what it says."""
    found = []
    at = 0
    while at >= 0:
        end = body.find("\n", at) + 1 or len(body)
        header = message_header.read_header(body[at:end]) if body.startswith("### ", at) else None
        if header is not None:
            found.append((at, header))
        candidate = _CANDIDATE.search(body, max(end - 1, 0))
        at = candidate.start() + 1 if candidate else -1
    return found


def _read_block(header: Header, raw: str, seen: dict[str, int]) -> Message:
    label_role, content = _label_and_content(raw)
    attributes = header.attributes
    role = _ROLES.get(attributes.get("role", ""), label_role)
    newline = "\n"
    if attributes.get("eol") == "crlf":
        newline = "\r\n"
        content = content.replace("\n", newline)
    if "before" in attributes or "after" in attributes:
        content = newline * _count(attributes.get("before")) + content + newline * _count(attributes.get("after"))
    return Message(
        id=attributes.get("id") or _derived_id(header, role, content, seen),
        session=attributes.get("session", ""),
        role=role,
        time=header.time,
        content=content,
        name=attributes.get("name"),
        origin=attributes.get("origin"),
        important=attributes.get("important") == "true",
        visibility=attributes.get("visibility"),
        kind=attributes.get("kind"),
    )


def _label_and_content(raw: str) -> tuple[Role, str]:
    r"""Return the role that the label names (`user` where there is none) and the content without its outer line breaks.

    Which line end the block was written with shows at its header: after a header in `\r\n`, each line loses one `\r`;
    after one in `\n`, a `\r` belongs to the content.
    """
    header_end = raw.find("\n") + 1 or len(raw)
    text = raw[header_end:]
    if raw.endswith("\r\n", 0, header_end):
        text = text.replace("\r\n", "\n")
    role: Role = "user"
    start = len(text) - len(text.lstrip("\n"))
    label = message_header.read_label(text, start)
    if label is not None:
        role, start = label
    return role, message_header.unescape(text[start:].strip("\n"))


def _count(written: str | None) -> int:
    """Read a number of line breaks; what nobody can have meant, such as a billion, is none."""
    return int(written) if written and written.isascii() and written.isdecimal() and len(written) < 8 else 0


def _derived_id(header: Header, role: Role, content: str, seen: dict[str, int]) -> str:
    """Make an id for a message that has none; equal messages are told apart by their order."""
    digest = hashlib.sha256("\0".join((header.written_time, role, content)).encode("utf-8", "replace")).hexdigest()
    seen[digest] = ordinal = seen.get(digest, 0) + 1
    return f"m{digest[:24]}" if ordinal == 1 else f"m{digest[:24]}-{ordinal}"
