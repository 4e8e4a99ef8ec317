"""Version histories (git) that still hold what was forgotten: found and told, never changed. For a thread."""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Iterable
from pathlib import Path

SECONDS = 20.0
"""Longest wait for one answer of git."""

_PURGE = (
    "to purge it there: `git filter-repo --replace-text FILE` (FILE names the text) or `git filter-repo --path PATH "
    "--invert-paths`, then `git reflog expire --expire=now --all && git gc --prune=now`, and the same wherever it was "
    "pushed to"
)


def repositories(folders: Iterable[Path]) -> list[Path]:
    """List the working trees that these folders lie in, or are."""
    found: dict[Path, None] = {}
    for folder in folders:
        real = folder.resolve()
        for place in (real, *real.parents):
            if (place / ".git").exists():
                found[place] = None
                break
    return list(found)


def notice_of(folders: Iterable[Path], places: Iterable[Path], text: str | None) -> str | None:
    """Say which version histories hold what was forgotten still, or may; None when none does.

    Parameters: `places` of the files in which it was forgotten; `text`, where one was named.
    """
    told = []
    changed = list(places)
    for repository in repositories(folders):
        holds = _holds(repository, changed, text)
        if holds is not False:
            told.append(f"the git history of {repository} {'holds' if holds else 'may hold'} it still")
    return f"{'; '.join(told)}; {_PURGE}" if told else None


def _holds(repository: Path, places: list[Path], text: str | None) -> bool | None:
    """Tell whether a history holds it; None where nobody can tell."""
    git = shutil.which("git")
    if git is None:
        return None
    inside = [
        str(place.resolve().relative_to(repository.resolve()))
        for place in places
        if place.resolve().is_relative_to(repository.resolve())
    ]
    if text is not None:
        found = _asked(git, repository, ["log", "--all", "--format=%h", "-1", f"-S{text}"])
        if found is None or found:
            return None if found is None else True
    if not inside:
        return False
    found = _asked(git, repository, ["log", "--all", "--format=%h", "-1", "--", *inside[:100]])
    # The files were there in some version; whether with this in them, only the text could tell.
    return None if found is None or found else False


def _asked(git: str, repository: Path, arguments: list[str]) -> bool | None:
    """Ask git; tells whether it answered anything, None when it could not."""
    try:
        asked = subprocess.run(
            [git, "-C", str(repository), *arguments], capture_output=True, timeout=SECONDS, check=False
        )
    except (OSError, subprocess.TimeoutExpired, ValueError):
        return None
    return bool(asked.stdout.strip()) if asked.returncode == 0 else None
