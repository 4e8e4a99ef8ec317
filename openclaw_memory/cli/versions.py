"""`openclaw-memory history`, `diff` and `restore`: what a document was."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, TypeVar

import typer

from openclaw_memory.cli.exits import DONE, NOTHING, TROUBLE
from openclaw_memory.cli.options import Config, Json, Root, Workspace, configuration
from openclaw_memory.cli.output import console, print_json
from openclaw_memory.cli.words import say

if TYPE_CHECKING:
    from openclaw_memory.config import MemoryConfig
    from openclaw_memory.lifecycle.versioning.git import Git

T = TypeVar("T")

File = Annotated[
    str, typer.Argument(metavar="FILE", help="A document, such as `facts/user-profile.md` or `MEMORY.md`.")
]
At = Annotated[
    str | None,
    typer.Option("--at", metavar="WHEN", help="Commit or time: 3f2a91c, 2026-05-04, 2026-05-04T14:30."),
]


def history(
    file: File, root: Root = None, config: Config = None, workspace: Workspace = None, json: Json = False
) -> None:
    """List the versions of a document, newest first. Exit code 1: there are none."""
    from openclaw_memory.lifecycle.versioning.versions import versions_of

    settings = configuration(root, config, workspace)
    git, path = _place(settings, file)
    found = _asked(lambda: versions_of(git, path))
    if json:
        versions = [
            {
                "commit": one.commit,
                "time": one.time.isoformat(),
                "message": one.message,
                "added": one.added,
                "removed": one.removed,
            }
            for one in found
        ]
        print_json({"path": path, "versions": versions})
    else:
        for one in found:
            when = one.time.astimezone(settings.zone)
            console().print(f"{one.commit[:10]}  {when:%Y-%m-%d %H:%M}  +{one.added} -{one.removed}", markup=False)
    raise typer.Exit(DONE)


def diff(
    file: File,
    at: At = None,
    root: Root = None,
    config: Config = None,
    workspace: Workspace = None,
    json: Json = False,
) -> None:
    """Show what changed in a document since a version, the newest by default. Exit code 1: nothing did."""
    from openclaw_memory.lifecycle.versioning.versions import difference

    settings = configuration(root, config, workspace)
    git, path = _place(settings, file)
    shown = _asked(lambda: difference(git, path, at, settings.zone))
    if json:
        print_json({"path": path, "diff": shown})
    else:
        typer.echo(shown or say("Nothing has changed since then."), nl=not shown)
    raise typer.Exit(DONE if shown else NOTHING)


def restore(
    file: File,
    at: Annotated[
        str, typer.Option("--at", metavar="WHEN", help="Commit or time: 3f2a91c, 2026-05-04, 2026-05-04T14:30.")
    ],
    root: Root = None,
    config: Config = None,
    workspace: Workspace = None,
    json: Json = False,
) -> None:
    """Put a document back to what it was, as if you had typed it; also beside a running Gateway.

    What it holds now is committed first, so nothing is lost. Exit code 1: there is no such version.
    """
    from openclaw_memory.lifecycle.versioning.versions import content_at, put_back, restored

    settings = configuration(root, config, workspace)
    git, path = _place(settings, file)
    place = git.folder / path

    def do() -> bool:
        content = content_at(git, path, at, settings.zone)
        current = place.read_bytes() if place.is_file() else None
        new = restored(content, current)
        if new == current:
            return False
        from openclaw_memory.clock import SystemClock

        git.commit("memory: before {files} is restored", SystemClock().now())
        put_back(place, new)
        return True

    changed = _asked(do)
    if json:
        print_json({"path": path, "changed": changed})
    else:
        words = say("{path} is as it was.", path=path) if changed else say("It says that already.")
        console().print(words, markup=False)
    raise typer.Exit(DONE)


def _asked(do: Callable[[], T]) -> T:
    """Do something with git; what there is not ends the program with 1, what can't be done with 3."""
    from openclaw_memory.lifecycle.versioning.errors import NoVersionError, VersioningError

    try:
        return do()
    except NoVersionError as error:
        typer.echo(str(error), err=True)
        raise typer.Exit(NOTHING) from error
    except (VersioningError, OSError) as error:
        typer.echo(str(error), err=True)
        raise typer.Exit(TROUBLE) from error


def _place(settings: MemoryConfig, file: str) -> tuple[Git, str]:
    """Find the repository that a document belongs to, and its path in there.

    A document is named by its path in memory, by its address, or by where it lies; one that is gone now has versions
    all the same.

    Raises: `typer.BadParameter` when it lies in neither folder.
    """
    from openclaw_memory.lifecycle.versioning.git import Git

    folders = (settings.memory_folder, settings.workspace_folder)
    named = file.partition("#")[0]
    prefix = f"workspace/{settings.workspace_id}/"
    if named.startswith(prefix):
        guesses = [folders[1] / named.removeprefix(prefix)]
    else:
        guesses = [Path(named).absolute(), *(folder / named for folder in folders), settings.root / named]
    inside = [(folder, path) for path in guesses if (folder := _folder_of(path, folders)) is not None]
    if not inside:
        told = say(
            "{file} lies neither in {memory} nor in {workspace}", file=file, memory=folders[0], workspace=folders[1]
        )
        raise typer.BadParameter(told, param_hint="FILE")
    folder, path = next((one for one in inside if one[1].is_file()), inside[0])
    gits = {one: Git(one, settings.versioning) for one in folders}
    if not path.is_file():
        for other, gone in inside:
            if gits[other].exists and _was_there(gits[other], _within(gone, other)):
                return gits[other], _within(gone, other)
    return gits[folder], _within(path, folder)


def _folder_of(path: Path, folders: tuple[Path, ...]) -> Path | None:
    resolved = path.resolve()
    return next((folder for folder in folders if resolved.is_relative_to(folder.resolve())), None)


def _within(path: Path, folder: Path) -> str:
    return path.resolve().relative_to(folder.resolve()).as_posix()


def _was_there(git: Git, path: str) -> bool:
    from openclaw_memory.lifecycle.versioning.errors import VersioningError
    from openclaw_memory.lifecycle.versioning.versions import versions_of

    try:
        return bool(versions_of(git, path))
    except VersioningError:
        return False
