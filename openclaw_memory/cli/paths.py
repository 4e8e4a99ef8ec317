"""A mistyped path is answered with what was meant."""

from __future__ import annotations

import difflib
from collections.abc import Sequence
from pathlib import Path

from openclaw_memory.cli.words import say


def nearest(name: str, names: Sequence[str]) -> str | None:
    """Give the name that was most likely meant; None when none is like it."""
    found = difflib.get_close_matches(name, names, n=1, cutoff=0.6)
    return found[0] if found else None


def no_memory(root: Path, folder: Path) -> str:
    """Say why there is no memory in a folder, and what to do."""
    if not root.is_dir():
        return no_such(root, files=False)
    if folder.exists():
        return _is_a_file(folder)
    if root.name == "memory" and (root / "conversations").is_dir():
        return say("{root} is the memory folder itself; did you mean {meant!r}?", root=root, meant=str(root.parent))
    return say(
        "{folder} does not exist: there is no memory in {root} yet; make one with `openclaw-memory init`",
        folder=folder,
        root=root,
    )


def no_such(path: Path, *, files: bool) -> str:
    """Say which part of a path is wrong, and what is there instead.

    Parameters: `files`, whether a file is wanted; else a folder.
    """
    if path.is_dir():
        return say("{path} is a folder; name a file", path=path)
    existing = next(parent for parent in path.parents if parent.is_dir())
    missing = path.relative_to(existing).parts
    if files and path.exists():
        return say("{path} is a device or a pipe; name a file", path=path)
    if (existing / missing[0]).exists():
        return _is_a_file(existing / missing[0])
    try:
        names = [item.name for item in existing.iterdir() if item.is_dir() or (files and len(missing) == 1)]
    except OSError:
        names = []
    meant = nearest(missing[0], names)
    if meant is None:
        return say(
            "{path} does not exist; the nearest existing folder is {existing!r}", path=path, existing=str(existing)
        )
    guess = existing.joinpath(meant, *missing[1:])
    guess = guess if guess.exists() else existing / meant
    return say("{path} does not exist; did you mean {guess!r}?", path=path, guess=str(guess))


def _is_a_file(path: Path) -> str:
    return say("{path} is a file; name a folder", path=path)
