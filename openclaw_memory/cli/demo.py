"""`openclaw-memory demo`: a short walk through a memory of its own, in a temporary folder."""

from __future__ import annotations

import os
import shutil
import tempfile
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from openclaw_memory.cli.exits import INTERRUPTED
from openclaw_memory.cli.output import console, patience
from openclaw_memory.cli.words import Language, language_of, say

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rich.console import Console

    from bus import EventBus
    from openclaw_memory.clock import ManualClock

Keep = Annotated[bool, typer.Option("--keep", help="Leave the folder, to look around in it.")]

BEGINNING = datetime(2026, 5, 4, 8, 0, tzinfo=UTC)
"""A Monday; the demo has a clock of its own, so that days pass in it."""

BUDGET = 400
"""Tokens for each context: so small that one sees what is chosen."""

TALK: dict[Language, Sequence[tuple[int, str, str]]] = {
    "en": (
        (0, "user", "I moved from TypeScript to Go last week, for the new billing service"),
        (0, "assistant", "Good choice. Shall I set up the linters?"),
        (0, "user", "Yes. And remember that I only deploy on Tuesdays"),
        (1, "user", "Dinner with Mei on Friday at seven, at the noodle place in Hangzhou"),
        (2, "user", "The billing service uses DEC-0054 for retries now"),
    ),
    "zh": (
        (0, "user", "我上周从 TypeScript 改用 Go 了，写新的计费服务"),
        (0, "assistant", "好的，要我把代码检查也配好吗？"),
        (0, "user", "好。记住，我只在周二发布"),
        (1, "user", "周五七点和小美吃饭，在杭州的那家面馆"),
        (2, "user", "计费服务的重试现在按 DEC-0054 做"),
    ),
}
"""Days after the beginning, who speaks, and what is said."""

QUESTIONS: dict[Language, Sequence[str]] = {
    "en": ("which language does the billing service use?", "when do I meet Mei?", "DEC-0054"),
    "zh": ("计费服务用什么语言？", "什么时候和小美吃饭？", "DEC-0054"),
}


def demo(keep: Keep = False) -> None:
    """See memory at work: three days of talk, questions, a restart, the same questions, and the files behind it.

    It has a folder of its own, which goes when it is over, and touches nothing else.
    """
    import anyio

    folder = Path(tempfile.mkdtemp(prefix="openclaw-memory-demo-"))
    try:
        with patience(say("Starting ...")):
            from openclaw_memory import actor  # noqa: F401 - what takes a moment to load
        out = console()
        anyio.run(_walk, out, folder, language_of(os.environ))
        _show_files(out, folder)
    except KeyboardInterrupt:
        raise typer.Exit(INTERRUPTED) from None
    finally:
        if keep:
            typer.echo(say("The folder: {folder}", folder=folder))
        else:
            shutil.rmtree(folder, ignore_errors=True)


async def _walk(out: Console, folder: Path, language: Language) -> None:
    from bus import Gateway
    from contracts import MemoryWrite, MessageContent
    from openclaw_memory.actor import Memory
    from openclaw_memory.clock import ManualClock
    from openclaw_memory.config import MemoryConfig

    clock = ManualClock(BEGINNING)
    config = MemoryConfig(root=folder, timezone="UTC", language=language, watch=False)
    _title(out, say("1. Three days of talk"))
    async with Gateway() as gateway:
        await gateway.register(Memory(config, clock=clock))
        for day, role, text in TALK[language]:
            clock.move_to(BEGINNING + timedelta(days=day))
            content = MessageContent.model_validate({"role": role, "content": text})
            asked = MemoryWrite(type="conversation", content=content, session_id=f"day-{day}")
            written = await gateway.bus.request(asked)
            _said(out, clock, role, text, written.suggestions)
        _title(out, say("2. Asked, within {budget} tokens", budget=BUDGET))
        await _ask(out, gateway.bus, QUESTIONS[language])
    _title(out, say("3. Closed, and opened again from the files: the same questions"))
    clock.move_to(BEGINNING + timedelta(days=3))
    async with Gateway() as gateway:
        await gateway.register(Memory(config, clock=clock))
        await _ask(out, gateway.bus, QUESTIONS[language])


def _show_files(out: Console, folder: Path) -> None:
    _title(out, say("4. What lies on the disk: Markdown, yours to read and to edit"))
    for path in sorted(folder.rglob("*.md")):
        if not any(part.startswith(".") for part in path.relative_to(folder).parts):
            out.print(f"  {path.relative_to(folder)}", style="bold", markup=False)
    day_file = folder / "memory/conversations/2026-05-04.md"
    out.print(day_file.read_text(encoding="utf-8").strip(), markup=False, style="dim")
    out.print(say("Make your own with `openclaw-memory init`."))


async def _ask(out: Console, bus: EventBus, questions: Sequence[str]) -> None:
    from contracts import MemoryRead

    for question in questions:
        # A session that said nothing itself: all that comes is remembered from others.
        context = await bus.request(MemoryRead(query=question, session_id="demo", max_tokens=BUDGET))
        out.print(f"  ? {question}", style="bold", markup=False)
        for piece in context.recalled[:2]:
            out.print(f"    {' '.join(piece.split())}", markup=False)
        if context.tokens is not None:
            words = say("{used} of {budget} tokens", used=context.tokens.used, budget=context.tokens.max)
            out.print(f"    {words}", style="dim", markup=False)


def _said(out: Console, clock: ManualClock, role: str, text: str, remembered: Sequence[str]) -> None:
    out.print(f"  {clock.now():%a %H:%M}  {role}: {text}", markup=False)
    for words in remembered:
        out.print(f"             → {words}", style="green", markup=False)


def _title(out: Console, words: str) -> None:
    out.print(f"\n{words}", style="bold cyan", markup=False)
