"""memsearch's memory: a Markdown file a day in `.memsearch/memory/`, as its plugins for coding agents write them."""

from __future__ import annotations

from openclaw_memory.moving.formats.markdown_files import add_notes
from openclaw_memory.moving.found import Finding
from openclaw_memory.moving.source import Source


def base_of(names: frozenset[str]) -> str | None:
    """Tell where in a folder its files begin; None when there are none."""
    found = [name for name in names if ".memsearch/memory/" in f"/{name}"]
    if found:
        name = min(found)
        return name[: name.index(".memsearch/memory/")] + ".memsearch/memory/"
    return None


def read_folder(source: Source, found: Finding) -> None:
    """Read the files, each kept as it is below `memory/memsearch/`: a day may have a note of its own already."""
    base = base_of(frozenset(source.names))
    if base is None:
        base = "memory/" if any(name.startswith("memory/") for name in source.names) else ""
    add_notes(found, source, [name for name in source.names if name.startswith(base)], base, "memory/memsearch")
