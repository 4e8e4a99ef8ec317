"""basic-memory's notes: front matter, observations (`- [category] text #tag`) and relations (`- kind [[Note]]`)."""

from __future__ import annotations

import re

from openclaw_memory.markdown.frontmatter import split
from openclaw_memory.markdown.text import decode
from openclaw_memory.moving.errors import SourceError
from openclaw_memory.moving.formats.markdown_files import add_notes
from openclaw_memory.moving.found import Finding
from openclaw_memory.moving.source import Source

_PERMALINK = re.compile(r"^permalink:", re.MULTILINE)
_OBSERVATION = re.compile(r"^- \[(?![ xX]\])[^\]\n]{1,60}\] \S", re.MULTILINE)
_RELATION = re.compile(r"^- [^\[\]\n]{1,60} \[\[[^\]\n]+\]\]", re.MULTILINE)

LOOKED_AT = 50
"""Notes that tell whether a folder is one of basic-memory's."""


def is_note(text: str) -> bool:
    """Tell whether a text is one of its notes."""
    front = split(text)
    if _PERMALINK.search(front.head):
        return True
    return bool(_OBSERVATION.search(front.body) and _RELATION.search(front.body))


def is_folder(source: Source) -> bool:
    """Tell whether a folder is one of its projects, by its first notes."""
    for name in [name for name in source.names if name.endswith(".md")][:LOOKED_AT]:
        try:
            if is_note(decode(source.read(name)[:65_536]).text):
                return True
        except SourceError:
            continue
    return False


def read_folder(source: Source, found: Finding) -> None:
    """Read the notes, each kept as it is below `memory/basic-memory/`: its links lead from note to note there."""
    add_notes(found, source, source.names, "", "memory/basic-memory")
