"""How a summary's file changes. What a person wrote in it stays, also what they write between plan and flush."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Mapping, Sequence
from typing import Any

from openclaw_memory.layers.documents import BodyFormat
from openclaw_memory.markdown.message_header import Language
from openclaw_memory.markdown.outline import outline, write_heading
from openclaw_memory.markdown.text import split_lines

TASKS: Mapping[Language, str] = {"zh": "完成的任务", "en": "Completed tasks"}
"""Heading of what a month's summary tells of tasks that left `completed.md`."""

_ADDED: Mapping[Language, str] = {"zh": "补充", "en": "Added"}
_MORE: Mapping[Language, str] = {"zh": "- 另有 {} 个，见 {}", "en": "- {} more, see {}"}
_IS_MORE = re.compile(r"- (?:另有 \d+ 个，见 |\d+ more, see )tasks/archived/")


def digest_of(body: str) -> str | None:
    """Name a body, whatever its line ends and the white space at its end; None for a blank one."""
    plain = body.replace("\r\n", "\n").rstrip()
    return hashlib.sha256(plain.encode("utf-8", "replace")).hexdigest()[:32] if plain else None


def more_line(count: int, path: str, language: Language) -> str:
    """Tell of tasks that there is no room for, and where they are."""
    return _MORE[language].format(count, path)


def _write(body: str, arguments: Mapping[str, Any], newline: str) -> str:
    """Put a text in the place of the one that it was planned on; of any other, a person's, it stays away."""
    if digest_of(body) not in (None, arguments["old"], digest_of(arguments["text"])):
        return body
    return _with_ends(arguments["text"], newline)


def _put(body: str, arguments: Mapping[str, Any], newline: str) -> str:
    """Put a text that somebody handed in: in the place of ours, or beside what a person wrote."""
    if digest_of(body) in (None, arguments["old"], digest_of(arguments["text"])):
        return _with_ends(arguments["text"], newline)
    given = arguments["given"].strip()
    if given in body.replace("\r\n", "\n"):
        return body
    heading = write_heading(2, f"{_ADDED[arguments['language']]} {arguments['at']}")
    return _with_ends(f"{body.replace(chr(13) + chr(10), chr(10)).rstrip()}\n\n{heading}\n\n{given}\n", newline)


def _tasks(body: str, arguments: Mapping[str, Any], newline: str) -> str:
    """Add lines of tasks to their section, each task once; `more` takes the place of the line that counts the rest."""
    plain = body.replace("\r\n", "\n")
    if not plain.strip():
        plain = arguments["head"]
    known = {line for line in plain.split("\n") if line.startswith("- ")}
    fresh = [line for _, line in arguments["lines"] if line not in known]
    fresh = [line for line in fresh if not any(_names(one, line) for one in known)]
    more = arguments["more"]
    lines = [line for line in split_lines(plain) if more is None or not _IS_MORE.match(line)]
    if not fresh and (more is None or f"{more}\n" in split_lines(plain)):
        return body
    added = [f"{line}\n" for line in [*fresh, *([more] if more else [])]]
    end = _end_of_section("".join(lines))
    if end is None:
        text = "".join(lines).rstrip() + f"\n\n{write_heading(2, TASKS[arguments['language']])}\n\n" + "".join(added)
        return _with_ends(text, newline)
    before = "".join(lines[:end]).rstrip() + "\n"
    if before.rstrip().rpartition("\n")[2].startswith("#"):
        before += "\n"
    after = "".join(lines[end:]).lstrip("\n")
    return _with_ends(before + "".join(added) + (f"\n{after}" if after else ""), newline)


def _names(one: str, other: str) -> bool:
    """Tell whether two lines speak of the same task, by the id in brackets."""
    ids = [re.search(r"\[([A-Z][A-Z0-9]*-\d+)\]", line) for line in (one, other)]
    return ids[0] is not None and ids[1] is not None and ids[0][1] == ids[1][1]


def _end_of_section(body: str) -> int | None:
    """Give the number of lines up to the end of the section of tasks; None when there is none."""
    sections = outline(body).sections
    for place, section in enumerate(sections):
        if section.level == 2 and section.title.strip() in TASKS.values():
            later = [other.start_line for other in sections[place + 1 :] if other.level <= 2]
            return later[0] - 1 if later else len(split_lines(body))
    return None


def tasks_section(body: str) -> str:
    """Give the section of tasks as it stands, its heading included; empty when there is none."""
    plain = body.replace("\r\n", "\n")
    end = _end_of_section(plain)
    if end is None:
        return ""
    start = next(
        section.start_line
        for section in outline(plain).sections
        if section.level == 2 and section.title.strip() in TASKS.values()
    )
    return "".join(split_lines(plain)[start - 1 : end]).strip()


def _collision(body: str, arguments: Mapping[str, Any]) -> str | None:
    if digest_of(body) in (None, arguments["old"], digest_of(arguments["text"])):
        return None
    return "somebody edited the summary meanwhile; what they wrote stays"


def _with_ends(text: str, newline: str) -> str:
    return text if newline == "\n" else text.replace("\n", newline)


def lines_of(tasks: Sequence[tuple[str, str]]) -> list[list[str]]:
    """Give tasks, id and line, as JSON values."""
    return [[task_id, line] for task_id, line in tasks]


FORMAT = BodyFormat(
    "summary", {"write": _write, "put": _put, "tasks": _tasks}, {"write": _collision, "put": _collision}
)
