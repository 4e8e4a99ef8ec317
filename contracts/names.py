"""Fields that become the name of a file, a heading or a line: each is safe there, or refused in words."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Annotated, Any

from pydantic import Field, GetCoreSchemaHandler, GetJsonSchemaHandler
from pydantic.json_schema import JsonSchemaValue
from pydantic_core import core_schema

from contracts.limits import (
    MAX_NAME_CHARS,
    MAX_PATH_CHARS,
    MAX_TITLE_CHARS,
    MAX_TOPIC_CHARS,
    MAX_WIDE_NAME_CHARS,
)
from contracts.patterns import (
    BLANK,
    CONTROL,
    KEY_PATTERN,
    LETTERS,
    LINE_PATTERN,
    NOT_IN_IDS,
    PATH_PATTERN,
    SECTION_PATTERN,
    SESSION_ID_PATTERN,
    TASK_ID_PATTERN,
    TOPIC_PATTERN,
)
from contracts.wording import SHOWN_CHARS, refusal, show


def suggest_topic(name: str) -> str | None:
    """Turn a name into a topic that would be taken, `User Profile` into `user-profile`; None when nothing is left."""
    words = re.sub(rf"[^{LETTERS}_]+", "-", name[:MAX_NAME_CHARS]).strip("-_").lower()
    words = words[: MAX_TOPIC_CHARS if words.isascii() else MAX_WIDE_NAME_CHARS].rstrip("-_")
    return words or None


def suggest_session_id(name: str) -> str | None:
    """Turn a name into a session id that would be taken; None when none is left."""
    words = re.sub(rf"[{NOT_IN_IDS}]+", "-", name[: 2 * MAX_NAME_CHARS]).strip("-").lstrip(".-")
    return words[: MAX_NAME_CHARS if words.isascii() else MAX_WIDE_NAME_CHARS] or None


def suggest_line(text: str) -> str | None:
    """Join the lines of a short text into one without spaces around it; None when it is blank or long."""
    line = re.sub(rf"[{CONTROL}{BLANK}]+", " ", text).strip(" #") if len(text) <= MAX_NAME_CHARS else ""
    return line or None


def suggest_key(text: str) -> str | None:
    """Make a short text one line without colon and without a mark of Markdown in front; None when nothing is left."""
    line = re.sub(rf"(?:[:\uff1a]|[{BLANK}])+", " ", suggest_line(text) or "")
    line = re.sub(r"^(?:[-*+>#`~\s]|[0-9]+[.)]|\[[ xX]\]|<!--)+", "", line).strip()
    return line if re.match(KEY_PATTERN, line) else None


def _no_suggestion(_name: str) -> str | None:
    return None


@dataclass(frozen=True, slots=True)
class Name:
    """A kind of string field, as an annotation of `str`.

    Args:
        what: What the field holds, as the subject of the refusal.
        rule: What is asked of it, in words.
        pattern: The same as a pattern, for the JSON Schema.
        most: Longest value, in characters.
        suggest: Gives what would be taken instead of a value that is not.
    """

    what: str
    rule: str
    pattern: str
    most: int
    suggest: Callable[[str], str | None] = _no_suggestion

    def __get_pydantic_core_schema__(self, source: Any, handler: GetCoreSchemaHandler) -> core_schema.CoreSchema:
        matches = re.compile(self.pattern).match

        def check(value: str) -> str:
            if len(value) <= self.most and matches(value):
                return value
            better = self.suggest(value)
            hint = (
                f"; try {show(better)}" if better is not None and better != value and len(better) <= SHOWN_CHARS else ""
            )
            raise refusal("unsafe_name", f"{self.what} {show(value)} is {self.rule}{hint}")

        return core_schema.no_info_after_validator_function(check, core_schema.str_schema(strict=True))

    def __get_pydantic_json_schema__(
        self, schema: core_schema.CoreSchema, handler: GetJsonSchemaHandler
    ) -> JsonSchemaValue:
        return {"type": "string", "minLength": 1, "maxLength": self.most, "pattern": self.pattern}


SessionId = Annotated[
    str,
    Name(
        "session id",
        "no safe name: no white space, slash, quote, `<`, `>`, `|`, `?` or `*` and no dot in front, "
        "up to 200 characters (50 when not all of them are ASCII)",
        SESSION_ID_PATTERN,
        MAX_NAME_CHARS,
        suggest_session_id,
    ),
    Field(description="Id of the session: up to 200 characters, no white space, slash, quote or leading dot."),
]
Topic = Annotated[
    str,
    Name(
        "topic",
        "no safe name: letters, digits, - and _, beginning with a letter or digit, up to 100 characters "
        "(50 when not all of them are ASCII)",
        TOPIC_PATTERN,
        MAX_TOPIC_CHARS,
        suggest_topic,
    ),
    Field(description="Name of a fact file without `.md`: letters, digits, `-` and `_`, up to 100 characters."),
]
TaskId = Annotated[
    str,
    Name(
        "task id",
        "no id of a task: capital letters, a hyphen and a number, such as OPEN-001",
        TASK_ID_PATTERN,
        40,
    ),
    Field(description="Id of a task, such as `OPEN-001`."),
]
Section = Annotated[
    str,
    Name(
        "section",
        "no heading: one line that is not blank, without control characters, without spaces around it and without ` #` "
        "at its end, up to 200 characters",
        SECTION_PATTERN,
        MAX_NAME_CHARS,
        suggest_line,
    ),
    Field(description="Heading of the section that holds the fact: one line, up to 200 characters."),
]
FactKey = Annotated[
    str,
    Name(
        "key",
        "no key of a fact: one line without a colon, without spaces around it, not beginning like a list item, "
        "a heading, a fence or a comment, up to 200 characters",
        KEY_PATTERN,
        MAX_NAME_CHARS,
        suggest_key,
    ),
    Field(description="Name of the fact within its section: one line without a colon, up to 200 characters."),
]
Title = Annotated[
    str,
    Name(
        "title",
        "not one line: no line breaks or other control characters, no spaces around it, not blank, "
        "up to 500 characters",
        LINE_PATTERN,
        MAX_TITLE_CHARS,
        suggest_line,
    ),
]
Tag = Annotated[
    str,
    Name(
        "tag",
        "no tag: one line that is not blank, without spaces around it, up to 100 characters",
        LINE_PATTERN,
        100,
        suggest_line,
    ),
]
RelativePath = Annotated[
    str,
    Name(
        "path",
        "no path inside the root: relative, with slashes, no part beginning with a dot or a space, no backslash or "
        "control character, up to 1,000 characters; such as facts/user-profile.md",
        PATH_PATTERN,
        MAX_PATH_CHARS,
    ),
]
IdempotencyKey = Annotated[
    str,
    Name(
        "idempotency key",
        "no idempotency key: one line that is not blank, without spaces around it, up to 200 characters",
        LINE_PATTERN,
        MAX_NAME_CHARS,
    ),
]
