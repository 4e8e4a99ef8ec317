"""Which format a source has, told by what lies in it."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from datetime import tzinfo
from typing import Literal, get_args

from openclaw_memory.layers.documents import version_of
from openclaw_memory.layers.rooms import FOLDERS
from openclaw_memory.markdown.frontmatter import split
from openclaw_memory.markdown.text import decode
from openclaw_memory.moving.errors import SourceError
from openclaw_memory.moving.formats import (
    basic_memory,
    chatgpt,
    claude,
    memsearch,
    nanobot,
    openclaw,
    own_lines,
    session_files,
)
from openclaw_memory.moving.formats.json_items import items_of
from openclaw_memory.moving.found import Finding, Remark
from openclaw_memory.moving.source import Source

Format = Literal["openclaw", "nanobot", "memsearch", "basic-memory", "chatgpt", "claude", "jsonl"]
FORMATS: tuple[Format, ...] = get_args(Format)

_CHATS = re.compile(r"(?:[^/]+/)?conversations(?:[-_]\d+)?\.json", re.IGNORECASE)
_MEMORIES = re.compile(r"(?:[^/]+/)?(?:memories|memories/[^/]+)\.json")
_PROJECTS = re.compile(r"(?:[^/]+/)?(?:projects|projects/[^/]+)\.json")
_OURS = tuple(f"memory/{folder}/" for folder in FOLDERS)
_LOOKED_AT = 8
"""Files that tell whether a folder is a home of ours."""
_PROBED = 65_536
"""Bytes at the beginning of a file that tell what it is."""


def read_source(source: Source, zone: tzinfo, given: Format | None = None) -> Finding:
    """Read everything that a source holds.

    Parameters: `zone`, in which times without an offset were meant; `given`, the format, where the person named it.

    Raises: `SourceError` when the format is none that is known, or nothing at all was found in it.
    """
    form = given or recognised(source)
    if form is None:
        raise SourceError(
            source.label,
            "nothing in it tells what wrote it",
            f"name the format with --from: {', '.join(FORMATS)}",
        )
    found = Finding(form, problems=list(source.problems))
    match form:
        case "chatgpt" | "claude":
            read = chatgpt.read_chats if form == "chatgpt" else claude.read_chats
            for name in _chat_files(source):
                read(name, source.read(name), zone, found)
            for name in source.names if form == "claude" else ():
                if _MEMORIES.fullmatch(name):
                    claude.read_memories(name, source.read(name), found)
                elif _PROJECTS.fullmatch(name):
                    found.left_out.append(Remark(name, "projects; only chats and memories are read"))
        case "openclaw":
            if _single(source, ".jsonl"):
                session_files.add_session(found, source, source.names[0], zone)
            else:
                openclaw.read_folder(source, zone, found)
        case "nanobot":
            if _single(source, ".jsonl"):
                session_files.add_session(found, source, source.names[0], zone, prefix="nanobot-")
            else:
                nanobot.read_folder(source, zone, found)
        case "memsearch":
            memsearch.read_folder(source, found)
        case "basic-memory":
            basic_memory.read_folder(source, found)
        case "jsonl":
            for name in [name for name in source.names if name.endswith(".jsonl")]:
                own_lines.read_lines(name, source.read(name), zone, found)
    if not (found.messages or found.files or found.entries or found.problems or found.left_out):
        raise SourceError(source.label, f"nothing of {form} was found in it", "check the path, or name another --from")
    return found


def recognised(source: Source) -> Format | None:
    """Tell the format of a source; None when nothing tells it.

    Raises: `SourceError`, also for a home of ours, whose days and facts would be taken for notes of a workspace.
    """
    names = frozenset(source.names)
    for name in _chat_files(source):
        form = _chats(source.read(name))
        if form is not None:
            return form
    if _single(source, ".jsonl"):
        return _lines(source.read(source.names[0])[:_PROBED])
    if memsearch.base_of(names) is not None or source.label == ".memsearch":
        return "memsearch"
    if nanobot.base_of(names) is not None:
        return "nanobot"
    if _is_home(source):
        raise SourceError(
            source.label,
            "it is a home of this memory, files and all",
            "use it as --root and `export` it as JSON lines, or name the workspace within it",
        )
    if any(openclaw.is_workspace(names, base) for base in ("", "workspace/")) or _has_sessions(source):
        return "openclaw"
    if basic_memory.is_folder(source):
        return "basic-memory"
    lines = [name for name in source.names if name.endswith(".jsonl")]
    if len(lines) == 1 and _lines(source.read(lines[0])[:_PROBED]) == "jsonl":
        return "jsonl"
    return None


def _is_home(source: Source) -> bool:
    """Tell whether documents of ours lie where a home has them: their front matter names the version."""
    ours = [name for name in source.names if name.startswith(_OURS) and name.endswith(".md")]
    return any(_has_version(source, name) for name in ours[:_LOOKED_AT])


def _has_version(source: Source, name: str) -> bool:
    try:
        return version_of(split(decode(source.read(name)[:_PROBED]).text)) is not None
    except SourceError:
        # It is told with the others that can't be read.
        return False


def _chat_files(source: Source) -> list[str]:
    if _single(source, ".json"):
        return list(source.names)
    return [name for name in source.names if _CHATS.fullmatch(name)]


def _single(source: Source, ending: str) -> bool:
    return len(source.names) == 1 and source.names[0].lower().endswith(ending)


def _has_sessions(source: Source) -> bool:
    return any("sessions/" in name and name.endswith(".jsonl") for name in source.names)


def _chats(data: bytes) -> Format | None:
    """Tell whose chats a file holds, by the first that can be read."""
    for item in items_of(data):
        if isinstance(item.value, dict):
            if "mapping" in item.value:
                return "chatgpt"
            if "chat_messages" in item.value:
                return "claude"
    return None


def _lines(data: bytes) -> Format | None:
    for value in _objects(data):
        if value.get("kind") in own_lines.KINDS:
            return "jsonl"
        if value.get("_type") == "metadata":
            return "nanobot"
        if "role" in value or value.get("type") in ("session", "message"):
            return "openclaw"
    return None


def _objects(data: bytes) -> Iterator[dict[str, object]]:
    for line in decode(data).text.split("\n"):
        try:
            value = json.loads(line)
        except (ValueError, RecursionError):
            continue
        if isinstance(value, dict):
            yield value
