"""Ask memory from a command: on a bus of the command's own, beside a Gateway or without one."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from functools import cached_property
from typing import TYPE_CHECKING, TypeVar

import typer

from openclaw_memory.cli.exits import INTERRUPTED, NOTHING, TROUBLE
from openclaw_memory.cli.output import patience
from openclaw_memory.cli.refusals import refusal
from openclaw_memory.cli.words import say

if TYPE_CHECKING:
    from bus import EventBus
    from openclaw_memory.actor import Memory
    from openclaw_memory.config import MemoryConfig
    from openclaw_memory.context.tokens import TokenCounter

T = TypeVar("T")

REPLY_SECONDS = 60.0
"""Longest wait for an answer: a first one may have to read every file."""

SESSION = "cli"
"""Session that a command writes in; who sits at the terminal is the owner, so it is a primary one."""


class LateCounter:
    """Counts tokens with an encoding that is loaded when it is first needed, which takes most of a second."""

    exact = True

    def __init__(self, encoding: str) -> None:
        self.encoding = encoding

    def count(self, text: str) -> int:
        """Count the tokens of a text."""
        return self._counter.count(text)

    @cached_property
    def _counter(self) -> TokenCounter:
        from openclaw_memory.context.errors import EncodingUnavailableError
        from openclaw_memory.context.tokens import EstimateCounter, make_counter

        try:
            return make_counter(self.encoding)
        except EncodingUnavailableError:
            return EstimateCounter()


@asynccontextmanager
async def memory_of(settings: MemoryConfig, *, counts: bool = True) -> AsyncIterator[tuple[Memory, EventBus]]:
    """Start memory for one command; nothing is watched and no job is begun, since it is over soon.

    Parameters: `counts`, whether contexts are asked for; else no encoding is loaded before something is counted.
    """
    from bus import Gateway
    from openclaw_memory.actor import Memory

    heartbeat = settings.heartbeat.model_copy(update={"enabled": False})
    still = settings.model_copy(update={"watch": False, "heartbeat": heartbeat})
    memory = Memory(still, counter=None if counts else LateCounter(still.encoding))
    async with Gateway() as gateway:
        await gateway.register(memory)
        yield memory, gateway.bus


def run(
    do: Callable[[Memory, EventBus], Awaitable[T]],
    settings: MemoryConfig,
    *,
    quiet: bool = False,
    counts: bool = True,
) -> T:
    """Do something with memory.

    What it refuses ends the program with 1 and the reason, what the disk refuses with 3, Ctrl-C with 130; memory is
    closed before. Parameters: `quiet`, for commands that show their own progress; `counts` as for `memory_of`.
    """
    import anyio

    from bus import BusError, PluginStartError
    from openclaw_memory.errors import FolderInUseError, OpenClawMemoryError, Refused, RootInUseError

    async def main() -> T:
        async with memory_of(settings, counts=counts) as (memory, bus):
            return await do(memory, bus)

    try:
        with patience(say("Reading memory ..."), quiet=quiet):
            return anyio.run(main)
    except KeyboardInterrupt:
        typer.echo(say("Interrupted. What was acknowledged is stored; nothing else was changed."), err=True)
        raise typer.Exit(INTERRUPTED) from None
    except (OpenClawMemoryError, BusError, OSError) as error:
        # The Gateway says which plugin failed; there is one.
        reason = error.error if isinstance(error, PluginStartError) else error
        typer.echo(refusal(str(reason)), err=True)
        refused = isinstance(reason, Refused | RootInUseError | FolderInUseError)
        raise typer.Exit(NOTHING if refused else TROUBLE) from error
