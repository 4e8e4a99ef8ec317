"""The server on an address of this machine (streamable HTTP): any number of clients."""

from __future__ import annotations

import ipaddress
import socket
from collections import deque
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import anyio
import anyio.to_thread
import uvicorn
from mcp.server.lowlevel import Server
from starlette.responses import PlainTextResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from openclaw_memory.mcp.errors import NotLoopbackError
from openclaw_memory.mcp.stdio import whole_characters

PATH = "/mcp"

MAX_BODY_BYTES = 16_777_216
"""Longest request: the largest text that an event holds, however its JSON is escaped."""

_AT_ONCE_BYTES = 65_536
"""Longest body that is mended on the loop."""

CLOSING_SECONDS = 30
"""How long what is being asked is waited for when the server ends: a first search may have to read every file."""


def listen(host: str, port: int) -> socket.socket:
    """Take an address. Parameters: `port`, 0 for one that the system chooses.

    Raises: `NotLoopbackError`; `OSError` when the port is taken.
    """
    host = "127.0.0.1" if host == "localhost" else host
    try:
        loopback = ipaddress.ip_address(host).is_loopback
    except ValueError:
        loopback = False
    if not loopback:
        raise NotLoopbackError(host)
    return socket.create_server((host, port), family=socket.AF_INET6 if ":" in host else socket.AF_INET)


def url_of(listening: socket.socket) -> str:
    """Give the address that clients are told."""
    host, port = listening.getsockname()[:2]
    return f"http://[{host}]:{port}{PATH}" if ":" in host else f"http://{host}:{port}{PATH}"


async def serve_http(server: Server[Any], listening: socket.socket, stop: anyio.Event) -> None:
    """Serve until `stop` is set; then what is being asked is answered first.

    Nothing is kept of a client between its requests, so it need not notice that the server was started anew.
    """
    inner = server.streamable_http_app(
        streamable_http_path=PATH, json_response=True, stateless_http=True, max_request_body_size=MAX_BODY_BYTES
    )
    config = uvicorn.Config(
        _without_streams(_with_whole_characters(inner)),
        log_config=None,
        access_log=False,
        lifespan="on",
        timeout_graceful_shutdown=CLOSING_SECONDS,
    )
    web = _Web(config)
    async with anyio.create_task_group() as group:
        group.start_soon(_stopping, stop, web)
        await web.serve(sockets=[listening])
        group.cancel_scope.cancel()


def _without_streams(app: ASGIApp) -> ASGIApp:
    """Refuse streams of news, as the protocol allows: there are none to send, and each would hold up the end."""

    async def served(scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "http" and scope["method"] == "GET" and scope["path"] == PATH:
            await PlainTextResponse("this server sends no news; ask it by POST", 405, {"Allow": "POST, DELETE"})(
                scope, receive, send
            )
        else:
            await app(scope, receive, send)

    return served


def _with_whole_characters(app: ASGIApp) -> ASGIApp:
    """Mend the text of what is asked, as the standard streams do: else the package refuses it whole."""

    async def served(scope: Scope, receive: Receive, send: Send) -> None:
        asked = scope["type"] == "http" and scope["method"] == "POST" and scope["path"] == PATH
        await app(scope, _mending(receive) if asked else receive, send)

    return served


def _mending(receive: Receive) -> Receive:
    """Give what receives a body, all of it at once and mended; one that is too long or broken off stays in its pieces.

    Nothing is read before it is asked for: hosts, origins and lengths are looked at first.
    """
    pieces: deque[Message] = deque()
    begun = False

    async def received() -> Message:
        nonlocal begun
        if not begun:
            begun = True
            size, more = 0, True
            while more and size <= MAX_BODY_BYTES:
                piece = await receive()
                pieces.append(piece)
                size += len(piece.get("body", b""))
                more = piece.get("more_body", False)
            if pieces[-1]["type"] == "http.request" and size <= MAX_BODY_BYTES:
                body = b"".join(piece.get("body", b"") for piece in pieces)
                pieces.clear()
                pieces.append({"type": "http.request", "body": await _mended(body), "more_body": False})
        return pieces.popleft() if pieces else await receive()

    return received


async def _mended(body: bytes) -> bytes:
    """Mend a body; a long one in a thread."""
    if len(body) <= _AT_ONCE_BYTES:
        return _whole(body)
    return await anyio.to_thread.run_sync(_whole, body)


def _whole(body: bytes) -> bytes:
    return whole_characters(body.decode(errors="replace")).encode()


async def _stopping(stop: anyio.Event, web: uvicorn.Server) -> None:
    await stop.wait()
    web.should_exit = True


class _Web(uvicorn.Server):
    """The web server, which leaves signals to whoever runs it: memory has to be closed after it."""

    @contextmanager
    def capture_signals(self) -> Iterator[None]:
        """Do nothing."""
        yield
