"""Where a session's history begins: behind the summary of what was said before (seed 004 section 3.3).

Nothing is taken out of any file. The summary is a message of its session like any other; `.state/compactions.json`
holds, by session and audience, which message it is and which is the first after it. Without that file every message is
history.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from openclaw_memory.layers.state import plan_state
from openclaw_memory.retrieval.blocks import Block
from openclaw_memory.storage.documents import Draft

COMPACTIONS = ".state/compactions.json"

MARKS = {"zh": "[历史摘要]", "en": "[History summary]"}
"""What a summary of a session begins with, by language (seed 004 section 3.3)."""


@dataclass(frozen=True, slots=True)
class Compacted:
    """How far a session is summed up.

    `summary` is the address of the summary's message; `first` the id of the first message after what it stands for,
    `until` the time of the last one that it stands for, `messages` their number; `at`, when that was done; `summaries`,
    the ids of all summaries of the session so far.
    """

    summary: str
    first: str
    until: datetime
    at: datetime
    messages: int
    summaries: tuple[str, ...]


def read_compacted(values: Mapping[str, Any], session: str, audience: str) -> Compacted | None:
    """Read how far a session is summed up for an audience; None when it is not, or the record says nothing."""
    try:
        given = values[session][audience]
        until, at = datetime.fromisoformat(given["until"]), datetime.fromisoformat(given["at"])
        told = Compacted(
            str(given["summary"]), str(given["first"]), until, at, int(given["messages"]), tuple(given["summaries"])
        )
    except (KeyError, TypeError, ValueError):
        return None
    return told if until.utcoffset() is not None and at.utcoffset() is not None else None


def plan_compacted(draft: Draft, session: str, audience: str, compacted: Compacted) -> None:
    """Move the place where a session's history begins, in the record that the summary is written in."""
    before = draft.document(COMPACTIONS).values.get(session)
    told = {
        "summary": compacted.summary,
        "first": compacted.first,
        "until": compacted.until.isoformat(),
        "at": compacted.at.isoformat(),
        "messages": compacted.messages,
        "summaries": list(compacted.summaries),
    }
    plan_state(draft, COMPACTIONS, {session: {**(before if isinstance(before, dict) else {}), audience: told}})


def since(newest: Iterable[Block], compacted: Compacted | None) -> Iterator[Block]:
    """Yield the messages that are still history, newest first, none of them a summary of ours.

    Parameters: `newest`, the messages of a session, newest first.
    """
    if compacted is None:
        yield from newest
        return
    summaries = set(compacted.summaries)
    for block in newest:
        name = id_of(block)
        if name in summaries:
            continue
        if name != compacted.first and block.time is not None and block.time < compacted.until:
            # The first one after the summary is gone: a person took it out of the file.
            return
        yield block
        if name == compacted.first:
            return


def id_of(block: Block) -> str:
    """Give the id of a message, whatever file it was found in."""
    return block.key.rpartition("#")[2]


def is_summary(block: Block) -> bool:
    """Tell whether a message is a summary of ours: it stands for others, and is no source of anything."""
    return block.role == "system" and block.origin == "system" and block.text.startswith(tuple(MARKS.values()))
