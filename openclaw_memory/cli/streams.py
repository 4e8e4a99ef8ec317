"""The standard streams of the program: they show what they can, and say when they take nothing any more."""

from __future__ import annotations

import io
import os
import sys
from contextlib import suppress
from typing import TYPE_CHECKING, TextIO

if TYPE_CHECKING:
    from _typeshed import ReadableBuffer


class OutputError(Exception):
    """Raised when the standard output, or that for errors, takes nothing any more: the disk that it goes to is full.

    It is no `OSError`, so that no command takes it for its memory's disk.
    """

    def __init__(self, problem: BaseException) -> None:
        super().__init__(getattr(problem, "strerror", None) or str(problem))


class _Output(io.FileIO):
    """A standard stream, whose faults are told from those of other files."""

    def write(self, data: ReadableBuffer, /) -> int:
        """Write what the stream takes.

        Raises: `BrokenPipeError` where nobody reads any more, which ends a program without a word; `OutputError`.
        """
        try:
            return super().write(data)
        except BrokenPipeError:
            raise
        except OSError as error:
            raise OutputError(error) from error


def prepare() -> None:
    """Make the standard streams take whatever a memory or the name of a file holds."""
    sys.stdout, sys.stderr = _telling(sys.stdout), _telling(sys.stderr)
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            # Whatever the terminal can show.
            stream.reconfigure(errors="backslashreplace")
    if isinstance(sys.stdin, io.TextIOWrapper):
        # Bytes that are no text are taken as those of the command line are: memory says what becomes of them.
        sys.stdin.reconfigure(errors="surrogateescape")


def give_up() -> None:
    """Leave what could not be written, so that the end of the program does not try again."""
    for stream in (sys.stdout, sys.stderr):
        with suppress(OSError, ValueError, AttributeError):
            try:
                stream.flush()
            except OutputError:
                nothing = os.open(os.devnull, os.O_WRONLY)
                os.dup2(nothing, stream.fileno())
                os.close(nothing)


def _telling(stream: TextIO) -> TextIO:
    if not isinstance(stream, io.TextIOWrapper):
        # Closed before the program began, or somebody else's.
        return stream
    raw = getattr(stream.buffer, "raw", stream.buffer)
    if type(raw) is not io.FileIO:
        # The console of Windows, which no disk is behind.
        return stream
    stream.flush()
    return io.TextIOWrapper(
        io.BufferedWriter(_Output(raw.fileno(), "wb", closefd=False)),
        stream.encoding,
        stream.errors,
        line_buffering=stream.line_buffering or stream.write_through,
    )
