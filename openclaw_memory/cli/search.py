"""`openclaw-memory search` and `openclaw-memory debug-search`."""

from __future__ import annotations

from functools import partial
from typing import Annotated, get_args

import typer
from pydantic import ValidationError
from rich.console import Console
from rich.text import Text

from bus import EventBus
from contracts import MemoryResults, MemorySearch, SearchResult
from contracts.fields import Layer
from openclaw_memory.actor import Memory
from openclaw_memory.cli.asking import run
from openclaw_memory.cli.options import Config, Json, Root, configuration, nearest
from openclaw_memory.cli.output import console, print_json

SEARCH_SECONDS = 60.0
"""Longest wait for an answer: a first search may have to read every file."""

Query = Annotated[str, typer.Argument(metavar="QUERY", help="What to look for: words, a question.")]
Most = Annotated[int, typer.Option("--max", metavar="N", min=1, max=100, help="Most hits.")]
Least = Annotated[
    float, typer.Option("--min-score", metavar="SHARE", min=0, max=1, help="Least score; the best hit has 1.")
]
Layers = Annotated[
    list[str] | None,
    typer.Option("--layer", metavar="LAYER", help=f"Only this layer; may be repeated: {', '.join(get_args(Layer))}."),
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
    most: Most = 10,
    min_score: Least = 0.0,
    layer: Layers = None,
    session: Session = None,
    json: Json = False,
) -> None:
    """Find what memory holds about something, the best first.

    It may run beside a Gateway. Exit code 0: found, 1: nothing was found, or it could not be searched.
    """
    _search(query, root, config, most, min_score, layer, session, json, explain=False)


def debug_search(
    query: Query,
    root: Root = None,
    config: Config = None,
    most: Most = 10,
    min_score: Least = 0.0,
    layer: Layers = None,
    session: Session = None,
    verbose: Verbose = False,
    json: Json = False,
) -> None:
    """Find as `search` does, and tell how the scores came about."""
    _search(query, root, config, most, min_score, layer, session, json, explain=verbose or json)


def _search(
    query: str,
    root: Root,
    config: Config,
    most: int,
    min_score: float,
    layer: list[str] | None,
    session: str | None,
    json: bool,
    *,
    explain: bool,
) -> None:
    settings = configuration(root, config)
    layers = tuple(map(_layer, layer or ()))
    try:
        asked = MemorySearch(
            query=query, session_id=session, max_results=most, min_score=min_score, layers=layers, explain=explain
        )
    except ValidationError as error:
        words = "; ".join(f"{'.'.join(map(str, fault['loc']))}: {fault['msg']}" for fault in error.errors())
        raise typer.BadParameter(words) from error
    found = run(partial(_ask, asked), settings)
    if json:
        print_json(found.model_dump(mode="json", by_alias=True))
    else:
        _show(console(), found)
    raise typer.Exit(0 if found.results else 1)


async def _ask(asked: MemorySearch, memory: Memory, bus: EventBus) -> MemoryResults:
    return await bus.request(asked, timeout=SEARCH_SECONDS)


def _layer(name: str) -> Layer:
    known: dict[str, Layer] = {layer: layer for layer in get_args(Layer)}
    if name in known:
        return known[name]
    meant = nearest(name, list(known))
    hint = f"did you mean {meant!r}?" if meant else f"there are {', '.join(known)}"
    raise typer.BadParameter(f"{name!r} is no layer; {hint}", param_hint="--layer")


def _show(out: Console, found: MemoryResults) -> None:
    for result in found.results:
        _show_result(out, result)
    if not found.results:
        out.print("Nothing was found.")
    if found.notice:
        out.print(Text(found.notice, "yellow"))


def _show_result(out: Console, result: SearchResult) -> None:
    lines = f"L{result.start_line}" + (f"-L{result.end_line}" if result.end_line != result.start_line else "")
    when = result.time.strftime("  %Y-%m-%d %H:%M") if result.time else ""
    address = (f"{result.path}#{lines}", "bold")
    out.print(Text.assemble(address, (f"  {result.score:.2f}", "cyan"), f"  {result.layer}{when}"))
    for line in result.snippet.strip().split("\n"):
        out.print(Text(f"    {line}"))
    for step in result.steps or ():
        out.print(Text(f"      {step}", "dim"))
