"""The files of memory as resources: `memory:///facts/user-profile.md`."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from urllib.parse import quote, unquote, urlsplit

from pydantic import ValidationError

from contracts import MemoryDocument, MemoryGet
from openclaw_memory.mcp.caller import Ask, Caller
from openclaw_memory.mcp.errors import CallRefusedError

SCHEME = "memory"

TEMPLATE = f"{SCHEME}:///{{+path}}"

PAGE = 200
"""How many resources one answer lists."""

MAX_CHARS = 1_000_000
"""Longest file that is given whole, in characters."""

MAX_LINES = 20_000
"""The same in lines: `memory:get` gives few of them at a time, and looks at the whole file each time."""

_TYPES = {"md": "text/markdown", "jsonl": "application/x-ndjson", "json": "application/json"}


@dataclass(frozen=True, slots=True)
class Page:
    """Some of the files. `more` is where the next page begins; None after the last."""

    paths: tuple[str, ...]
    more: str | None


def page_of(paths: Sequence[str], after: str | None) -> Page:
    """Choose the files that come after a path in order, as many as one answer lists. Pure."""
    rest = sorted(path for path in paths if after is None or path > after)
    chosen = tuple(rest[:PAGE])
    return Page(chosen, chosen[-1] if len(rest) > PAGE else None)


def uri_of(path: str) -> str:
    """Give the address of a file."""
    return f"{SCHEME}:///{quote(path)}"


def path_of(uri: str) -> str:
    """Read an address. Raises: `CallRefusedError` when it is none of a file of memory."""
    try:
        parts = urlsplit(uri)
    except ValueError as error:
        raise CallRefusedError(f"uri: {uri[:80]!r} is no address ({error})") from error
    if parts.scheme != SCHEME or parts.netloc or not parts.path.startswith("/"):
        raise CallRefusedError(f"uri: {uri[:80]!r} is no file of memory; they are called {SCHEME}:///path")
    return unquote(parts.path[1:])


def type_of(path: str) -> str:
    """Name the type of a file's contents."""
    return _TYPES.get(path.rpartition(".")[2], "text/plain")


async def read_file(path: str, caller: Caller, ask: Ask) -> str:
    """Give a whole file, read piece by piece as `memory:get` gives it.

    Raises: `CallRefusedError` when there is none, or this kind of session may not read it, or it is too long.
    """
    pieces: list[str] = []
    first = 1
    while True:
        try:
            asked = MemoryGet(path=path, from_=first, session_kind=caller.session_kind)
        except ValidationError as error:
            raise CallRefusedError(f"uri: {error.errors()[0]['msg']}") from error
        document: MemoryDocument = await ask(asked)
        if document.notice:
            raise CallRefusedError(document.notice)
        pieces.append(document.text)
        if not document.truncated:
            return "".join(pieces)
        if sum(map(len, pieces)) > MAX_CHARS or first > MAX_LINES:
            raise CallRefusedError(
                f"{path} has more than {MAX_CHARS:,} characters or {MAX_LINES:,} lines; "
                "read it by parts, with memory_get"
            )
        if not document.text.endswith("\n"):
            raise CallRefusedError(f"{path} has a line that is too long to be given; open the file itself")
        first += document.text.count("\n")
