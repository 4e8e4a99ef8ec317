"""Every file that may hold what was forgotten: the walk over them, and what kind each is. For a thread."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass
from enum import Enum
from pathlib import Path

from openclaw_memory.errors import UnreadableDocumentError
from openclaw_memory.layers import history_shards
from openclaw_memory.lifecycle.forgetting.texts import Needle, parts, texts_in
from openclaw_memory.lifecycle.forgetting.wanted import LONG_ID_CHARS
from openclaw_memory.storage.files import Files
from openclaw_memory.storage.leftovers import is_temporary

MAX_FILES = 200_000
"""Files that one scan looks at, so that a workspace that is somebody's whole disk does not take for ever."""

MAX_BYTES = 1_073_741_824
"""Largest file that is looked into, in bytes."""

FEW_IDS = 4
"""So many ids are looked for one by one; of more, those that stand by themselves are found, and ours in any case."""

_HISTORY = ".git"
"""What a version history holds is packed, and told of apart."""
_COMPANION = re.compile(
    r"(?P<document>.+\.(?:md|json|jsonl|md\.zst))\.(?:backup|(?:corrupt|recovered)-.+|before-.+|old.*)"
)
_BEFORE_IMPORT = re.compile(r"backups/[^/]+/(?:memory|elsewhere)/(?P<inner>.+)")
"""A file of what was backed up before an import."""
_JOURNAL_COPY = re.compile(r"\.journal/.+\.corrupt-.+")
_INDEX = re.compile(r"(?P<name>[^/]+)\.(?:sqlite(?:-wal|-shm|-journal)?|vectors(?:-wal|-shm|-journal)?|index/.+)")
_ULID = re.compile(rb"[0-7][0-9A-HJKMNP-TV-Z]{25}")
"""An id of ours: capitals and digits, which in a database begin behind a `#` and end before a small letter."""
_LONGEST_ID = 256
_ID = re.compile(rb"[0-9A-Za-z][0-9A-Za-z-]{%d,}" % (LONG_ID_CHARS - 1))


class Kind(Enum):
    """What a file is to memory."""

    DOCUMENT = "document"
    COPY = "copy"
    JOURNAL = "journal"
    JOURNAL_COPY = "journal copy"
    INDEX = "index"
    INBOX = "inbox"
    HANDED_IN = "handed in"
    LEFT_OVER = "left over"
    MANIFEST = "manifest"
    STRANGER = "stranger"


@dataclass(frozen=True, slots=True)
class Found:
    """A file: where it is, its path as documents have one, what it is. `document` is what it is a copy of."""

    place: Path
    path: str
    kind: Kind
    document: str | None = None


class Traces:
    """What is looked for in bytes.

    Parameters: `needle`, a text; `ids` of messages, of which only those count that can be nothing else; `known`, which
    tells of a text that it was forgotten, where that is all that is left to go by.
    """

    def __init__(self, needle: Needle | None, ids: Collection[str], known: Callable[[str], bool] | None = None) -> None:
        self._needle = needle
        self._known = known
        self._ids = {id_.encode() for id_ in ids if len(id_) >= LONG_ID_CHARS}

    def __bool__(self) -> bool:
        return self._needle is not None or bool(self._ids) or self._known is not None

    def knowing(self, known: Callable[[str], bool] | None) -> Traces:
        """Give the same that also asks of every line, and every text in it, whether it was forgotten."""
        other = Traces(self._needle, (), known)
        other._ids = self._ids
        return other

    def within(self, data: bytes) -> bool:
        """Tell whether a file holds any of it."""
        if self._needle is not None and self._needle.in_bytes(data):
            return True
        if self._ids and any(map(self._names_one, parts(data, _LONGEST_ID))):
            return True
        return self._known is not None and any(map(self._known, texts_in(data)))

    def _names_one(self, part: bytes) -> bool:
        if len(self._ids) <= FEW_IDS:
            # Whatever stands beside them: in a database nothing is between one field and the next.
            return any(id_ in part for id_ in self._ids)
        return not self._ids.isdisjoint(_ULID.findall(part)) or not self._ids.isdisjoint(_ID.findall(part))


