"""What a session loads when it begins, and what it came to when it ends."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from datetime import datetime
from itertools import islice

from contracts import MemoryContext, MemoryWrite, NoteContent
from contracts.fields import SessionKind
from openclaw_memory.catalog import Catalog
from openclaw_memory.config import MemoryConfig
from openclaw_memory.layers.endings import ENDED, Ending, told_of
from openclaw_memory.reading.history import HISTORY_LOOKED_AT
from openclaw_memory.workspace import WorkspaceView

log = logging.getLogger(__name__)


def log_start(session: str, kind: SessionKind, files: Sequence[str], context: MemoryContext) -> None:
    """Tell the log what a session loads (seed 003 section 26.2.2)."""
    log.info(
        "session %s began as %s, so it loads %s; its context has %d messages, %d facts, %d tasks, %d summaries%s",
        session,
        kind,
        ", ".join(files) or "nothing of the workspace",
        len(context.history),
        len(context.facts),
        len(context.tasks),
        len(context.summaries),
        ", and more was left out for the budget" if context.truncated else "",
    )


def note_of(points: Sequence[str], ending: Ending, session: str, kind: SessionKind, language: str) -> MemoryWrite:
    """Give the note that tells what a session came to, up to its `ending`."""
    text = "\n".join(f"- {point}" for point in points)
    title = f"会话 {session}" if language == "zh" else f"Session {session}"
    return MemoryWrite(
        type="note",
        content=NoteContent(text=text, title=title),
        session_id=session,
        session_kind=kind,
        idempotency_key=ending.key(text),
    )


def points_of(
    session: str, now: datetime, catalog: Catalog, view: WorkspaceView, config: MemoryConfig
) -> tuple[list[str], Ending | None]:
    """Give what the last days of a session come to, and the last message of that. For a thread.

    Without what was told before, whatever became of it, and what the notes of these days say already.
    """
    today = now.astimezone(config.zone).date()
    newest = islice(catalog.newest_messages(session, None), HISTORY_LOOKED_AT)
    said = [
        block
        for block in newest
        if block.origin != "untrusted"
        and block.time is not None
        and (today - block.time.astimezone(config.zone).date()).days < view.days_told
    ]
    if not said:
        return [], None
    said.reverse()
    record = catalog.document(ENDED)
    told = 0 if record is None else told_of(record.values, session, said)
    known = view.note_texts(today)
    # Imported when the first session ends: its patterns take a while to be compiled.
    from openclaw_memory.capture.points import key_points

    words = [(block.role or "", block.text) for block in said]
    return key_points(words, told=told, known=known, language=config.language), Ending.at(said[-1])
