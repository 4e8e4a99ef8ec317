"""Two-layer mode (seed 002): the guide that tells an agent how to keep its memory, and the text of that memory."""

from __future__ import annotations

from datetime import date
from importlib import resources
from string import Template
from typing import Literal

from contracts import MemoryContext
from openclaw_memory.errors import Refused

Language = Literal["zh", "en"]
LANGUAGES: tuple[Language, ...] = ("zh", "en")
MAX_PATH_CHARS = 1_000

_HEADINGS: dict[Language, tuple[str, str]] = {
    "zh": ("长期记忆", "今日笔记"),
    "en": ("Long-term Memory", "Today's Notes"),
}
_RULE = "\n\n---\n\n"


def memory_guide(
    language: Language,
    *,
    memory_file: str = "memory/MEMORY.md",
    daily_file: str = "memory/YYYY-MM-DD.md",
    write_tool: str = "write_file",
) -> str:
    """Give the guide to put into a system prompt: where the files lie, when to write, when not, and how.

    The agent writes with the file tool that it has (seed 002, “工具复用”); the next read sees it.

    Parameters: `memory_file` and `daily_file`, the paths as the agent's tool knows them; `write_tool`, the name of
    that tool.

    Raises: `Refused`, which names the parameter, for another language, and for a path or name that is empty, longer
    than 1,000 characters, or holds a line end or a backtick.
    """
    if language not in LANGUAGES:
        raise Refused("language", f"{language!r:.40} has no guide; use one of {', '.join(LANGUAGES)}")
    names = {"memory_file": memory_file, "daily_file": daily_file, "write_tool": write_tool}
    for field, name in names.items():
        if not name.strip() or len(name) > MAX_PATH_CHARS or not name.isprintable() or "`" in name:
            limit = f"must be one line of 1 to {MAX_PATH_CHARS:,} characters without a backtick"
            raise Refused(field, f"{limit}, not {name!r:.80}")
    text = (resources.files("openclaw_memory") / "guides" / f"{language}.md").read_text(encoding="utf-8")
    return Template(text).substitute(names).rstrip("\n")


def memory_context_of(context: MemoryContext, day: date, language: Language = "en") -> str | None:
    """Write the answer to a `memory:read` as seed 002's text: MEMORY.md, then the notes that came with it.

    Parameters: as those of `memory_context`; with `mode: two_layer` the notes are those of that day alone.
    """
    return memory_context("\n".join(context.memory), "\n".join(context.notes), day, language)


def memory_context(long_term: str | None, today: str | None, day: date, language: Language = "en") -> str | None:
    """Join both layers as seed 002's `getMemoryContext` does; None when there is nothing in either.

    Parameters: `long_term`, the text of MEMORY.md; `today`, that of the day's file; None or blank where there is none.
    `day` is today in the user's time zone.
    """
    memory, notes = _HEADINGS[language]
    parts = [
        f"## {heading}\n\n{text.strip()}"
        for heading, text in ((memory, long_term), (f"{notes} ({day.isoformat()})", today))
        if text and text.strip()
    ]
    return _RULE.join(parts) or None
