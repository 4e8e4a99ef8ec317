"""Ask memory from a command: on a bus of the command's own, beside a Gateway or without one."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from typing import TypeVar

import anyio
import typer

from bus import EventBus, Gateway
from openclaw_memory.actor import Memory
from openclaw_memory.config import MemoryConfig
from openclaw_memory.errors import OpenClawMemoryError

T = TypeVar("T")


@asynccontextmanager
async def memory_of(settings: MemoryConfig) -> AsyncIterator[tuple[Memory, EventBus]]:
    """Start memory for one command; nothing is watched, since it is over soon."""
    memory = Memory(settings.model_copy(update={"watch": False}))
    async with Gateway() as gateway:
        await gateway.register(memory)
        yield memory, gateway.bus


def run(do: Callable[[Memory, EventBus], Awaitable[T]], settings: MemoryConfig) -> T:
    """Do something with memory; what it refuses ends the program with 1 and the reason."""

    async def main() -> T:
        async with memory_of(settings) as (memory, bus):
            return await do(memory, bus)

    try:
        return anyio.run(main)
    except (OpenClawMemoryError, OSError) as error:
        typer.echo(str(error), err=True)
        raise typer.Exit(1) from error
