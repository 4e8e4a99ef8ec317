"""`openclaw-memory chat`: talk with a Brain by hand, and see what it recalls and what is written."""

from __future__ import annotations

import sys
from collections.abc import Callable, Coroutine, Iterator
from contextlib import contextmanager, suppress
from functools import partial
from io import TextIOWrapper
from typing import TYPE_CHECKING, Annotated, Any, TypeVar

import typer

from openclaw_memory.cli.context import MaxTokens
from openclaw_memory.cli.exits import NOTHING, TROUBLE, USAGE
from openclaw_memory.cli.options import Agent, Config, Root, Workspace, settled
from openclaw_memory.cli.output import console
from openclaw_memory.cli.refusals import refusal
from openclaw_memory.cli.words import say

if TYPE_CHECKING:
    from anyio.from_thread import BlockingPortal

    from contracts import MemoryContext, MemoryWritten
    from openclaw_memory.cli.talk import Answered, Heard, Talk
    from openclaw_memory.completion import ChatModel
    from openclaw_memory.config import MemoryConfig

T = TypeVar("T")

SESSION = "chat"
SHOWN = 5
"""Recalled pieces that are shown for a message."""
LINE_CHARS = 100

Session = Annotated[
    str, typer.Option("--session", metavar="ID", help="Session to talk in; it goes on where it ended the last time.")
]


def chat(
    root: Root = None,
    config: Config = None,
    workspace: Workspace = None,
    agent: Agent = None,
    session: Session = SESSION,
    max_tokens: MaxTokens = None,
) -> None:
    """Talk with an agent that has this memory, and see what is recalled and what is written.

    The agent is the model of the configuration's `completion`; without one its answers are a script, and memory is real
    all the same. `/context` shows all that the last message brought to the prompt, `/budget` how its budget was spent,
    `/quit`, Ctrl-D or Ctrl-C ends. Lines may be piped in. What was said is stored as soon as it is shown.
    """
    settings = settled(root, config, workspace, agent)
    if isinstance(sys.stdin, TextIOWrapper):
        # What is no UTF-8 becomes U+FFFD, and the talk goes on.
        sys.stdin.reconfigure(errors="replace")
    # Ctrl-C between two lines goes through the closing of memory, which ends what is still asked of a model.
    with (
        suppress(KeyboardInterrupt),
        _talking(settings, session, max_tokens or settings.session_start_tokens) as (portal, talk, model),
    ):
        _welcome(settings, session, model)
        _converse(portal, talk, settings)
    typer.echo(say("Stored in {folder}", folder=settings.memory_folder))


@contextmanager
def _talking(
    settings: MemoryConfig, session: str, max_tokens: int
) -> Iterator[tuple[BlockingPortal, Talk, ChatModel | None]]:
    """Open memory in a thread with an event loop of its own: this one waits for what is typed."""
    from anyio.from_thread import start_blocking_portal

    from bus import PluginStartError
    from openclaw_memory.cli.asking import memory_of
    from openclaw_memory.cli.talk import Talk
    from openclaw_memory.completion import CompletionError, model_from
    from openclaw_memory.errors import ConfigError, OpenClawMemoryError

    try:
        model = model_from(settings.completion)
    except (ConfigError, CompletionError) as error:
        typer.echo(str(error), err=True)
        raise typer.Exit(USAGE) from error
    try:
        with start_blocking_portal() as portal:
            try:
                with portal.wrap_async_context_manager(memory_of(settings)) as (_, bus):
                    yield portal, Talk(bus, settings, session, max_tokens, model, _scripted), model
            finally:
                # An answer that nobody waits for any more is not waited for here either.
                portal.call(portal.stop, True)
    except (OpenClawMemoryError, PluginStartError, OSError) as error:
        reason = error.error if isinstance(error, PluginStartError) else error
        typer.echo(refusal(str(reason)), err=True)
        raise typer.Exit(NOTHING if isinstance(error, OpenClawMemoryError) else TROUBLE) from error


def _welcome(settings: MemoryConfig, session: str, model: ChatModel | None) -> None:
    from rich.text import Text

    who = settings.completion.model or settings.completion.provider if model is not None else say("a script, no model")
    words = say("Session {session}; the agent is {who}; /quit or Ctrl-D ends.", session=session, who=who)
    console().print(Text(words, "dim"))


def _converse(portal: BlockingPortal, talk: Talk, settings: MemoryConfig) -> None:
    """Go on until there is nothing more to read."""
    last: MemoryContext | None = None
    while (line := _typed()) is not None:
        match line.strip():
            case "":
                continue
            case "/quit" | "/exit":
                return
            case "/context" | "/budget" as command:
                _show_last(command, last, settings)
            case message if message.startswith("/") and " " not in message and message.count("/") == 1:
                typer.echo(say("There are /context, /budget and /quit."))
            case _:
                last = _exchange(portal, talk, line) or last


