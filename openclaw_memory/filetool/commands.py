"""The commands of Anthropic's memory tool (`memory_20250818`), with its own argument names. Pure."""

from __future__ import annotations

import difflib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from openclaw_memory.filetool.errors import CommandRefusedError


@dataclass(frozen=True, slots=True)
class View:
    """Show a folder, or the lines of a file. `view_range` are the first and the last line, from 1; -1 is the end."""

    path: str
    view_range: tuple[int, int] | None = None


@dataclass(frozen=True, slots=True)
class Create:
    """Make a file that does not exist."""

    path: str
    file_text: str


@dataclass(frozen=True, slots=True)
class StrReplace:
    """Replace the one place of a file that says `old_str`."""

    path: str
    old_str: str
    new_str: str


@dataclass(frozen=True, slots=True)
class Insert:
    """Insert text after a line; 0 is the beginning of the file."""

    path: str
    insert_line: int
    insert_text: str


@dataclass(frozen=True, slots=True)
class Delete:
    """Delete a file, or a folder with all that is in it."""

    path: str


@dataclass(frozen=True, slots=True)
class Rename:
    """Give a file or a folder another name or place, which must be free."""

    old_path: str
    new_path: str


Command = View | Create | StrReplace | Insert | Delete | Rename

_NAMES = ("view", "create", "str_replace", "insert", "delete", "rename")


def read_command(given: Any) -> Command:
    """Read a command as the model gave it: an object with `command` and its arguments. Unknown arguments are ignored.

    Raises: `CommandRefusedError`, which names the argument and what it must be.
    """
    if not isinstance(given, Mapping):
        raise CommandRefusedError(f"Error: the command must be an object with `command`, not {_kind(given)}")
    match given.get("command"):
        case "view":
            return View(_text(given, "path"), _range(given.get("view_range")))
        case "create":
            return Create(_text(given, "path"), _text(given, "file_text"))
        case "str_replace":
            # Without a replacement the text is taken out, as the text editor tool has it.
            new = "" if given.get("new_str") is None else _text(given, "new_str")
            return StrReplace(_text(given, "path"), _text(given, "old_str"), new)
        case "insert":
            return Insert(_text(given, "path"), _number(given, "insert_line"), _text(given, "insert_text"))
        case "delete":
            return Delete(_text(given, "path"))
        case "rename":
            return Rename(_text(given, "old_path"), _text(given, "new_path"))
        case other:
            raise CommandRefusedError(_unknown(other))


def _unknown(name: Any) -> str:
    if not isinstance(name, str):
        return f"Error: `command` must be one of {', '.join(_NAMES)}, not {_kind(name)}"
    meant = difflib.get_close_matches(name, _NAMES, n=1)
    hint = f"did you mean {meant[0]}?" if meant else f"use one of {', '.join(_NAMES)}"
    return f"Error: there is no command {name[:40]!r}; {hint}"


def _text(given: Mapping[str, Any], name: str) -> str:
    value = given.get(name)
    if isinstance(value, str):
        return value
    raise CommandRefusedError(f"Error: `{name}` of {given['command']} must be a text, not {_kind(value)}")


def _number(given: Mapping[str, Any], name: str) -> int:
    value = given.get(name)
    if isinstance(value, int) and not isinstance(value, bool):
        return value
    raise CommandRefusedError(f"Error: `{name}` of {given['command']} must be a whole number, not {_kind(value)}")


def _range(value: Any) -> tuple[int, int] | None:
    if value is None:
        return None
    if isinstance(value, Sequence) and not isinstance(value, str) and len(value) == 2:
        first, last = value
        if all(isinstance(line, int) and not isinstance(line, bool) for line in (first, last)):
            return first, last
    raise CommandRefusedError(
        "Error: `view_range` must be two whole numbers, the first line and the last (-1 for the end), such as [1, 40]"
    )


def _kind(value: Any) -> str:
    """Name what was given, as JSON calls it."""
    match value:
        case None:
            return "missing"
        case bool():
            return "a boolean"
        case int() | float():
            return "a number"
        case str():
            return "a text"
        case Mapping():
            return "an object"
        case _:
            return "a list" if isinstance(value, Sequence) else type(value).__name__
