"""What the commands have in common: where the memory is, and an answer to a mistyped path that helps."""

from __future__ import annotations

import difflib
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

import typer

from openclaw_memory.config import MemoryConfig
from openclaw_memory.errors import ConfigError

Root = Annotated[
    Path | None,
    typer.Option("--root", metavar="PATH", help="Folder of everything, with `memory/` in it. [default: ~/.openclaw]"),
]
Config = Annotated[
    Path | None,
    typer.Option("--config", metavar="FILE", help="Configuration to take the folders from, instead of --root."),
]
Json = Annotated[bool, typer.Option("--json", help="Print JSON for programs instead of text for people.")]


def configuration(root: Path | None, config: Path | None) -> MemoryConfig:
    """Give the configuration of a memory folder that exists.

    Raises: `typer.BadParameter`, which ends the program with 2, and says what may have been meant.
    """
    if root is not None and config is not None:
        raise typer.BadParameter("give --root or --config, not both")
    where = "--root" if config is None else "--config"
    try:
        if config is not None:
            if not config.expanduser().is_file():
                raise typer.BadParameter(_no_such(config.expanduser().absolute(), files=True), param_hint=where)
            found = MemoryConfig.load(config.expanduser())
        else:
            found = MemoryConfig() if root is None else MemoryConfig(root=root)
    except ConfigError as error:
        raise typer.BadParameter(str(error), param_hint=where) from error
    folder = found.memory_folder
    if not folder.is_dir():
        raise typer.BadParameter(_no_memory(found.root, folder), param_hint=where)
    return found


def nearest(name: str, names: Sequence[str]) -> str | None:
    """Give the name that was most likely meant; None when none is like it."""
    found = difflib.get_close_matches(name, names, n=1, cutoff=0.6)
    return found[0] if found else None


def _no_memory(root: Path, folder: Path) -> str:
    if not root.is_dir():
        return _no_such(root, files=False)
    if root.name == "memory" and (root / "conversations").is_dir():
        return f"{root} is the memory folder itself; did you mean {str(root.parent)!r}?"
    return f"{folder} does not exist: there is no memory in {root} yet (it is created when the Gateway first runs)"


def _no_such(path: Path, *, files: bool) -> str:
    """Say which part of a path is wrong, and what is there instead."""
    existing = next(parent for parent in path.parents if parent.is_dir())
    missing = path.relative_to(existing).parts
    try:
        names = [item.name for item in existing.iterdir() if item.is_dir() or (files and len(missing) == 1)]
    except OSError:
        names = []
    meant = nearest(missing[0], names)
    if meant is None:
        return f"{path} does not exist; the nearest existing folder is {str(existing)!r}"
    guess = existing.joinpath(meant, *missing[1:])
    return f"{path} does not exist; did you mean {str(guess if guess.exists() else existing / meant)!r}?"
