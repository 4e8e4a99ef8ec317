"""A nanobot workspace: MEMORY.md, HISTORY.md, `history.jsonl`, and sessions as JSON lines."""

from __future__ import annotations

from collections import defaultdict
from datetime import datetime, tzinfo

from openclaw_memory.moving.errors import SourceError
from openclaw_memory.moving.formats.markdown_files import add_file, add_notes
from openclaw_memory.moving.formats.session_files import add_session
from openclaw_memory.moving.formats.values import moment, word
from openclaw_memory.moving.found import Finding, FoundFile, Remark
from openclaw_memory.moving.source import Source
from openclaw_memory.transcripts.lines import split


def base_of(names: frozenset[str]) -> str | None:
    """Tell where in a folder a nanobot workspace begins; None when there is none."""
    for base in ("", "workspace/"):
        if f"{base}memory/HISTORY.md" in names or f"{base}memory/history.jsonl" in names:
            return base
    return None


def read_folder(source: Source, zone: tzinfo, found: Finding) -> None:
    """Read a workspace. Its history becomes HISTORY.md, or notes of the days that it tells of."""
    base = base_of(frozenset(source.names)) or ""
    memory = f"{base}memory/"
    for name in source.names:
        if name == f"{memory}MEMORY.md":
            add_file(found, source, name, "MEMORY.md")
        elif name == f"{memory}history.jsonl":
            _read_history(source, name, zone, found)
        elif name.startswith((f"{base}sessions/", "sessions/")) and name.endswith(".jsonl"):
            add_session(found, source, name, zone, prefix="nanobot-")
        elif name.startswith(memory):
            add_notes(found, source, [name], memory)


def _read_history(source: Source, name: str, zone: tzinfo, found: Finding) -> None:
    """Read `history.jsonl`: a summary a line, with its time. Each day's become a note with that day's name."""
    try:
        data = source.read(name)
    except SourceError as error:
        found.problems.append(Remark(name, error.problem))
        return
    days: dict[str, list[tuple[datetime, str]]] = defaultdict(list)
    for number, line in enumerate(split(data), start=1):
        where = f"{name}, line {number}"
        if line.value is None:
            if line.problem is not None:
                found.problems.append(Remark(where, line.problem))
            continue
        text, time = word(line.value.get("content")), moment(line.value.get("timestamp"), zone)
        if text is None or time is None:
            missing = "`content`" if text is None else "`timestamp`"
            found.problems.append(Remark(where, f"{missing} is missing, or nothing that can be read"))
            continue
        days[time.date().isoformat()].append((time, text.strip()))
    for day, told in sorted(days.items()):
        entries = "\n\n".join(f"### {time:%H:%M}\n\n{text}" for time, text in sorted(told, key=lambda one: one[0]))
        data = f"## {day}\n\n{entries}\n".encode("utf-8", "replace")
        found.files.append(FoundFile("workspace", f"memory/{day}-nanobot.md", data, name))
