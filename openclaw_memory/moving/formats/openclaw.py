"""A real OpenClaw's folder: workspace (MEMORY.md, USER.md, `memory/`) and sessions (`agents/*/sessions/*.jsonl`)."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping
from datetime import tzinfo

from contracts.fields import SessionKind
from openclaw_memory.context.visibility import kind_of
from openclaw_memory.markdown.curated import parse_curated
from openclaw_memory.markdown.frontmatter import split
from openclaw_memory.markdown.text import decode, split_lines
from openclaw_memory.moving.errors import SourceError
from openclaw_memory.moving.formats.markdown_files import add_file, add_notes
from openclaw_memory.moving.formats.session_files import add_session
from openclaw_memory.moving.found import Finding, FoundEntry, Remark
from openclaw_memory.moving.source import Source

_SESSION = re.compile(r"(?:.*/)?sessions/[^/]+\.jsonl")
_OLD_SESSION = re.compile(r"(?:.*/)?sessions/[^/]+\.jsonl\.(?:deleted|reset|bak)[^/]*")
_STATUS = re.compile(r"<!--\s*observed:\s*(?P<day>[^|>]*?)\s*\|\s*status:\s*(?P<status>\w+)[^>]*-->", re.IGNORECASE)
_UNFILLED = re.compile(r"\*\*[^*]+:\*\*\s*(?:_.*_)?|[^:]+:\s*(?:_.*_)?")
_INSTRUCTIONS = ("AGENTS.md", "SOUL.md", "IDENTITY.md", "TOOLS.md", "HEARTBEAT.md", "BOOTSTRAP.md")
_CURATED = ("MEMORY.md", "memory.md")


def read_folder(source: Source, zone: tzinfo, found: Finding) -> None:
    """Read a workspace, or the folder that holds it beside the agents' sessions."""
    names = frozenset(source.names)
    base = "" if is_workspace(names, "") else "workspace/" if is_workspace(names, "workspace/") else None
    if base is not None:
        _read_workspace(source, base, found)
    for other in sorted({name.partition("/")[0] for name in names if name.startswith("workspace-")}):
        found.left_out.append(Remark(other, "another agent's workspace; name it as the source to import it"))
    kinds = _kinds(source, found)
    for name in source.names:
        if _SESSION.fullmatch(name):
            add_session(found, source, name, zone, kinds)
        elif _OLD_SESSION.fullmatch(name):
            found.left_out.append(Remark(name, "a session that was deleted or begun anew"))


def is_workspace(names: frozenset[str], base: str) -> bool:
    """Tell whether a workspace lies below a folder."""
    marks = {f"{base}{name}" for name in (*_CURATED, "USER.md", *_INSTRUCTIONS)}
    return bool(marks & names) or any(name.startswith(f"{base}memory/") and name.endswith(".md") for name in names)


def _read_workspace(source: Source, base: str, found: Finding) -> None:
    names = frozenset(source.names)
    curated = next((name for name in _CURATED if base + name in names), None)
    inner = f"{base}memory/MEMORY.md"
    if curated is not None:
        add_file(found, source, base + curated, "MEMORY.md")
    elif inner in names:
        add_file(found, source, inner, "MEMORY.md")
    if f"{base}USER.md" in names:
        _read_user(source, f"{base}USER.md", found)
    for name in _INSTRUCTIONS:
        if base + name in names:
            found.left_out.append(Remark(base + name, "instructions to the agent, no memory"))
    notes = [name for name in source.names if name.startswith(f"{base}memory/") and name != inner]
    add_notes(found, source, notes, f"{base}memory/")


def _read_user(source: Source, name: str, found: Finding) -> None:
    """Read USER.md: what holds becomes entries; what was superseded stays out, and fields that nobody filled in."""
    try:
        text = decode(source.read(name)).text
    except SourceError as error:
        found.problems.append(Remark(name, error.problem))
        return
    body = split(text).body
    superseded = _superseded(body)
    offset = text.count("\n") - body.count("\n")
    for entry in parse_curated(body):
        where = f"{name}, line {offset + entry.start_line}"
        if entry.start_line in superseded:
            found.left_out.append(Remark(where, f"superseded: {entry.text:.100}"))
        elif not _UNFILLED.fullmatch(entry.text):
            found.entries.append(FoundEntry(entry.text, entry.section or None, where))


def _superseded(body: str) -> frozenset[int]:
    """Give the lines that stand below a comment saying so, up to the next comment, empty line or heading."""
    lines, status = set(), "active"
    for number, line in enumerate(split_lines(body), start=1):
        marked = _STATUS.search(line)
        if marked:
            status = marked["status"].lower()
        elif not line.strip() or line.startswith("#"):
            status = "active"
        if status == "superseded":
            lines.add(number)
    return frozenset(lines)


def _kinds(source: Source, found: Finding) -> Callable[[str], SessionKind]:
    """Read from the stores beside the sessions which of them are groups': their files' names do not tell."""
    kinds: dict[str, SessionKind] = {}
    for name in source.names:
        if not name.endswith("sessions/sessions.json") and name != "sessions.json":
            continue
        try:
            held = json.loads(source.read(name))
        except (SourceError, ValueError, RecursionError) as error:
            found.problems.append(Remark(name, f"which sessions are groups' can't be told: {error}"))
            continue
        for key, value in held.items() if isinstance(held, dict) else ():
            session = value.get("sessionId") if isinstance(value, Mapping) else None
            if isinstance(session, str):
                kind = kind_of(str(key), "primary")
                # One file under two keys is what is seen least.
                kinds[session] = kind if kinds.get(session) != "group" else "group"
    return lambda session: kinds.get(session) or kind_of(session, "primary")
