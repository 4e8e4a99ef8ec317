"""The server on the standard streams of the process: one client, which started it."""

from __future__ import annotations

import os
import re
from collections.abc import AsyncIterator, Iterator
from contextlib import contextmanager, suppress
from typing import Any, cast

import anyio
from mcp.server.lowlevel import Server
from mcp.server.stdio import stdio_server

_CHUNK = 65_536
_ESCAPED = re.compile(
    r"\\\\|\\u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2}|(?P<half>\\u[dD][89a-fA-F][0-9a-fA-F]{2})"
)
"""A backslash that stands for itself, a pair, or a half."""
_STDIN = 0


async def serve_stdio(server: Server[Any], stop: anyio.Event) -> None:
    """Serve until the client closes its end, goes away, or `stop` is set."""
    try:
        async with anyio.create_task_group() as group:
            group.start_soon(_stopping, stop, group.cancel_scope)
            with _private_stdin() as descriptor:
                # The package's own reader waits in a thread, which nothing but the client could end.
                lines = cast(Any, lines_of(descriptor))
                async with stdio_server(stdin=lines) as (incoming, outgoing):
                    await server.run(incoming, outgoing, server.create_initialization_options())
            group.cancel_scope.cancel()
    except* BrokenPipeError:
        # Nobody reads any more: the same as the end of what is read.
        pass


async def _stopping(stop: anyio.Event, scope: anyio.CancelScope) -> None:
    await stop.wait()
    scope.cancel()


async def lines_of(descriptor: int) -> AsyncIterator[str]:
    """Yield the lines of a pipe as they come; it can be cancelled at any moment."""
    rest = bytearray()
    while True:
        # A regular file can't be waited for, and need not.
        with suppress(PermissionError):
            await anyio.wait_readable(descriptor)
        chunk = os.read(descriptor, _CHUNK)
        if not chunk:
            break
        *whole, last = chunk.split(b"\n")
        for line in whole:
            rest += line
            yield whole_characters(rest.decode(errors="replace"))
            rest.clear()
        rest += last
    if rest:
        yield whole_characters(rest.decode(errors="replace"))


def whole_characters(line: str) -> str:
    """Replace halves of surrogate pairs in a line of JSON by U+FFFD.

    JavaScript writes a text that was cut inside an emoji so. The package would pass over the whole line, and the client
    would wait for its answer for ever.
    """
    return _ESCAPED.sub(lambda match: r"\ufffd" if match["half"] else match.group(), line) if "\\u" in line else line


@contextmanager
def _private_stdin() -> Iterator[int]:
    """Keep the standard input for the protocol: whatever else reads it finds its end."""
    private = os.dup(_STDIN)
    nothing = os.open(os.devnull, os.O_RDONLY)
    os.dup2(nothing, _STDIN)
    os.close(nothing)
    try:
        yield private
    finally:
        os.dup2(private, _STDIN)
        os.close(private)
