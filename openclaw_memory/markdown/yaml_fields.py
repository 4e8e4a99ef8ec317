"""Values of front matter: how YAML is read and written here.

YAML 1.1 has surprises that no one wants in a memory: `updated: 2026-05-04` becomes a date, `on` a truth value, `12:30`
the number 750, `010` the number 8. Here a value is a string as it was written, but for plain decimal numbers,
`true` / `false` and `null`.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from types import MappingProxyType

import yaml

from openclaw_memory.markdown.errors import UnwritableValueError

MAX_YAML_CHARS = 16_384
"""Longer front matter is read line by line only: PyYAML needs a quarter of a second for this much."""
MAX_YAML_NESTING = 100
"""Most opening brackets; PyYAML's time grows with the square of their depth."""

_BOOL = re.compile(r"(?:true|True|TRUE|false|False|FALSE)\Z")
_INT = re.compile(r"[-+]?(?:0|[1-9][0-9]{0,17})\Z")
_NULL = re.compile(r"(?:~|null|Null|NULL|)\Z")
_PLAIN = re.compile(r"[^\s\-?:,\[\]{}#&*!|>'\"%@`=<~][^\x00-\x1f\x7f-\xa0\u2028\u2029\ufeff\ufffe\uffff]*\Z")
_ESCAPED = re.compile(r'["\\\x00-\x1f\x7f-\xa0\u2028\u2029\ud800-\udfff\ufeff\ufffe\uffff]')

_WORDS = r"[^\W_](?:[\w./+@ -]|:(?=[\w./+@-]))*(?<! )"
"""A value in which nothing has a meaning of its own: no comment, no quote, no colon before a space."""
_PLAIN_FIELDS = re.compile(rf"(?:[A-Za-z_][A-Za-z0-9_]{{0,99}}:(?: {_WORDS}\r?\n|\r?\n(?:  - {_WORDS}\r?\n)*))*")


class _Loader(yaml.SafeLoader):
    """A safe loader with few kinds of scalar and no aliases, with which few lines can stand for gigabytes."""

    def compose_node(self, parent: yaml.Node | None, index: int) -> yaml.Node | None:
        """Refuse aliases."""
        if self.check_event(yaml.AliasEvent):
            raise yaml.composer.ComposerError(None, None, "aliases are not read here")
        return super().compose_node(parent, index)


_Loader.yaml_implicit_resolvers = {}  # its own: those of YAML 1.1 belong to the class above
_Loader.add_implicit_resolver("tag:yaml.org,2002:bool", _BOOL, list("tTfF"))
_Loader.add_implicit_resolver("tag:yaml.org,2002:int", _INT, list("-+0123456789"))
_Loader.add_implicit_resolver("tag:yaml.org,2002:null", _NULL, ["~", "n", "N", ""])


def load(source: str) -> tuple[Mapping[str, object], str | None]:
    """Read the lines between the two `---`.

    Args:
        source: The lines, with their ends.

    Returns:
        The fields, and why YAML refused the source (None where it did not).
    """
    plain = _plain_fields(source)
    if plain is not None:
        return MappingProxyType(plain), None
    if len(source) > MAX_YAML_CHARS:
        return MappingProxyType({}), f"front matter is longer than {MAX_YAML_CHARS} characters"
    if source.count("[") + source.count("{") > MAX_YAML_NESTING:
        return MappingProxyType({}), f"front matter has more than {MAX_YAML_NESTING} opening brackets"
    try:
        loaded = yaml.load(source, Loader=_Loader)
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark
        where = f"line {mark.line + 2}: " if mark is not None else ""
        return MappingProxyType({}), f"{where}{error.problem or error.context or 'not YAML'}"
    except (yaml.YAMLError, ValueError, RecursionError) as error:
        return MappingProxyType({}), " ".join(str(error).split()) or type(error).__name__
    if loaded is None:
        return MappingProxyType({}), None
    if not isinstance(loaded, dict):
        return MappingProxyType({}), "front matter is not a list of `key: value`"
    return MappingProxyType({str(key): value for key, value in loaded.items()}), None


