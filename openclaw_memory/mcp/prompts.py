"""The guide that tells an agent how to keep its memory, as a prompt."""

from __future__ import annotations

from collections.abc import Mapping
from typing import cast

from openclaw_memory.config import MemoryConfig
from openclaw_memory.errors import Refused
from openclaw_memory.guide import LANGUAGES, Language, memory_guide
from openclaw_memory.mcp.errors import CallRefusedError

GUIDE = "memory_guide"

ARGUMENTS: Mapping[str, str] = {
    "language": f"Language of the guide: {' or '.join(LANGUAGES)}. Default: that of the configuration.",
    "memory_file": "MEMORY.md, as the agent's own file tool knows it. Default: where it lies.",
    "daily_file": "The day's notes, likewise.",
    "write_tool": "The tool that the agent writes files with. Default: write_file.",
}


def guide_text(given: Mapping[str, str] | None, config: MemoryConfig) -> str:
    """Give the guide.

    Raises: `CallRefusedError`, which names the argument, its limit and what to do.
    """
    arguments = dict(given or {})
    if unknown := [name for name in arguments if name not in ARGUMENTS]:
        raise CallRefusedError(f"{unknown[0][:40]} is no argument of {GUIDE}; there are {', '.join(ARGUMENTS)}")
    language = cast(Language, arguments.pop("language", config.language))
    folder = config.workspace_folder
    places = {"memory_file": str(folder / config.memory_file), "daily_file": str(folder / "memory" / "YYYY-MM-DD.md")}
    try:
        return memory_guide(language, **{**places, **arguments})
    except Refused as refusal:
        raise CallRefusedError(str(refusal)) from refusal
