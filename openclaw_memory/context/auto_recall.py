"""Recall by itself before each call of a model (seed 004 section 3.2)."""

from __future__ import annotations

import logging
from datetime import tzinfo

from bus import EventBus
from bus.errors import BusError
from contracts.fields import SessionKind
from contracts.reading import MemoryResults, MemorySearch
from openclaw_memory.context.prompt import section
from openclaw_memory.context.prompt_words import WORDS
from openclaw_memory.context.quoting import name_of, one_line, quote
from openclaw_memory.context.recalled import Language

TOP_K = 3
"""Pieces that are recalled (seed 004 section 3.2)."""
MAX_LINE_CHARS = 500
"""Longest line of one piece: the seed's snippets are one line each."""

_log = logging.getLogger(__name__)


def recalled_section(results: MemoryResults, *, language: Language = "zh", tz: tzinfo | None = None) -> str:
    """Write hits for a system prompt: a heading, then `- date path: snippet` lines, fenced and named as data.

    Empty when there are none. `tz` is the time zone of the dates; None: the system's.
    """
    words = WORDS[language]
    lines = []
    for hit in results.results:
        day = f"{hit.time.astimezone(tz).date().isoformat()} " if hit.time is not None else ""
        lines.append(f"- {day}{name_of(hit.path)}: {one_line(hit.snippet, MAX_LINE_CHARS)}")
    return section(words.recalled, words.data, quote("\n".join(lines))) if lines else ""


async def auto_recall(
    bus: EventBus,
    query: str,
    *,
    session_id: str | None = None,
    session_kind: SessionKind | None = None,
    top_k: int = TOP_K,
    language: Language = "zh",
    tz: tzinfo | None = None,
    timeout: float = 5.0,  # noqa: ASYNC109 - handed on to the bus
) -> str:
    """Search for what the user said and give the section to append to a system prompt; empty when nothing is found.

    A fault of memory does not stop the conversation: it is logged, and nothing is recalled. `timeout` is seconds.

    Raises: `pydantic.ValidationError` for a query, session or `top_k` that the contract refuses.
    """
    if not query.strip():
        return ""
    asked = MemorySearch(query=query, session_id=session_id, session_kind=session_kind, max_results=top_k)
    try:
        results = await bus.request(asked, timeout=timeout)
    except BusError as error:
        _log.warning("nothing recalled: %s", error)
        return ""
    return recalled_section(results, language=language, tz=tz)
