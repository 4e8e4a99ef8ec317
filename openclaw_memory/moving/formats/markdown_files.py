"""Markdown files that are kept as they are: notes, in the folders that they lie in."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import PurePosixPath

from openclaw_memory.layers.plain import MAX_BYTES
from openclaw_memory.moving.errors import SourceError
from openclaw_memory.moving.found import Finding, FoundFile, Remark
from openclaw_memory.moving.source import Source
from openclaw_memory.storage.areas import MAX_DEPTH

NOTES = "memory"
"""Folder of a workspace in which notes are found."""


def add_file(found: Finding, source: Source, name: str, path: str) -> None:
    """Take a file in under a path of the workspace; what can't be read is told."""
    try:
        data = source.read(name)
    except SourceError as error:
        found.problems.append(Remark(name, error.problem))
        return
    if len(data) > MAX_BYTES:
        found.problems.append(
            Remark(name, f"{len(data):,} bytes, at most {MAX_BYTES:,} of a Markdown file are read; split it")
        )
    elif not data.strip():
        found.left_out.append(Remark(name, "it is empty"))
    else:
        found.files.append(FoundFile("workspace", path, data, name))


def add_notes(found: Finding, source: Source, names: Iterable[str], prefix: str, target: str = NOTES) -> None:
    """Take in the Markdown files below a folder. Parameters: `prefix`, what of their names is not their own."""
    for name in names:
        relative = name.removeprefix(prefix)
        if not relative.endswith(".md"):
            if relative.lower().endswith((".md", ".markdown", ".txt")):
                found.left_out.append(Remark(name, "only files that end in `.md` are notes"))
            continue
        add_file(found, source, name, f"{target}/{_near(relative, target)}")


def _near(relative: str, target: str) -> str:
    """Give a path that search still looks at: what lies deeper is named after its folders."""
    most = MAX_DEPTH - target.count("/")
    *folders, name = PurePosixPath(relative).parts
    if len(folders) <= most:
        return relative
    return "/".join([*folders[:most], "--".join([*folders[most:], name])])