def kind_of(path: str, documents: Callable[[str], bool]) -> tuple[Kind, str | None]:
    """Tell what a file is by its path, as documents have one, and what it is a copy of."""
    if match := _BEFORE_IMPORT.fullmatch(path):
        kind, document = kind_of(match["inner"], documents)
        copied = {Kind.DOCUMENT: (Kind.COPY, match["inner"]), Kind.JOURNAL: (Kind.JOURNAL_COPY, None)}
        return copied.get(kind, (kind, document))
    name = path.rpartition("/")[2]
    if path.startswith(".inbox/"):
        return (Kind.HANDED_IN if path.startswith(".inbox/new/") else Kind.INBOX), None
    if _JOURNAL_COPY.fullmatch(path):
        return Kind.JOURNAL_COPY, None
    if path.startswith(".journal/"):
        return Kind.JOURNAL, None
    if path == "index.json":
        return Kind.MANIFEST, None
    if _INDEX.fullmatch(path):
        return Kind.INDEX, None
    if is_temporary(name):
        return Kind.LEFT_OVER, None
    if match := _COMPANION.fullmatch(path.removeprefix(".state/kept/")):
        return Kind.COPY, match["document"]
    if documents(path):
        return Kind.DOCUMENT, None
    return (Kind.COPY, path.removeprefix(".state/kept/")) if path.startswith(".state/") else (Kind.STRANGER, None)


def every_file(
    roots: Mapping[str, Path], files: Files, documents: Callable[[str], bool], problems: list[str]
) -> Iterator[Found]:
    """Give every file below some folders, links to folders not followed.

    Parameters: `roots`, folders by what the paths of their documents begin with; `documents` tells which paths are
    documents; `problems`, to which is added what could not be looked at.
    """
    count = 0
    seen: set[Path] = set()
    for prefix, root in roots.items():
        waiting = [(root, prefix)]
        while waiting:
            folder, path = waiting.pop()
            if folder in seen:
                continue
            seen.add(folder)
            try:
                names, inner = sorted(files.scan(folder)), files.folders(folder)
            except OSError as error:
                problems.append(f"{folder} can't be looked through ({error.strerror or error})")
                continue
            waiting += [(folder / name, _joined(path, name)) for name in sorted(inner) if name != _HISTORY]
            for name in names:
                count += 1
                if count > MAX_FILES:
                    problems.append(f"there are more than {MAX_FILES:,} files; not all were looked at")
                    return
                whole = _joined(path, name)
                kind, document = kind_of(whole, documents)
                yield Found(folder / name, whole, kind, document)


def data_of(found: Found, files: Files) -> bytes:
    """Read a file, decompressed where it is compressed.

    Raises: `OSError`, also when it is too large.
    """
    stamp = files.stamp_now(found.place)
    if stamp is not None and stamp.size > MAX_BYTES:
        raise OSError(f"it has {stamp.size:,} bytes, at most {MAX_BYTES:,} are looked into")
    return opened(found, files.read_now(found.place))


def opened(found: Found, data: bytes) -> bytes:
    """Give what a file says; it may be compressed.

    Raises: `OSError` when it can't be decompressed: nobody can tell what it says.
    """
    if not (found.document or found.path).endswith(history_shards.SUFFIX):
        return data
    try:
        return history_shards.opened(found.path, data, MAX_BYTES)
    except UnreadableDocumentError as error:
        raise OSError(error.problem) from error


def holding(these: Iterable[Found], files: Files, traces: Traces, problems: list[str]) -> list[Found]:
    """Choose the files that hold what is looked for."""
    held = []
    for found in these:
        try:
            if traces.within(data_of(found, files)):
                held.append(found)
        except FileNotFoundError:
            # Gone since it was listed.
            continue
        except OSError as error:
            problems.append(f"{found.path} can't be looked into ({error.strerror or error})")
    return held


def _joined(folder: str, name: str) -> str:
    return f"{folder}/{name}" if folder else name
