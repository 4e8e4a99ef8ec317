"""Our own export as JSON lines (docs/moving.md): documents whole, and the pieces that they are made of."""

from __future__ import annotations

import base64
import binascii
import json
from collections.abc import Mapping
from datetime import tzinfo
from typing import Any, cast, get_args

from contracts.fields import Origin, Role
from openclaw_memory.moving.formats.values import moment, word
from openclaw_memory.moving.found import Base, Finding, FoundFile, FoundMessage, Remark
from openclaw_memory.retrieval.blocks import Block
from openclaw_memory.transcripts.lines import MAX_LINE_BYTES

VERSION = 1
KINDS = ("export", "document", "piece")

_ROLES, _ORIGINS = frozenset(get_args(Role)), frozenset(get_args(Origin))


# -- writing ---------------------------------------------------------------------------------------------------------


def header() -> bytes:
    """Give the first line."""
    return _line({"kind": "export", "version": VERSION})


def document_line(path: str, layer: str, data: bytes) -> bytes:
    """Write a document: as text where it is UTF-8, else its bytes in base64."""
    try:
        return _line({"kind": "document", "path": path, "layer": layer, "text": data.decode("utf-8")})
    except UnicodeDecodeError:
        return _line({"kind": "document", "path": path, "layer": layer, "base64": base64.b64encode(data).decode()})


def piece_line(block: Block) -> bytes:
    """Write a piece: address, layer, time, text, and whatever else is known of it."""
    value: dict[str, Any] = {
        "kind": "piece",
        "address": block.key,
        "layer": block.layer,
        "path": block.path,
        "lines": [block.start_line, block.end_line],
        "time": None if block.time is None else block.time.isoformat(),
        "text": block.text,
        "session": block.session,
        "role": block.role,
        "name": block.name,
        "origin": block.origin,
        "section": block.section,
        "visibility": block.visibility,
        "important": block.important or None,
        "tags": list(block.tags) or None,
    }
    kept = ("time", "text")
    return _line({name: item for name, item in value.items() if item is not None or name in kept})


def _line(value: Mapping[str, Any]) -> bytes:
    text = json.dumps(value, ensure_ascii=False, separators=(",", ":"))
    return text.encode("utf-8", "replace") + b"\n"


# -- reading ---------------------------------------------------------------------------------------------------------


def read_lines(name: str, data: bytes, zone: tzinfo, found: Finding) -> None:
    """Read an export. Damaged lines, and those of kinds that are not known, cost themselves."""
    documents: set[str] = set()
    others: dict[str, int] = {}
    for number, raw in enumerate(data.split(b"\n"), start=1):
        if not raw.strip():
            continue
        where = f"{name}, line {number}"
        value = _object(raw, where, found)
        match value.get("kind"):
            case None:
                pass
            case "export" if value.get("version") == VERSION:
                pass
            case "export":
                found.problems.append(
                    Remark(where, f"an export of version {value.get('version')!r}, this program knows {VERSION}")
                )
            case "document":
                if (file := _file(value, where, found)) is not None:
                    documents.add(str(value["path"]))
                    found.files.append(file)
            case "piece" if value.get("layer") == "conversation" and value.get("role") is not None:
                _read_message(value, where, zone, found)
            case "piece":
                others[str(value.get("path"))] = others.get(str(value.get("path")), 0) + 1
            case kind:
                found.problems.append(Remark(where, f"`kind` is {kind!r:.50}, which is not known"))
    for path, count in sorted(others.items()):
        if path not in documents:
            found.left_out.append(Remark(name, f"{count} pieces of {path}, which itself is not in this export"))


def _object(raw: bytes, where: str, found: Finding) -> Mapping[str, Any]:
    # A document may be as large as its layer lets it be, with every character escaped.
    if len(raw) > 8 * MAX_LINE_BYTES:
        found.problems.append(Remark(where, f"{len(raw):,} bytes in one line, at most {8 * MAX_LINE_BYTES:,} are read"))
        return {}
    try:
        value = json.loads(raw.decode("utf-8-sig"))
    except (ValueError, RecursionError) as error:
        found.problems.append(Remark(where, f"no JSON: {error}"[:300]))
        return {}
    if not isinstance(value, dict) or "kind" not in value:
        found.problems.append(Remark(where, "no object with a `kind`"))
        return {}
    return value


def _file(value: Mapping[str, Any], where: str, found: Finding) -> FoundFile | None:
    path, text, packed = word(value.get("path")), value.get("text"), value.get("base64")
    if path is None:
        found.problems.append(Remark(where, "a document without a `path`"))
        return None
    if isinstance(text, str):
        data = text.encode("utf-8", "replace")
    elif isinstance(packed, str):
        try:
            data = base64.b64decode(packed, validate=True)
        except (binascii.Error, ValueError) as error:
            found.problems.append(Remark(where, f"`base64` can't be read: {error}"))
            return None
    else:
        found.problems.append(Remark(where, "a document without `text` or `base64`"))
        return None
    base, relative = _base(path)
    return FoundFile(base, relative, data, where, ours=True)


def _base(path: str) -> tuple[Base, str]:
    """Tell which folder a document belongs to; a workspace's id is that of the memory that it goes into."""
    top, _, rest = path.partition("/")
    if top == "workspace":
        return "workspace", rest.partition("/")[2]
    return ("agents", rest) if top == "agents" else ("memory", path)


def _read_message(value: Mapping[str, Any], where: str, zone: tzinfo, found: Finding) -> None:
    session, text, role = value.get("session"), value.get("text"), value.get("role")
    time = moment(value.get("time"), zone)
    if not isinstance(text, str) or role not in _ROLES or time is None:
        found.problems.append(Remark(where, "a message needs `text`, `time` and a known `role`"))
        return
    origin = value.get("origin")
    found.messages.append(
        FoundMessage(
            session if isinstance(session, str) and session else "imported",
            cast(Role, role),
            time,
            text,
            where,
            name=word(value.get("name")),
            origin=cast(Origin, origin) if origin in _ORIGINS else None,
            important=value.get("important") is True,
            kind="group" if value.get("visibility") == "group" else "primary",
            id=str(value.get("address", "")).partition("#")[2] or None,
            document=word(value.get("path")),
        )
    )
