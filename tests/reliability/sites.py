"""The places in the code that sync, found in its source and at run time, so that each can be taken out."""

from __future__ import annotations

import ast
import re
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from types import FrameType

import openclaw_memory

PACKAGE = Path(openclaw_memory.__file__).parent
CALLS = ("sync", "append_synced", "sync_folder")
A_CALL = re.compile(rf"\.\s*(?:{'|'.join(CALLS)})\b")


@dataclass(frozen=True, order=True, slots=True)
class Site:
    """A call that syncs: module, function, and how many such calls of the function come before it."""

    module: str
    function: str
    number: int = 0

    def __str__(self) -> str:
        return f"{self.module}.{self.function}" + (f"#{self.number}" if self.number else "")


def sites_in_source() -> dict[Site, tuple[str, int]]:
    """Find every sync in the package except where `files.py` defines them; gives file name and line of each."""
    found: dict[Site, tuple[str, int]] = {}
    for path in sorted(PACKAGE.rglob("*.py")):
        module = path.relative_to(PACKAGE).with_suffix("").as_posix().replace("/", ".")
        if module == "storage.files":
            continue
        text = path.read_text(encoding="utf-8")
        for function in ast.walk(ast.parse(text)) if A_CALL.search(text) else ():
            if isinstance(function, ast.FunctionDef | ast.AsyncFunctionDef):
                for number, line in enumerate(sorted(_syncs(function))):
                    found[Site(module, function.name, number)] = (str(path), line)
    return found


def _syncs(function: ast.AST) -> Iterator[int]:
    """Give the lines of a function's calls; those of a function within it are that one's."""
    for node in ast.iter_child_nodes(function):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            continue
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr in CALLS:
            yield node.lineno
        yield from _syncs(node)


def site_here(known: dict[tuple[str, int], Site]) -> Site | None:
    """Tell which site is syncing now."""
    frame: FrameType | None = sys._getframe(1)
    while frame is not None:
        site = known.get((frame.f_code.co_filename, frame.f_lineno))
        if site is not None:
            return site
        frame = frame.f_back
    return None
