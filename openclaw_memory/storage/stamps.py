"""Stamps of the files as we left them, so that the next start tells damage from an edit; losing them is harmless."""

from __future__ import annotations

import json
import logging
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from openclaw_memory.storage.durable import write_whole
from openclaw_memory.storage.files import Files, Stamp
from openclaw_memory.storage.shelf import Shelf

log = logging.getLogger(__name__)

NAME = ".state/stamps"


@dataclass(frozen=True, slots=True)
class Left:
    """A file as we left it: its stamp, and the digest of its bytes where it names no version itself."""

    stamp: Stamp
    digest: str | None = None


def read_stamps(root: Path, files: Files) -> dict[str, Left]:
    """Read what was written at the last close; empty when there is nothing that can be read."""
    try:
        return {
            path: Left(Stamp(inode, size, mtime_ns), *digest)
            for path, (inode, size, mtime_ns, *digest) in json.loads(files.read_now(root / NAME)).items()
        }
    except FileNotFoundError:
        return {}
    except (OSError, ValueError, TypeError, AttributeError) as error:
        log.warning("%s can't be read (%s); what changed since is taken for edits", root / NAME, error)
        return {}


def write_stamps(root: Path, files: Files, left: Mapping[str, Left]) -> None:
    """Write the stamps. Failing is no loss, and only logged."""
    content = {
        path: [one.stamp.inode, one.stamp.size, one.stamp.mtime_ns, *([one.digest] if one.digest else [])]
        for path, one in sorted(left.items())
    }
    try:
        write_whole(files, root / NAME, json.dumps(content, indent=0).encode() + b"\n")
    except OSError as error:
        log.warning("%s can't be written: %s", root / NAME, error)


def remember_stamps(shelf: Shelf) -> None:
    """Write down how the files of all documents were left. For a thread."""
    held = shelf.entries
    # Files that nobody needed in this run are as an earlier one left them, or somebody has changed them since.
    left = {
        path: Left(stamp, shelf.digests.get(path))
        for path, stamp in shelf.recorded.items()
        if path not in held and not _is_gone(shelf, path)
    }
    left |= {path: Left(one.ours, one.digest) for path, one in held.items() if one.ours and not one.to_write}
    write_stamps(shelf.places.root, shelf.files, left)


def _is_gone(shelf: Shelf, path: str) -> bool:
    try:
        return shelf.files.stamp_now(shelf.places.of(path)) is None
    except OSError:
        # It can't be looked at now; perhaps the next time.
        return False