def _typed() -> str | None:
    """Read a line; None at the end, and when somebody presses Ctrl-C."""
    asks = sys.stdin.isatty()
    try:
        if asks:
            # Arrow keys and a history, where there is a terminal and the library.
            with_history()
        return input(say("you> ") if asks else "")
    except (EOFError, KeyboardInterrupt):
        typer.echo()
        return None


def with_history() -> None:
    """Let `input` edit lines, where Python was built with readline."""
    try:
        import readline  # noqa: F401
    except ImportError:
        return


def _exchange(portal: BlockingPortal, talk: Talk, message: str) -> MemoryContext | None:
    """Say one thing, and show what comes of it; Ctrl-C stops the answer, not the conversation."""
    from pydantic import ValidationError

    heard = None
    try:
        heard = _waited_for(portal, partial(talk.hear, message))
        _show_heard(heard)
        _show_answer(_waited_for(portal, partial(talk.answer, heard)))
    except ValidationError as error:
        words = "; ".join(str(fault["msg"]) for fault in error.errors())
        typer.echo(say("That can't be stored: {words}", words=words), err=True)
    except KeyboardInterrupt:
        typer.echo(say("(stopped; what you said is stored)") if heard else say("(stopped)"))
    return heard.context if heard else None


def _waited_for(portal: BlockingPortal, do: Callable[[], Coroutine[Any, Any, T]]) -> T:
    """Wait in this thread for what memory's does; whoever interrupts the waiting stops it too."""
    future = None
    try:
        future = portal.start_task_soon(do)
        result: T = future.result()
    except KeyboardInterrupt:
        if future is not None:
            future.cancel()
        raise
    return result


def _scripted(heard: Heard) -> str:
    """Answer without a model: that it was heard, and how much came to mind. It repeats nothing of it."""
    found = len(heard.context.recalled) if heard.context is not None else 0
    return say("Noted. Pieces that came to mind: {found}.", found=found) if found else say("Noted.")


def _show_heard(heard: Heard) -> None:
    from rich.text import Text

    out, context = console(), heard.context
    if context is not None:
        used = context.tokens.used if context.tokens is not None else 0
        words = say(
            "context: {used} tokens, {facts} facts, {tasks} tasks, {recalled} recalled, {history} messages; {time} ms",
            used=f"{used:,}",
            facts=len(context.facts),
            tasks=len(context.tasks),
            recalled=len(context.recalled),
            history=len(context.history),
            time=f"{heard.seconds * 1e3:.0f}",
        )
        out.print(Text(f"  {words}", "dim"))
        for citation, text in list(zip(context.citations, context.recalled, strict=False))[:SHOWN]:
            place = f"{citation.path}:{citation.start_line}"
            out.print(Text.assemble(("  ← ", "cyan"), (place, "bold dim"), (f"  {_glimpse(text)}", "dim")))
        if context.notice:
            out.print(Text(f"  {context.notice}", "yellow"))
    _show_written(heard.written, heard.trouble)


def _show_answer(answered: Answered) -> None:
    from rich.text import Text

    if answered.text is not None:
        console().print(Text.assemble((say("agent> "), "bold green"), answered.text))
    elif not answered.trouble:
        typer.echo(say("(the model said nothing)"))
    _show_written(answered.written, answered.trouble)


def _show_written(written: MemoryWritten | None, trouble: tuple[str, ...]) -> None:
    from rich.text import Text

    out = console()
    if written is not None and written.success:
        for key in written.keys:
            out.print(Text.assemble(("  → ", "green"), (key, "dim")))
        for words in (*written.suggestions, *([written.message] if written.message else [])):
            out.print(Text(f"    {words}", "magenta"))
    for words in trouble:
        out.print(Text(f"  ! {refusal(words)}", "red"))


def _glimpse(piece: str) -> str:
    """Give the beginning of what was recalled, without the line that says when and where."""
    from openclaw_memory.retrieval.cutting import snippet

    head, _, rest = piece.partition("\n")
    return snippet(" ".join((rest or head).split()), LINE_CHARS)


def _show_last(command: str, last: MemoryContext | None, settings: MemoryConfig) -> None:
    from openclaw_memory.cli.context import show_budget, show_context

    if last is None:
        typer.echo(say("Nothing was said yet."))
    elif command == "/budget":
        show_budget(last)
    else:
        show_context(last, settings)
