"""See whether tantivy's files are what tantivy wrote. It does not look itself, and may panic over others later."""

from __future__ import annotations

import json
from pathlib import Path
from zlib import crc32

_ENDINGS = (".idx", ".term", ".store", ".fast", ".fieldnorm", ".pos")
_MAGIC = 1337
_PIECE = 1 << 20


def damaged_segment(folder: Path) -> str | None:
    """Name the first file of the last commit whose sum is not what its footer says; None when all are sound.

    Files that belong to no commit may be half written: a process ended. A footer is a JSON text with `crc`, its length
    (4 bytes), and a magic number (4 bytes), little-endian.
    """
    meta = json.loads((folder / "meta.json").read_bytes())
    deletes = {}
    for segment in meta["segments"]:
        name = segment["segment_id"].replace("-", "")
        deletes[name] = f"{name}.{segment['deletes']['opstamp']}.del" if segment["deletes"] else None
    for path in sorted(folder.iterdir()):
        name = path.name.partition(".")[0]
        committed = path.suffix in _ENDINGS or (path.suffix == ".del" and path.name == deletes.get(name))
        if name in deletes and committed and not _sound(path):
            return path.name
    return None


def _sound(path: Path) -> bool:
    with path.open("rb") as file:
        size = file.seek(0, 2)
        if size < 8:
            return False
        file.seek(size - 8)
        tail = file.read(8)
        length, magic = int.from_bytes(tail[:4], "little"), int.from_bytes(tail[4:], "little")
        if magic != _MAGIC or length > size - 8:
            return False
        file.seek(size - 8 - length)
        try:
            expected = json.loads(file.read(length))["crc"]
        except (ValueError, KeyError, TypeError):
            return False
        left, found = size - 8 - length, 0
        file.seek(0)
        while left and (piece := file.read(min(_PIECE, left))):
            found = crc32(piece, found)
            left -= len(piece)
        return bool(found == expected)
