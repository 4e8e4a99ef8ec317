"""Months of HISTORY.md that are over: `memory/HISTORY-2026-04.md.zst` (seed 004 section 4.3).

The same lines, compressed: `zstdgrep` looks into them as `grep` does into HISTORY.md, and search finds them as before.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Sequence
from datetime import date, datetime, tzinfo

from openclaw_memory.errors import UnreadableDocumentError
from openclaw_memory.layers.history import MAX_BYTES, HistoryDocument, HistoryFormat
from openclaw_memory.markdown.history_lines import HistoryEntry

if sys.version_info >= (3, 14):
    from compression import zstd
else:
    from backports import zstd

SUFFIX = ".md.zst"

LEVEL = 10
"""Of 19; a shard is written once a month, and read at each start that finds it changed."""

_OPTIONS: dict[int, int] = {
    zstd.CompressionParameter.compression_level: LEVEL,
    zstd.CompressionParameter.checksum_flag: 1,
}
_NAME = re.compile(r"memory/HISTORY-(\d{4})-(\d\d)\.md\.zst", re.ASCII)


class HistoryShardFormat(HistoryFormat):
    """How a compressed month is read and written; what it holds is a history like any other."""

    def parse(self, path: str, data: bytes) -> HistoryDocument:
        return super().parse(path, opened(path, data, MAX_BYTES))

    def render(self, document: HistoryDocument) -> tuple[bytes, HistoryDocument]:
        data, written = super().render(document)
        return compressed(data), written

    def salvage(self, path: str, data: bytes) -> HistoryDocument:
        try:
            return super().salvage(path, opened(path, data, MAX_BYTES))
        except UnreadableDocumentError:
            return HistoryDocument(path)


FORMAT = HistoryShardFormat()


def is_shard(path: str) -> bool:
    """Tell whether a path within a workspace is a month of its history."""
    return _NAME.fullmatch(path) is not None


def shard_path(history: str, month: date) -> str:
    """Give the file of a month, beside HISTORY.md at `history`."""
    return f"{history.removesuffix('.md')}-{month:%Y-%m}{SUFFIX}"


def by_month(entries: Sequence[HistoryEntry], zone: tzinfo, today: date) -> dict[date, list[HistoryEntry]]:
    """Give the entries of months that are over, by the first day of their month, each in the order of the file.

    An entry without a time that can be read belongs to the month of the one before it. Parameters: `zone`, the user's
    time zone, that of times without an offset; `today`, the user's day.
    """
    current = today.replace(day=1)
    found: dict[date, list[HistoryEntry]] = {}
    month = current
    for entry in entries:
        month = _month(entry.time, zone) or month
        if month < current:
            found.setdefault(month, []).append(entry)
    return dict(sorted(found.items()))


def _month(time: datetime | None, zone: tzinfo) -> date | None:
    if time is None:
        return None
    try:
        local = time if time.utcoffset() is None else time.astimezone(zone)
    except OverflowError:
        return None
    return local.date().replace(day=1)


def compressed(data: bytes) -> bytes:
    """Compress, with a checksum that tells damage."""
    return zstd.compress(data, options=_OPTIONS)


def opened(path: str, data: bytes, most: int) -> bytes:
    """Decompress up to `most` bytes.

    Raises: `UnreadableDocumentError` when it is cut off, damaged, too large or no zstd at all.
    """
    read = bytearray()
    rest = data
    try:
        # A file may have several frames, one after the other, as `cat` makes them.
        while rest:
            decompressor = zstd.ZstdDecompressor()
            read += decompressor.decompress(rest, most + 1 - len(read))
            if len(read) > most:
                raise UnreadableDocumentError(path, f"more than {most:,} bytes when opened", is_whole=True)
            if not decompressor.eof:
                raise UnreadableDocumentError(path, "its compressed bytes are cut off")
            rest = decompressor.unused_data
    except zstd.ZstdError as error:
        raise UnreadableDocumentError(path, f"no zstd: {error}") from error
    return bytes(read)
