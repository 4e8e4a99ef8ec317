"""`openclaw-memory init`."""

from __future__ import annotations

import secrets
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from openclaw_memory.cli.exits import INTERRUPTED, TROUBLE
from openclaw_memory.cli.options import Agent, Json, Root, Workspace, settled
from openclaw_memory.cli.output import console, print_json
from openclaw_memory.cli.words import say

if TYPE_CHECKING:
    from openclaw_memory.config import MemoryConfig

Mode = Annotated[
    str | None,
    typer.Option("--mode", metavar="NAME", help="four_layer, two_layer, four_tier or history. [default: four_layer]"),
]
Zone = Annotated[
    str | None, typer.Option("--timezone", metavar="NAME", help="Such as Asia/Shanghai. [default: the system's]")
]
Language = Annotated[
    str | None, typer.Option("--language", metavar="zh|en", help="Language of labels in the files. [default: zh]")
]


@dataclass(frozen=True, slots=True)
class Made:
    """What `init` made, and what had been there; folders end in `/`."""

    made: tuple[str, ...]
    kept: tuple[str, ...]


def init(
    root: Root = None,
    workspace: Workspace = None,
    agent: Agent = None,
    mode: Mode = None,
    timezone: Zone = None,
    language: Language = None,
    json: Json = False,
) -> None:
    """Make a memory folder: its folders, and a config.yaml that explains every setting.

    It asks nothing and changes nothing that is there: a second run finds everything made. A workspace that another
    program keeps may be named by --workspace; nothing is written into it.
    """
    config = settled(root, None, workspace, agent)
    from openclaw_memory.config import MemoryConfig

    file = config.root / "config.yaml"
    given = {name: value for name, value in (("mode", mode), ("timezone", timezone), ("language", language)) if value}
    _check(config, file, given)
    given |= {"workspace_path": str(config.workspace_path)} if workspace is not None else {}
    given |= {"agent_id": config.agent_id} if agent is not None else {}
    # A program that loads the file does not know where it lies.
    given |= {} if config.root == MemoryConfig().root else {"root": str(config.root)}
    try:
        done = make(config, file, given)
    except KeyboardInterrupt:
        typer.echo(say("Interrupted. Run it again for the rest."), err=True)
        raise typer.Exit(INTERRUPTED) from None
    except OSError as error:
        typer.echo(say("{root} can't be made: {error}", root=config.root, error=error), err=True)
        raise typer.Exit(TROUBLE) from error
    if json:
        print_json(
            {
                "root": str(config.root),
                "config": str(file),
                "memory": str(config.memory_folder),
                "workspace": str(config.workspace_folder),
                "made": list(done.made),
                "kept": list(done.kept),
            }
        )
    else:
        _show(config, done)


def make(config: MemoryConfig, file: Path, given: dict[str, Any]) -> Made:
    """Make what is missing, each step durable before the next; what is there stays as it is.

    Raises: `OSError`.
    """
    from openclaw_memory.cli.template import config_text
    from openclaw_memory.layers.rooms import FOLDERS
    from openclaw_memory.storage.durable import make_folders
    from openclaw_memory.storage.files import LocalFiles

    files = LocalFiles()
    folders = [config.root, config.memory_folder]
    folders += [config.memory_folder / name for name in FOLDERS if not name.startswith(".")]
    folders += [config.workspace_folder]
    made: list[str] = []
    kept: list[str] = []
    for folder in folders:
        (kept if files.is_folder(folder) else made).append(f"{folder}/")
        # Also one that is there: a run that was killed may have left it with a name that is not durable.
        make_folders(files, folder)
    if file.exists():
        kept.append(str(file))
    else:
        temporary = file.with_name(f".{file.name}.{secrets.token_hex(6)}.tmp")
        opened = files.create(temporary)
        try:
            opened.append(config_text(given).encode())
            opened.sync()
            # Never over one that somebody has put there meanwhile.
            files.rename_new(temporary, file)
            files.sync_folder(file.parent)
        finally:
            opened.close()
            files.remove(temporary)
        made.append(str(file))
    return Made(tuple(made), tuple(kept))


def _check(config: MemoryConfig, file: Path, given: dict[str, Any]) -> None:
    """Refuse what the configuration refuses, and what would have to be changed in a file that is there."""
    from openclaw_memory.config import MemoryConfig
    from openclaw_memory.errors import ConfigError

    try:
        MemoryConfig.from_settings(given, say("the options"))
    except ConfigError as error:
        raise typer.BadParameter(str(error)) from error
    if not file.exists():
        return
    for name, value in given.items():
        if getattr(config, name) != value:
            words = say("{file} is there and is left as it is; set {name} in it", file=file, name=f"`{name}: {value}`")
            raise typer.BadParameter(words, param_hint=f"--{name}")


def _show(config: MemoryConfig, done: Made) -> None:
    from rich.text import Text

    out = console()
    if not done.made:
        out.print(Text(say("Everything is there already; nothing was changed."), "green"))
    for path in done.made:
        out.print(Text.assemble((say("made  "), "green"), (path, "bold")))
    out.print(
        say(
            'Next: `openclaw-memory remember "..."`, and in your program `MemoryConfig.load({file!r})`.',
            file=str(config.root / "config.yaml"),
        )
    )
