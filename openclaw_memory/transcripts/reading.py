"""Reading a session: the whole of it, or of a large file its end."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

from openclaw_memory.transcripts.branch import current_branch
from openclaw_memory.transcripts.lines import MAX_LINE_BYTES, Line, read_line, split
from openclaw_memory.transcripts.values import Transcript

CHUNK_BYTES = 262_144
"""How much is read at once from the end of a file, in bytes."""

ReadRange = Callable[[int, int], bytes]
"""Gives so many bytes from an offset, fewer only at the end of the file."""


def read_transcript(data: bytes, *, compacted: bool = True) -> Transcript:
    """Read the current branch of a whole file, whatever it holds; never raises.

    Parameters: as those of `current_branch`.
    """
    return current_branch(reversed(split(data)), compacted=compacted)


def read_newest(read_range: ReadRange, size: int, most: int, *, compacted: bool = True) -> Transcript:
    """Read the newest messages of a file from its end; no more of it than is needed.

    Parameters: `read_range`; `size`, that of the file in bytes; `most`, how many messages are enough.

    Raises: what `read_range` raises.
    """
    return current_branch(lines_backwards(read_range, size), most=most, compacted=compacted)


def lines_backwards(read_range: ReadRange, size: int, chunk: int = CHUNK_BYTES) -> Iterator[Line]:
    """Yield the lines of a file, the newest first, reading `chunk` bytes at a time.

    A line longer than is ever parsed is told as a problem, and not held in memory.
    """
    end = size
    rest = _Rest()
    while end > 0:
        start = max(0, end - chunk)
        first, *others = read_range(start, end - start).split(b"\n")
        place = end - len(others[-1]) if others else end
        for number, piece in enumerate(reversed(others)):
            if number:
                place -= len(piece) + 1
                rest.put(b"\n")
            rest.put(piece)
            if rest.length:
                yield rest.take(place)
        if others:
            rest.put(b"\n")
        rest.put(first)
        end = start
    if rest.length:
        yield rest.take(0)


@dataclass(slots=True)
class _Rest:
    """A line whose beginning was not read yet: its pieces, the last one first."""

    pieces: list[bytes] = field(default_factory=list)
    length: int = 0

    def put(self, piece: bytes) -> None:
        """Put a piece before what is held; of a line that is too long only the length is counted."""
        self.length += len(piece)
        if self.length <= MAX_LINE_BYTES:
            self.pieces.append(piece)

    def take(self, offset: int) -> Line:
        """Give the line, which begins at `offset`, and begin another."""
        raw, length = b"".join(reversed(self.pieces)), self.length
        self.pieces, self.length = [], 0
        if length > len(raw):
            return Line(offset, raw, None, f"{length:,} bytes in one line, at most {MAX_LINE_BYTES:,} are read")
        return read_line(offset, raw)
