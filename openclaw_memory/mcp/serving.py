"""Memory with the server before it, as a program of its own: beside a Gateway or without one."""

from __future__ import annotations

import signal
import socket
from collections.abc import Callable

import anyio
import anyio.abc

from bus import Gateway
from openclaw_memory.actor import Memory
from openclaw_memory.config import MemoryConfig
from openclaw_memory.mcp.caller import Caller
from openclaw_memory.mcp.errors import McpMissingError

try:
    from openclaw_memory.mcp.http import listen, serve_http, url_of
    from openclaw_memory.mcp.server import server_of
    from openclaw_memory.mcp.stdio import serve_stdio
except ModuleNotFoundError as error:
    raise McpMissingError from error

__all__ = ["listen", "serve", "url_of"]


async def serve(
    config: MemoryConfig,
    caller: Caller,
    listening: socket.socket | None = None,
    ready: Callable[[], None] = lambda: None,
) -> None:
    """Serve until the client is gone (standard streams), or a signal asks to end; memory is closed after that.

    Parameters: `listening`, where clients come by HTTP; None for the standard streams. `ready` is called when memory is
    open. Call it in the main thread.

    Raises: `PluginStartError` when memory can't be opened.
    """
    stop = anyio.Event()
    async with Gateway() as gateway:
        memory = Memory(config)
        await gateway.register(memory)
        server = server_of(gateway.bus, memory.documents, config, caller)
        async with anyio.create_task_group() as group:
            await group.start(_end_on_signal, stop)
            ready()
            if listening is None:
                await serve_stdio(server, stop)
            else:
                await serve_http(server, listening, stop)
            group.cancel_scope.cancel()


async def _end_on_signal(
    stop: anyio.Event, *, task_status: anyio.abc.TaskStatus[None] = anyio.TASK_STATUS_IGNORED
) -> None:
    """Wait for the first signal. A second one finds the system's own handlers, and ends the process at once."""
    with anyio.open_signal_receiver(signal.SIGINT, signal.SIGTERM) as signals:
        task_status.started()
        async for _ in signals:
            stop.set()
            break
