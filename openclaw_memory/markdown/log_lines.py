"""Lines of a day's note that tell what was said, one a message or tool result (seed 004 section 2.1).

    - 14:30 用户: 我改用 Go 了 <!-- id=01JV at=2026-05-04T14:30:05.123+08:00 role=user session=s1 -->

The text is on one line, written as in HISTORY.md. The grammar is one of lines: whatever a person writes around them, an
open fence for example, hides none of them, and a note of thousands of them need not be parsed as Markdown.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import get_args

from openclaw_memory.markdown.fences import closing_line
from openclaw_memory.markdown.history_lines import (
    attributes_in,
    on_one_line,
    on_several_lines,
    written_attributes,
)
from openclaw_memory.markdown.message_header import LABELS, Language, Role
from openclaw_memory.markdown.messages import Message
from openclaw_memory.markdown.outline import write_heading

_MARK = " <!-- id="
"""What every such line holds; a text without it has none."""
_LINE = re.compile(r"^ {0,3}[-*+] +(\d\d:\d\d) ([^\n]*) <!-- (id=[^<>\s][^<>\n]*) -->[ \t]*(?=\r?$)", re.MULTILINE)
_SPEAKER = re.compile(r"([^:：\n]{1,100})[:：] ?")
_LABELS = "|".join(dict.fromkeys(label for labels in LABELS.values() for label in labels.values()))
_IN_PROMPT = re.compile(rf"\d{{4}}-\d\d-\d\d \d\d:\d\d (?:{_LABELS})(?: [^:\n]{{1,100}})?: ")

MOST_CLOSED_CHARS = 50_000
"""In a longer text of a person's own nobody looks for what was left open: that costs the layout, and hides nothing."""


@dataclass(frozen=True, slots=True)
class LogLine:
    """One line, counted from 1 in the body. `clock` is the time of day as it stands there.

    `time` is None where the comment tells none that can be read, `role` where it tells none that is known.
    """

    id: str
    clock: str
    text: str
    line: int
    time: datetime | None = None
    session: str | None = None
    role: Role | None = None
    name: str | None = None
    visibility: str | None = None
    origin: str | None = None


def parse_log(body: str) -> tuple[LogLine, ...]:
    """Read the lines of a note that tell what was said, in the order of the file; the others are the person's.

    Parameters: `body`, the document without front matter.
    """
    if _MARK not in body:
        return ()
    found = []
    line, at = 1, 0
    for match in _LINE.finditer(body):
        line += body.count("\n", at, match.start())
        at = match.start()
        found.append(_read(match, line))
    return tuple(found)


def without_log(body: str) -> str:
    """Give a note's text with these lines left blank, so that all others keep their numbers."""
    return _LINE.sub("", body) if _MARK in body else body


def log_to_add(
    body: str, own: str, messages: Sequence[Message], *, day: str, language: Language, newline: str
) -> tuple[str, bool]:
    """Give what is to be added at the end of a note, a line for each message, and whether it is such lines alone.

    What somebody left open at the end, a fence or a comment, is closed first.

    Parameters: `body`, the document without front matter; `own`, the same with such lines left blank (`without_log`);
    `messages`, whose texts have gone through `text.clean` and whose times are aware, on the user's clock; `day`, the
    heading of a file that is blank so far; `newline`, the line end of the file.
    """
    before = "" if body else f"{write_heading(2, day)}{newline}"
    before += "" if (body or before).endswith("\n") else newline
    last = (body[body.rfind("\n", 0, -1) + 1 :] + before) if body else before
    alone = _LINE.match(last) is not None
    if not alone:
        opened = closing_line(own + before) if len(own) <= MOST_CLOSED_CHARS else ""
        before += f"{opened}{newline}" if opened else ""
        before += newline if last.strip() or opened else ""
    return before + "".join(_written(message, language, newline) for message in messages), alone


def in_prompt(line: LogLine, day: str, language: Language) -> str:
    """Write a line as a context holds it: it stands by itself there, so it names its day."""
    return f"{day} {line.clock} {_speaker(line.role or 'user', line.name, language)}{line.text}"


def is_in_prompt(text: str) -> bool:
    """Tell whether a piece of a context is such a line: what people said, not what memory says."""
    return _IN_PROMPT.match(text) is not None


def _written(message: Message, language: Language, newline: str) -> str:
    speaker = _speaker(message.role, message.name, language)
    attributes = written_attributes(message, at=message.time.isoformat())
    text = on_one_line(message.content)
    return f"- {message.time:%H:%M} {speaker}{text} <!-- {attributes} -->{newline}"


def _read(match: re.Match[str], line: int) -> LogLine:
    clock, said, comment = match[1], match[2].lstrip(" "), match[3]
    given = attributes_in(comment)
    role = next((role for role in get_args(Role) if role == given.get("role")), None)
    name = given.get("name")
    speakers = (_speaker(role or "user", name, language) for language in LABELS)
    speaker = next((speaker for speaker in speakers if said.startswith(speaker)), None)
    if speaker is not None:
        said = said[len(speaker) :]
    elif changed := _SPEAKER.match(said):
        said = said[changed.end() :]
    return LogLine(
        given["id"],
        clock,
        on_several_lines(said),
        line,
        _time(given.get("at")),
        given.get("session"),
        role,
        name,
        given.get("visibility"),
        given.get("origin"),
    )


def _speaker(role: Role, name: str | None, language: Language) -> str:
    label = LABELS[language][role]
    return f"{label} {' '.join(name.split())}: " if name else f"{label}: "


def _time(written: str | None) -> datetime | None:
    try:
        time = datetime.fromisoformat(written or "")
    except ValueError:
        return None
    return time if time.utcoffset() is not None else None
