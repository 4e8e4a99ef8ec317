"""Where the documents of a store lie: most of them below its root, some in folders that are other people's."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from types import MappingProxyType

KEPT = ".state/kept"
"""Folder below the root for what belongs beside a document that lies elsewhere: its backup, damaged bytes of it."""

KEPT_PLACES = 4_096
"""Places that are remembered, at most."""


@dataclass(frozen=True, slots=True)
class Places:
    """The folders of a store.

    `root` holds journal, lock and state, and every document whose path is not below one of `elsewhere`: those folders
    are mounted under the beginning of a path (`workspace/main`), the first that fits, and nothing but the documents
    themselves is put there.
    """

    root: Path
    elsewhere: Mapping[str, Path] = field(default_factory=lambda: MappingProxyType({}))
    _found: dict[str, Path] = field(default_factory=dict, init=False, repr=False, compare=False)
    """Places that were asked for: a read looks at dozens, and making a `Path` costs more than the look."""

    def of(self, path: str) -> Path:
        """Give the place of a document, or of a folder of documents, by its relative path."""
        place = self._found.get(path)
        if place is None:
            if len(self._found) >= KEPT_PLACES:
                self._found.clear()
            place = self._found[path] = self._place(path)
        return place

    def _place(self, path: str) -> Path:
        mounted = self._mounted(path)
        if mounted is None:
            return self.root / path
        folder, rest = mounted
        return folder / rest if rest else folder

    def is_elsewhere(self, path: str) -> bool:
        """Tell whether a document lies in a folder that is not ours alone."""
        return self._mounted(path) is not None

    def bounds(self, path: str) -> Path | None:
        """Give the folder that a document lying elsewhere must not be led out of by a link; None for one of ours."""
        for prefix, folder in self.elsewhere.items():
            if path.startswith(f"{prefix}/"):
                return folder
        return None

    def companion(self, path: str, suffix: str, document: Path | None = None) -> Path:
        """Give the place of what belongs beside a document, such as its `.backup`.

        `document` is the file itself where it is not at `of(path)`, because a link leads to it.
        """
        if self.is_elsewhere(path):
            return self.root / KEPT / f"{path}{suffix}"
        document = document or self.of(path)
        return document.with_name(document.name + suffix)

    def shown(self, place: Path) -> str:
        """Write a place for people: relative to the root where it is below it."""
        return place.relative_to(self.root).as_posix() if place.is_relative_to(self.root) else str(place)

    def _mounted(self, path: str) -> tuple[Path, str] | None:
        for prefix, folder in self.elsewhere.items():
            if path == prefix or path.startswith(f"{prefix}/"):
                return folder, path[len(prefix) + 1 :]
        return None
