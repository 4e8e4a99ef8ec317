"""Read whole documents over the bus, so that what a running Gateway was told a moment ago is in them."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from bus import EventBus
    from openclaw_memory.config import MemoryConfig


@dataclass(frozen=True, slots=True)
class Bodies:
    """Documents without their front matter, by path; `problem` says which can't be read, and why."""

    texts: dict[str, str]
    problem: str | None


async def bodies_of(bus: EventBus, config: MemoryConfig, paths: Iterable[str]) -> Bodies:
    """Read documents of the memory folder; those that are not there are left out."""
    texts, problems = {}, []
    for path in paths:
        text, notice = await _body_of(bus, path)
        if text is not None:
            texts[path] = text
        elif (config.memory_folder / path).exists():
            problems.append(notice or path)
    return Bodies(texts, "; ".join(problems) or None)


async def _body_of(bus: EventBus, path: str) -> tuple[str | None, str | None]:
    """Give the text of a document, or None and the reason.

    An answer has so many lines (`memory:get`), so it is asked for until there are no more. Of a line that is longer
    than an answer the rest is left out, and `…` stands for it.
    """
    from contracts import MemoryGet
    from openclaw_memory.cli.asking import REPLY_SECONDS
    from openclaw_memory.markdown.frontmatter import split
    from openclaw_memory.markdown.text import split_lines

    text: list[str] = []
    line = 1
    while True:
        got = await bus.request(MemoryGet(path=path, from_=line, session_kind="primary"), timeout=REPLY_SECONDS)
        if got.notice is not None and not got.text:
            return (split("".join(text)).body, None) if text else (None, got.notice)
        part = got.text
        line += len(split_lines(part))
        if got.truncated and not part.endswith(("\n", "\r")):
            part += "…\n"
        text.append(part)
        if not got.truncated:
            return split("".join(text)).body, None
