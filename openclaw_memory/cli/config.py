"""`openclaw-memory config show`."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from openclaw_memory.cli.options import Agent, Config, Json, Root, Workspace
from openclaw_memory.cli.output import console, padded, print_json
from openclaw_memory.cli.words import language_of, say

if TYPE_CHECKING:
    from openclaw_memory.cli.settings import Setting

config = typer.Typer(no_args_is_help=True, rich_markup_mode=None, help="Look at the configuration.")

Changed = Annotated[bool, typer.Option("--changed", help="Only what is not a default.")]


@config.command("show")
def show(
    root: Root = None,
    file: Config = None,
    workspace: Workspace = None,
    agent: Agent = None,
    changed: Changed = False,
    json: Json = False,
) -> None:
    """Show every setting, its value, and where that came from.

    `default`; `preset`, from the mode; `file`; `environment`, a variable such as OPENCLAW_MEMORY_TIMEZONE; `option`, of
    this command. The later one has the last word. What each means stands in docs/configuration.md.
    """
    from openclaw_memory.cli.settings import sources_of
    from openclaw_memory.errors import ConfigError

    try:
        sources = sources_of(root, file, workspace, agent)
        settings = sources.settings()
    except (ConfigError, OSError, RuntimeError) as error:
        raise typer.BadParameter(str(error)) from error
    told = [one for one in settings if not changed or one.origin != "default"]
    if json:
        values = [{"key": one.key, "value": shown(one.key, one.value), "origin": one.origin} for one in told]
        print_json({"file": None if sources.path is None else str(sources.path), "settings": values})
        return
    typer.echo(str(sources.path) if sources.path is not None else say("No config.yaml: defaults, and the environment."))
    _show(told)


def shown(key: str, value: Any) -> Any:
    """Give a value as JSON has it, without the secrets in it: options of somebody's own class may hold a key."""
    from openclaw_memory.masking import mask_named

    if isinstance(value, Mapping):
        return {name: shown(str(name), inner) for name, inner in value.items()}
    if isinstance(value, list | tuple):
        return [shown(key, inner) for inner in value]
    if isinstance(value, str) and not key.endswith("_variable"):
        return mask_named(key, value, language_of(os.environ)).text
    return str(value) if isinstance(value, Path) else value


def _show(settings: list[Setting]) -> None:
    from rich.text import Text

    out = console()
    width = max((len(one.key) for one in settings), default=0)
    for one in settings:
        value = say("unset") if one.value is None else str(shown(one.key, one.value)) or '""'
        value = value.lower() if isinstance(one.value, bool) else value
        colour = "dim" if one.origin == "default" else "cyan"
        out.print(Text.assemble(padded(one.key, width), "  ", (padded(one.origin, 11), colour), f"  {value}"))
