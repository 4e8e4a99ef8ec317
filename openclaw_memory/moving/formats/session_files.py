"""Sessions as JSON lines, of OpenClaw in all its versions and of nanobot: messages of the current branch, all of it."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime, tzinfo

from contracts.fields import SessionKind
from contracts.names import suggest_session_id
from openclaw_memory.moving.errors import SourceError
from openclaw_memory.moving.formats.values import moment
from openclaw_memory.moving.found import Finding, FoundMessage, Remark
from openclaw_memory.moving.source import Source
from openclaw_memory.transcripts.ids import session_of
from openclaw_memory.transcripts.reading import read_transcript

_HEADER = b'{"_type"'
"""How the first line of nanobot's files begins; it says nothing."""


def add_session(
    found: Finding,
    source: Source,
    name: str,
    zone: tzinfo,
    kind_of: Callable[[str], SessionKind] = lambda session: "primary",
    prefix: str = "",
) -> None:
    """Read a session's file. A message without a time has that of the one before it.

    Parameters: `kind_of`, which tells the kind of a session by its id; `prefix`, what its id begins with here.
    """
    try:
        data = source.read(name)
    except SourceError as error:
        found.problems.append(Remark(name, error.problem))
        return
    if data.startswith(_HEADER):
        # Its length stays, so that the places of the other lines do.
        end = data.find(b"\n") + 1 or len(data)
        data = b" " * (end - 1) + b"\n" + data[end:]
    given = session_of(name)
    session = suggest_session_id(f"{prefix}{given}") or "imported"
    transcript = read_transcript(data, compacted=False)
    for problem in transcript.problems:
        line = data.count(b"\n", 0, problem.offset) + 1
        found.problems.append(Remark(f"{name}, line {line}", problem.reason))
    last: datetime | None = None
    waiting: list[FoundMessage] = []
    for message in transcript.messages:
        last = (moment(message.time.isoformat(), zone) if message.time else None) or last
        if not message.text.strip() or message.summary:
            continue
        where = f"{name}, message {message.id}"
        if last is None:
            # Nothing before it has a time either.
            found.problems.append(Remark(where, "neither it nor one before it has a time"))
            continue
        waiting.append(
            FoundMessage(
                session,
                message.role,
                last,
                message.text,
                where,
                name=message.name,
                important=message.important,
                kind=kind_of(given),
            )
        )
    found.messages += waiting
