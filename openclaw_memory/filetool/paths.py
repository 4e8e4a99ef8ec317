"""Paths as the model writes them, `/memories/...`, and what they may be. Pure; nothing here looks at the disk.

A path is refused for what it says, not for where it would lead: no part of one that is taken can lead up, out, or into
what is hidden, on any system.
"""

from __future__ import annotations

import re
from urllib.parse import unquote

from contracts.limits import MAX_PATH_CHARS
from contracts.patterns import PATH_PATTERN
from openclaw_memory.filetool.errors import CommandRefusedError
from openclaw_memory.storage.areas import MAX_DEPTH

ROOT = "/memories"
"""What the model calls the folder."""

MAX_CHARS = MAX_PATH_CHARS - 100
"""Longest path below `/memories`: search and `memory:get` name it with its workspace before it."""

MAX_NAME_BYTES = 200
"""Longest name of a file or folder. File systems take 255 bytes, and a file being written has a longer name."""

Parts = tuple[str, ...]
"""The names on the way to a file or folder; none for the folder itself."""

_PATTERN = re.compile(PATH_PATTERN)
_ENCODED_TIMES = 4
"""How often a path may be percent-encoded in itself until that is looked at no further."""
_SHOWN_CHARS = 200


def parts_of(path: str) -> Parts:
    """Read a path. Slashes may be doubled, or stand at the end.

    Raises: `CommandRefusedError` when it is none below `/memories`.
    """
    said = path if len(path) <= _SHOWN_CHARS else f"{path[:_SHOWN_CHARS]}…"
    if path != ROOT and not path.startswith(f"{ROOT}/"):
        raise CommandRefusedError(f"Error: the path {said!r} is not in {ROOT}; paths begin with {ROOT}/")
    parts = tuple(part for part in path.removeprefix(ROOT).split("/") if part)
    if not parts:
        return ()
    joined = "/".join(parts)
    if len(joined) > MAX_CHARS:
        raise CommandRefusedError(f"Error: the path {said!r} is longer than {MAX_CHARS:,} characters")
    if _PATTERN.match(joined) is None or any(map(_hides_a_way, parts)):
        raise CommandRefusedError(
            f"Error: the path {said!r} is refused; no part of a path may be `..`, begin with a dot or a space, or hold "
            "a backslash, a control character, or one of these percent-encoded"
        )
    if (long := max(parts, key=_bytes)) and _bytes(long) > MAX_NAME_BYTES:
        raise CommandRefusedError(f"Error: the name {long[:40]!r}… is longer than {MAX_NAME_BYTES} bytes")
    if len(parts) > MAX_DEPTH + 1:
        raise CommandRefusedError(
            f"Error: the path {said!r} lies too deep; a file lies in at most {MAX_DEPTH} folders below {ROOT}, "
            "or search would not find it"
        )
    return parts


def shown(parts: Parts) -> str:
    """Write a path as the model knows it."""
    return "/".join((ROOT, *parts))


def _hides_a_way(part: str) -> bool:
    """Tell whether a part, percent-decoded as some program might, would lead elsewhere."""
    for _ in range(_ENCODED_TIMES):
        decoded = unquote(part)
        if decoded == part:
            return False
        part = decoded
        if _PATTERN.match(part) is None or "/" in part:
            return True
    return True


def _bytes(name: str) -> int:
    return len(name.encode())
