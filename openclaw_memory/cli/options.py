"""What the commands have in common: where the memory is, and an answer to a mistyped path that helps."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from openclaw_memory.config import MemoryConfig

Root = Annotated[
    Path | None,
    typer.Option(
        "--root",
        metavar="PATH",
        help="Folder of everything, with `memory/` in it; its `config.yaml` is read. [default: ~/.openclaw]",
    ),
]
Config = Annotated[
    Path | None,
    typer.Option("--config", metavar="FILE", help="Configuration to take the folders from, instead of --root."),
]
Workspace = Annotated[
    Path | None,
    typer.Option("--workspace", metavar="PATH", help="Folder of MEMORY.md and the daily notes, instead of the usual."),
]
Agent = Annotated[
    str | None, typer.Option("--agent", metavar="ID", help="Agent whose index and sessions are meant. [default: main]")
]
Json = Annotated[bool, typer.Option("--json", help="Print JSON for programs instead of text for people.")]


def configuration(
    root: Path | None, config: Path | None, workspace: Path | None = None, agent: str | None = None
) -> MemoryConfig:
    """Give the configuration of a memory folder that exists.

    Raises: `typer.BadParameter`, which ends the program with 2, and says what may have been meant.
    """
    from openclaw_memory.cli.paths import no_memory

    found = settled(root, config, workspace, agent)
    folder = found.memory_folder
    where = "--root" if config is None else "--config"
    try:
        if not folder.is_dir():
            raise typer.BadParameter(no_memory(found.root, folder), param_hint=where)
    except OSError as error:
        # A name that is too long, a folder around it that may not be read.
        raise typer.BadParameter(str(error), param_hint=where) from error
    return found


def settled(
    root: Path | None, config: Path | None, workspace: Path | None = None, agent: str | None = None
) -> MemoryConfig:
    """Give the configuration of a folder that need not exist yet.

    Raises: as `configuration`.
    """
    from openclaw_memory.cli.settings import sources_of
    from openclaw_memory.errors import ConfigError

    for option, path in (("--root", root), ("--workspace", workspace)):
        _must_be_text(option, path)
    where = "--root" if config is None else "--config"
    try:
        return sources_of(root, config, workspace, agent).config()
    except (ConfigError, OSError, RuntimeError) as error:
        # A home that nobody has, a name that is too long.
        raise typer.BadParameter(str(error), param_hint=where) from error


def _must_be_text(option: str, path: Path | None) -> None:
    from openclaw_memory.cli.words import say

    try:
        str(path).encode()
    except UnicodeEncodeError as error:
        words = say("the name of the folder is no UTF-8: {name!r}; rename it", name=str(path))
        raise typer.BadParameter(words, param_hint=option) from error