def _plain_fields(source: str) -> dict[str, object] | None:
    """Read what memory itself writes, which is most of all front matter; None for whatever may mean more to YAML.

    Fields of one line with plain values, each key once, and lists of such values, an item a line. PyYAML reads a
    character at a time, and takes a hundred times as long.
    """
    if len(source) > MAX_YAML_CHARS or _PLAIN_FIELDS.fullmatch(source) is None:
        return None
    fields: dict[str, object] = {}
    items: list[object] = []
    for line in source.replace("\r\n", "\n").split("\n")[:-1]:
        if line.startswith(" "):
            items.append(_plain_value(line[4:]))
            continue
        key, _, value = line.partition(":")
        if key in fields or _BOOL.match(key) or _NULL.match(key):
            return None
        # A field without a value has the list below it, where there is one.
        items = []
        fields[key] = _plain_value(value[1:]) if value else items
    return {key: None if value == [] else value for key, value in fields.items()}


def _plain_value(value: str) -> object:
    """Read a plain value as YAML would, with the kinds of scalar that are told apart here."""
    if _INT.match(value):
        return int(value)
    if _BOOL.match(value):
        return value.lower() == "true"
    return None if _NULL.match(value) else value


def compose(source: str) -> yaml.Node | None:
    """Give the tree of what YAML accepts, with the places of its parts.

    Args:
        source: The lines, with their ends; those that `load` refuses raise `yaml.YAMLError` here.
    """
    return yaml.compose(source, Loader=_Loader)


def read_scalar(source: str) -> object:
    """Read one value from the rest of its line, as YAML would, whatever the other lines are like.

    Args:
        source: What follows the colon, a comment included.
    """
    value = source[: comment_at(source)].strip()
    if len(value) >= 2 and value[0] == value[-1] and value[0] in "'\"":
        quoted, _ = load(f"value: {value}")
        return quoted.get("value", value[1:-1])
    if _BOOL.match(value):
        return value.lower() == "true"
    if _INT.match(value):
        return int(value)
    return None if _NULL.match(value) else value


def comment_at(source: str) -> int:
    """Return where the white space before a comment begins in the rest of a line; its length where there is none."""
    start = 0
    stripped = source.lstrip(" \t")
    if stripped[:1] in ("'", '"'):
        closing = source.find(stripped[0], len(source) - len(stripped) + 1)
        start = max(closing, 0)
    found = re.search(r"(?:^|(?<=\S))[ \t]+#", source[start:])
    return start + found.start() if found else len(source)


def write_value(key: str, value: object, newline: str) -> list[str]:
    """Write what follows `key:`: the rest of that line, then the lines of a list, each with its end.

    Args:
        key: Name of the field, for the error.
        value: A string, whole number, truth value or None, or a list or tuple of these.
        newline: Line end to use.

    Raises:
        UnwritableValueError: The value is of another kind.
    """
    if isinstance(value, list | tuple):
        if not value:
            return [f" []{newline}"]
        return [newline, *(f"  - {_scalar(key, item)}{newline}" for item in value)]
    return [f" {_scalar(key, value)}{newline}"]


def write_flow(key: str, value: object) -> str:
    """Write a value within braces, where more has a meaning of its own: strings are quoted.

    Args:
        key: Name of the field, for the error.
        value: As for `write_value`.

    Raises:
        UnwritableValueError: The value is of another kind.
    """
    if isinstance(value, list | tuple):
        return (
            f"[{', '.join(write_flow(key, item) if isinstance(item, str) else _scalar(key, item) for item in value)}]"
        )
    return _quoted(value) if isinstance(value, str) else _scalar(key, value)


def _scalar(key: str, value: object) -> str:
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int):
        if not _INT.match(str(value)):
            raise UnwritableValueError(key, str(value), "a number has at most 18 digits: write it as a string")
        return str(value)
    if isinstance(value, str):
        return _string(value)
    raise UnwritableValueError(
        key, str(value), f"front matter holds strings, numbers and lists, not {type(value).__name__}"
    )


def _string(value: str) -> str:
    """Write a string bare where YAML reads it as this string, quoted where it would not."""
    bare = (
        _PLAIN.match(value)
        and not value[-1].isspace()
        and value[-1] != ":"
        and ": " not in value
        and " #" not in value
        and not (_BOOL.match(value) or _INT.match(value) or _NULL.match(value))
    )
    if bare:
        return value
    return _quoted(value)


def _quoted(value: str) -> str:
    return '"' + _ESCAPED.sub(_escape, value) + '"'


def _escape(match: re.Match[str]) -> str:
    char = match.group()
    return f"\\{char}" if char in '"\\' else f"\\u{ord(char):04x}"
