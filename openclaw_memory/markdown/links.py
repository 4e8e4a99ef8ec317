"""Links of a document to files beside it: where they lead within the workspace (seed 003 section 26.4.2)."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from urllib.parse import unquote

from markdown_it import MarkdownIt

MAX_DEPTH = 2
"""How many links deep files are followed from the index: what it names, and what those name."""
MAX_FILES = 100
"""Most files that are followed from one index."""

_MOST_CHARS = 250_000
"""How much of a document is looked through for links: parsing 1 MB takes seconds."""
_SCHEME = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*:")
_CONTROL = re.compile(r"[\x00-\x1f\x7f]")


@dataclass(frozen=True, slots=True)
class Reach:
    """What can be reached from an index: `files` that are held, nearest first; `missing`, those still to be loaded."""

    files: tuple[str, ...]
    missing: tuple[str, ...]


def links_of(path: str, body: str) -> tuple[str, ...]:
    """List the Markdown files that a document links to, by path relative to the root, in order, each once.

    Parameters: `path`, the document's own path; `body`, its text.
    """
    if "](" not in body and "]:" not in body:
        return ()
    found = (
        child.attrGet("href")
        for token in _parser().parse(body[:_MOST_CHARS])
        for child in token.children or ()
        if child.type == "link_open"
    )
    targets = (target_of(path, href) for href in found if isinstance(href, str))
    return tuple(dict.fromkeys(target for target in targets if target is not None and target != path))


def target_of(path: str, href: str) -> str | None:
    """Give the file that a link means, relative to the root; None when it leads elsewhere.

    Elsewhere is: another program's business (`https:`, `mailto:`), an absolute path or drive, a step upwards (`..`),
    a hidden file, anything but Markdown. Whether a file on the way is a symbolic link is for the caller to see.
    """
    bare = re.split(r"[?#]", href, maxsplit=1)[0]
    if _SCHEME.match(bare):
        return None
    bare = unquote(bare).replace("\\", "/")
    # Looked at again: what was percent-encoded may have hidden a scheme, a control character, or half of one.
    if not bare or bare.startswith("/") or _SCHEME.match(bare) or _CONTROL.search(bare) or "\ufffd" in bare:
        return None
    parts = [part for part in bare.split("/") if part not in ("", ".")]
    if not parts or any(part.startswith(".") or ":" in part or part != part.strip() for part in parts):
        return None
    if not parts[-1].lower().endswith(".md"):
        return None
    folder = path.rpartition("/")[0]
    return "/".join([*([folder] if folder else []), *parts])


def reach(start: str, bodies: Mapping[str, str], *, depth: int = MAX_DEPTH, most: int = MAX_FILES) -> Reach:
    """Follow links from an index, nearest first. Circles end where they close.

    Parameters: `start`, the index; `bodies`, the texts that are held, by path, the index among them; load what is
    `missing` and ask again (a file that does not exist is given as ""); `depth`, how many links deep; `most`, how many
    files at most.
    """
    files: list[str] = []
    missing: list[str] = []
    seen = {start}
    nearest = [start]
    for _ in range(depth):
        further: list[str] = []
        for path in nearest:
            for target in links_of(path, bodies.get(path, "")):
                if target in seen or len(files) + len(missing) >= most:
                    continue
                seen.add(target)
                (files if target in bodies else missing).append(target)
                further.append(target)
        nearest = further
    return Reach(tuple(files), tuple(missing))


@cache
def _parser() -> MarkdownIt:
    """Make the parser of links, which keeps nothing between two texts."""
    return MarkdownIt("commonmark")
