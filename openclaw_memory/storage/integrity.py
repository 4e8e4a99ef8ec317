"""Is a file that does not fit its checksum edited or damaged? Pure.

Seed 000 section 7.1 takes every mismatch for damage and restores the backup; a person's edit would be undone by that.
Damage is only what no edit looks like.
"""

from __future__ import annotations

import hashlib
from collections import Counter
from enum import StrEnum

from openclaw_memory.storage.files import Stamp

_DIGEST = "sha256:"


def digest_of(data: bytes) -> str:
    """Name what a file holds, for files that do not name it themselves."""
    return _DIGEST + hashlib.sha256(data).hexdigest()


def is_digest(version: str) -> bool:
    """Tell whether a version is such a name."""
    return version.startswith(_DIGEST)


def adds_nothing(old: bytes, document: bytes) -> bool:
    """Tell whether a document holds every line of an old state of it, as often as that does."""
    return _lines(old) <= _lines(document)


def _lines(data: bytes) -> Counter[bytes]:
    return Counter(line for raw in data.split(b"\n") if (line := raw.strip()))


class Verdict(StrEnum):
    """What a look at a file's bytes says."""

    INTACT = "INTACT"
    MISSING_CHECKSUM = "MISSING_CHECKSUM"
    CHECKSUM_MISMATCH = "CHECKSUM_MISMATCH"
    DAMAGED = "DAMAGED"

    @property
    def is_edit(self) -> bool:
        """Whether a person wrote it: to be adopted as it is."""
        return self in (Verdict.MISSING_CHECKSUM, Verdict.CHECKSUM_MISMATCH)


def judge(*, fits: bool | None, stamp: Stamp, recorded: Stamp | None) -> Verdict:
    """Judge a file.

    `fits`: whether it fits the checksum that it names, None when it names none. `stamp`: as it is; `recorded`: as we
    left it, None when we never wrote it. Every edit changes the time of a file, so other bytes with our own inode and
    time are damage; that includes a file of ours that was cut off.
    """
    if fits:
        return Verdict.INTACT
    if recorded is not None and (stamp.inode, stamp.mtime_ns) == (recorded.inode, recorded.mtime_ns):
        return Verdict.DAMAGED
    return Verdict.MISSING_CHECKSUM if fits is None else Verdict.CHECKSUM_MISMATCH
