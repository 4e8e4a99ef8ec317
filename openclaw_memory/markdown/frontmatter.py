"""Front matter: the YAML between two `---` lines at the top of a document.

Reading goes by YAML; editing goes by line, so that order, comments, line ends and a BOM stay, and also where YAML
refuses the whole (seed 000 section 4.3).
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType

from openclaw_memory.markdown import yaml_fields
from openclaw_memory.markdown.errors import UnwritableValueError
from openclaw_memory.markdown.flow_fields import set_flow_fields
from openclaw_memory.markdown.text import BOM, encode, end_of, newline_of, split_lines, without_end

_OPENING = re.compile(BOM + r"?---[ \t]*\r?\n")
_CLOSING = re.compile(r"^---[ \t]*\r?(?:\n|\Z)", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class FrontMatter:
    """A document in two parts.

    `head` is a BOM, if there is one, and the raw lines up to and with the closing `---` and its line end; where the
    document has no front matter it is that BOM, or empty. `head + body` is the document, always. `problem` says why
    YAML refused; then `fields` holds what reading line by line gives.
    """

    head: str
    body: str
    fields: Mapping[str, object]
    problem: str | None

    @property
    def text(self) -> str:
        """The whole document."""
        return self.head + self.body

    def with_fields(self, updates: Mapping[str, object]) -> FrontMatter:
        """Set fields and leave every other line as it is.

        A field that already has the value keeps its line as written. One that is missing is added before the closing
        line; a document without front matter gets it.

        Args:
            updates: New values: strings, whole numbers, truth values, None, or lists of these.

        Raises:
            UnwritableValueError: A value is of another kind, or a key is no plain word.
        """
        updates = {key: list(value) if isinstance(value, tuple) else value for key, value in updates.items()}
        for key in updates:
            if "\n" in key or _key_and_rest(f"{key}: x") != (key, " x"):
                raise UnwritableValueError("front matter key", key, "use letters, digits and `_`")
        changes = {  # compared by their text, since 1 == True
            key: value
            for key, value in updates.items()
            if key not in self.fields or repr(self.fields[key]) != repr(value)
        }
        if not changes:
            return self
        if self.head in ("", BOM):
            return self._with_new_head(changes)
        lines = split_lines(self.head)
        if self.problem is None and (content := set_flow_fields(_content(self.head), changes)) is not None:
            return _read(f"{lines[0]}{content}{lines[-1]}", self.body)
        newline = end_of(lines[0], "\n")
        for key, value in changes.items():
            lines = _with_field(lines, key, yaml_fields.write_value(key, value, newline), newline)
        return _read("".join(lines), self.body)

    def _with_new_head(self, fields: Mapping[str, object]) -> FrontMatter:
        newline = newline_of(self.body)
        lines = [f"{self.head}---{newline}"]
        for key, value in fields.items():
            rest = yaml_fields.write_value(key, value, newline)
            lines += [f"{key}:{rest[0]}", *rest[1:]]
        lines.append(f"---{newline}")
        return _read("".join(lines), self.body)


def split(text: str) -> FrontMatter:
    """Split a document into front matter and body.

    Lines between two `---` that hold no `key:` at all are no front matter but text between two rules.

    Args:
        text: The whole document, with its BOM and line ends.
    """
    opening = _OPENING.match(text)
    closing = _CLOSING.search(text, opening.end()) if opening else None
    if closing is not None:
        found = _read(text[: closing.end()], text[closing.end() :])
        if found.fields or found.problem is None:
            return found
    mark = BOM if text.startswith(BOM) else ""
    return FrontMatter(mark, text[len(mark) :], MappingProxyType({}), None)


def checksum(body: str, encoding: str = "utf-8") -> str:
    """Return the SHA-256, in hexadecimal, of every byte after the line that closes the front matter.

    Args:
        body: `FrontMatter.body`.
        encoding: Encoding of the file.
    """
    return hashlib.sha256(encode(body, encoding)).hexdigest()


def _content(head: str) -> str:
    """Return the lines between the two `---`."""
    return "".join(split_lines(head)[1:-1])


def _read(head: str, body: str) -> FrontMatter:
    content = _content(head)
    fields, problem = yaml_fields.load(content)
    if problem is not None:
        fields = MappingProxyType(_fields_by_line(content))
    return FrontMatter(head, body, fields, problem)


def _fields_by_line(content: str) -> dict[str, object]:
    found = {}
    for line in split_lines(content):
        parts = _key_and_rest(line)
        if parts is not None:
            found[parts[0]] = yaml_fields.read_scalar(parts[1])
    return found


def _key_and_rest(line: str) -> tuple[str, str] | None:
    """Split a line that begins a top-level field into its key and what follows the colon, without the line end."""
    line = without_end(line)
    if not line or line[0] in " \t#[{" or line.startswith("- "):
        return None
    if line[0] in "'\"":
        closing = line.find(line[0], 1)
        key, rest = line[1:closing], line[closing + 1 :].lstrip(" \t")
        return (key, rest[1:]) if closing > 0 and rest.startswith(":") else None
    colon = line.find(":")
    while 0 <= colon < len(line) - 1 and line[colon + 1] not in " \t":
        colon = line.find(":", colon + 1)
    return (line[:colon].rstrip(" \t"), line[colon + 1 :]) if colon > 0 else None


def _with_field(lines: list[str], key: str, value: list[str], newline: str) -> list[str]:
    """Replace the lines of one field, or add it before the closing line.

    Where a key is there twice, the last is changed: it is the one that YAML reads.
    """
    starts = [at for at in range(1, len(lines) - 1) if (_key_and_rest(lines[at]) or ("", ""))[0] == key]
    if not starts:
        return [*lines[:-1], f"{key}:{value[0]}", *value[1:], lines[-1]]
    start = starts[-1]
    end = _field_end(lines, start)
    line = without_end(lines[start])
    _, rest = _key_and_rest(line) or ("", "")
    prefix = line[: len(line) - len(rest)]
    comment = rest[yaml_fields.comment_at(rest) :] if end == start + 1 else ""
    first = f"{prefix}{without_end(value[0])}{comment}{end_of(lines[start], newline)}"
    return [*lines[:start], first, *value[1:], *lines[end:]]


def _field_end(lines: list[str], start: int) -> int:
    """Return the index after the last line of a field: what is indented, and list items, belong to it."""
    end = start + 1
    for at in range(start + 1, len(lines) - 1):
        if lines[at].startswith((" ", "\t", "- ")) and lines[at].strip():
            end = at + 1
        elif lines[at].strip():
            break
    return end
