"""`openclaw-memory search` and `openclaw-memory debug-search`."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Annotated, get_args

import typer

from contracts.words import Layer
from openclaw_memory.cli.asking import REPLY_SECONDS, run
from openclaw_memory.cli.exits import DONE, NOTHING
from openclaw_memory.cli.options import Agent, Config, Json, Root, Workspace, configuration
from openclaw_memory.cli.output import console, print_json
from openclaw_memory.cli.paths import nearest
from openclaw_memory.cli.payloads import built
from openclaw_memory.cli.words import say

if TYPE_CHECKING:
    from rich.console import Console

    from bus import EventBus
    from contracts import MemoryResults, MemorySearch, SearchResult
    from openclaw_memory.actor import Memory
    from openclaw_memory.config import MemoryConfig

Query = Annotated[str, typer.Argument(metavar="QUERY", help="What to look for: words, a question.")]
Most = Annotated[int, typer.Option("--max", metavar="N", min=1, max=100, help="Most hits.")]
Least = Annotated[
    float, typer.Option("--min-score", metavar="SHARE", min=0, max=1, help="Least score; the best hit has 1.")
]
Layers = Annotated[
    list[str] | None,
    typer.Option(
        "--layer",
        metavar="LAYER",
        help=f"Only this layer; may be repeated: {', '.join(get_args(Layer))}.",
        autocompletion=lambda: get_args(Layer),
    ),
]
Session = Annotated[
    str | None,
    typer.Option("--session", metavar="ID", help="Search as this session would: a group's sees what a group may."),
]
Verbose = Annotated[bool, typer.Option("--verbose", "-v", help="Show what each step of the ranking gave.")]


def search(
    query: Query,
    root: Root = None,
    config: Config = None,
    workspace: Workspace = None,
    agent: Agent = None,
    most: Most = 10,
    min_score: Least = 0.0,
    layer: Layers = None,
    session: Session = None,
    json: Json = False,
) -> None:
    """Find what memory holds about something, the best first.

    It may run beside a Gateway. Exit code 0: found, 1: nothing was found, or it could not be searched.
    """
    settings = configuration(root, config, workspace, agent)
    _search(query, settings, most, min_score, layer, session, json, explain=False)


def debug_search(
    query: Query,
    root: Root = None,
    config: Config = None,
    workspace: Workspace = None,
    agent: Agent = None,
    most: Most = 10,
    min_score: Least = 0.0,
    layer: Layers = None,
    session: Session = None,
    verbose: Verbose = False,
    json: Json = False,
) -> None:
    """Find as `search` does, and tell how the scores came about."""
    settings = configuration(root, config, workspace, agent)
    _search(query, settings, most, min_score, layer, session, json, explain=verbose or json)


def _search(
    query: str,
    settings: MemoryConfig,
    most: int,
    min_score: float,
    layer: list[str] | None,
    session: str | None,
    json: bool,
    *,
    explain: bool,
) -> None:
    from contracts import MemorySearch

    layers = tuple(map(_layer, layer or ()))
    asked = built(
        MemorySearch,
        query=query,
        session_id=session,
        max_results=most,
        min_score=min_score,
        layers=layers,
        explain=explain,
    )
    found = run(partial(_ask, asked), settings, counts=False)
    if json:
        print_json(found.model_dump(mode="json", by_alias=True))
    else:
        _show(console(), found)
    raise typer.Exit(DONE if found.results else NOTHING)


async def _ask(asked: MemorySearch, memory: Memory, bus: EventBus) -> MemoryResults:
    return await bus.request(asked, timeout=REPLY_SECONDS)


def _layer(name: str) -> Layer:
    known: dict[str, Layer] = {layer: layer for layer in get_args(Layer)}
    if name in known:
        return known[name]
    meant = nearest(name, list(known))
    if meant:
        words = say("{name!r} is no layer; did you mean {meant!r}?", name=name, meant=meant)
    else:
        words = say("{name!r} is no layer; there are {known}", name=name, known=", ".join(known))
    raise typer.BadParameter(words, param_hint="--layer")


def _show(out: Console, found: MemoryResults) -> None:
    from rich.text import Text

    for result in found.results:
        _show_result(out, result)
    if not found.results:
        out.print(say("Nothing was found."))
    if found.notice:
        out.print(Text(found.notice, "yellow"))


def _show_result(out: Console, result: SearchResult) -> None:
    from rich.text import Text

    lines = f"L{result.start_line}" + (f"-L{result.end_line}" if result.end_line != result.start_line else "")
    when = result.time.strftime("  %Y-%m-%d %H:%M") if result.time else ""
    address = (f"{result.path}#{lines}", "bold")
    out.print(Text.assemble(address, (f"  {result.score:.2f}", "cyan"), f"  {result.layer}{when}"))
    for line in result.snippet.strip().split("\n"):
        out.print(Text(f"    {line}"))
    for step in result.steps or ():
        out.print(Text(f"      {step}", "dim"))
