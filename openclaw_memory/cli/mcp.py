"""`openclaw-memory mcp`."""

from __future__ import annotations

import logging
import sys
from contextlib import nullcontext
from typing import Annotated, get_args

import typer

from contracts.words import SessionKind
from openclaw_memory.cli.exits import NOTHING, TROUBLE
from openclaw_memory.cli.options import Agent, Config, Root, Workspace, configuration
from openclaw_memory.cli.paths import nearest
from openclaw_memory.cli.streams import OutputError
from openclaw_memory.cli.words import say

KINDS: tuple[SessionKind, ...] = get_args(SessionKind)

Http = Annotated[bool, typer.Option("--http", help="Serve at an address of this machine instead of the pipe.")]
Host = Annotated[str, typer.Option("--host", metavar="ADDRESS", help="With --http: 127.0.0.1, ::1 or localhost.")]
Port = Annotated[
    int,
    typer.Option("--port", metavar="N", min=0, max=65535, help="With --http: 0 takes one that is free."),
]
Kind = Annotated[
    str,
    typer.Option(
        "--session-kind",
        metavar="KIND",
        help=f"What the clients may see and write: {', '.join(KINDS)}.",
        autocompletion=lambda: KINDS,
    ),
]
Session = Annotated[str, typer.Option("--session", metavar="ID", help="Session that the clients write in.")]


def mcp(
    http: Http = False,
    host: Host = "127.0.0.1",
    port: Port = 8765,
    session_kind: Kind = "primary",
    session: Session = "mcp",
    root: Root = None,
    config: Config = None,
    workspace: Workspace = None,
    agent: Agent = None,
) -> None:
    """Serve memory to programs that speak MCP: Claude Desktop, Claude Code, Cursor, OpenClaw.

    They start this command themselves and talk through its pipe; with `--http` it prints the address and serves any
    number of them. It works beside a running Gateway, and ends with its client, by Ctrl-C or SIGTERM.
    """
    settings = configuration(root, config, workspace, agent)
    import anyio

    from bus import PluginStartError
    from openclaw_memory.errors import OpenClawMemoryError
    from openclaw_memory.mcp.caller import Caller
    from openclaw_memory.mcp.errors import McpMissingError, NotLoopbackError

    caller = Caller(_session(session), _kind(session_kind))
    # The protocol has the standard output for itself.
    logging.basicConfig(stream=sys.stderr, level=logging.WARNING, format="%(levelname)s %(name)s: %(message)s")
    try:
        from openclaw_memory.mcp.serving import listen, serve, url_of

        with listen(host, port) if http else nullcontext() as listening:
            told = (lambda: None) if listening is None else (lambda: typer.echo(url_of(listening)))
            anyio.run(serve, settings, caller, listening, told)
    except BaseExceptionGroup as group:
        # What goes wrong within the server itself is told to its client; only the pipe is left.
        if (fault := _of_the_pipe(group)) is None:
            raise
        raise OutputError(fault) from group
    except NotLoopbackError as error:
        raise typer.BadParameter(str(error), param_hint="--host") from error
    except McpMissingError as error:
        typer.echo(str(error), err=True)
        raise typer.Exit(NOTHING) from error
    except (PluginStartError, OpenClawMemoryError, OSError) as error:
        typer.echo(str(error.error if isinstance(error, PluginStartError) else error), err=True)
        raise typer.Exit(TROUBLE) from error


def _of_the_pipe(group: BaseExceptionGroup[BaseException]) -> BaseException | None:
    matching, rest = group.split((OSError, OutputError))
    fault: BaseException | None = matching if rest is None else None
    while isinstance(fault, BaseExceptionGroup):
        fault = fault.exceptions[0]
    return fault


def _kind(name: str) -> SessionKind:
    for kind in KINDS:
        if kind == name:
            return kind
    meant = nearest(name, list(KINDS))
    hint = say("did you mean {meant!r}?", meant=meant) if meant else say("there are: {names}", names=", ".join(KINDS))
    raise typer.BadParameter(f"{name!r}: {hint}", param_hint="--session-kind")


def _session(name: str) -> str:
    from contracts import MemorySearch
    from openclaw_memory.cli.payloads import built

    return built(MemorySearch, query="", session_id=name).session_id or name
