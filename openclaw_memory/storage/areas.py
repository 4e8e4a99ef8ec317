"""Where documents are looked for: a folder, a folder with all below it, or one file; written as a short pattern.

`facts` is the documents right in a folder, `workspace/main/memory/**/*.md` those in it and below,
`agents/main/sessions/*.jsonl` those with that ending, `workspace/main/memories/**/*` those with any name,
`workspace/main/MEMORY.md` the one file.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cache

from openclaw_memory.storage.files import Files, Stamp
from openclaw_memory.storage.places import Places

MAX_DEPTH = 4
"""How many folders below its own an area reaches; what lies deeper is not looked for."""

MAX_FOLDERS = 1_000
"""Most folders that one look walks through, so that a mistaken path (a home folder) costs little."""

_OURS = (".md", ".json")
_ANY = ("",)
_A_FOLDER = "{} is a folder; rename it, a file is expected there"


@dataclass(frozen=True, slots=True)
class Area:
    """A set of documents: those in `folder` whose names end in one of `endings`, with `deep` also those below it.

    `name` limits it to one document.
    """

    folder: str
    endings: tuple[str, ...] = _OURS
    deep: bool = False
    name: str | None = None

    def holds(self, path: str) -> bool:
        """Tell whether a document belongs here, by its path."""
        folder, _, name = path.rpartition("/")
        if not self.reaches(folder):
            return False
        return is_document(name, self.endings) if self.name is None else name == self.name

    def reaches(self, folder: str) -> bool:
        """Tell whether what lies right in a folder may belong here."""
        return folder == self.folder or (self.deep and self.name is None and folder.startswith(f"{self.folder}/"))


@dataclass(frozen=True, slots=True)
class Listing:
    """What was found: documents with their stamps, and by place what could not be listed, in words."""

    documents: dict[str, Stamp]
    problems: dict[str, str]


@cache
def area_of(pattern: str) -> Area:
    """Read a pattern."""
    folder, _, name = pattern.rpartition("/")
    if name == "*" or name.startswith("*."):
        deep = folder.endswith("/**")
        return Area(folder.removesuffix("/**"), _ANY if name == "*" else (name[1:],), deep)
    if name.endswith(".md"):
        return Area(folder, name=name)
    return Area(pattern)


def tells_of(pattern: str, place: str) -> bool:
    """Tell whether a look through an area finds out anew what is wrong with a place."""
    area = area_of(pattern)
    return place == pattern or (
        area.name is None and (place == area.folder or (area.deep and place.startswith(f"{area.folder}/")))
    )


def is_pattern(pattern: str) -> bool:
    """Tell whether an area is anything but the documents right in a folder of ours."""
    area = area_of(pattern)
    return area.folder != pattern


def is_document(name: str, endings: tuple[str, ...] = _OURS) -> bool:
    """Tell whether a name is a document's: with such an ending, not hidden, and in UTF-8, else it is no address."""
    if not name.endswith(endings) or name.startswith("."):
        return False
    try:
        name.encode()
    except UnicodeEncodeError:
        return False
    return True


class Held:
    """Tells quickly which of many paths lie in some areas."""

    def __init__(self, patterns: Iterable[str]) -> None:
        patterns = list(patterns)
        self._folders = {pattern for pattern in patterns if not is_pattern(pattern)}
        self._areas = [area_of(pattern) for pattern in patterns if is_pattern(pattern)]
        self._within: dict[str, list[Area]] = {}
        """By folder, the areas that may hold something right in it; of thousands of paths most lie in few folders."""

    def __contains__(self, path: str) -> bool:
        folder = path.rpartition("/")[0]
        if folder in self._folders:
            return True
        within = self._within.get(folder)
        if within is None:
            within = self._within[folder] = [area for area in self._areas if area.reaches(folder)]
        return any(area.holds(path) for area in within)


def find(patterns: Iterable[str], places: Places, files: Files) -> Listing:
    """Look through areas. Call it from a thread. What can't be listed costs itself, and nothing else."""
    found = Listing({}, {})
    for pattern in patterns:
        area = area_of(pattern)
        if area.name is not None:
            _find_one(pattern, places, files, found)
            continue
        for folder in folders_of(area, places, files, found.problems):
            try:
                names = files.scan(places.of(folder), area.endings)
            except OSError as error:
                found.problems[folder] = f"{folder} can't be listed ({error.strerror or error})"
                continue
            for name, stamp in names.items():
                if is_document(name, area.endings):
                    found.documents[f"{folder}/{name}"] = stamp
    return found


def _find_one(path: str, places: Places, files: Files, found: Listing) -> None:
    """Look at one file alone: its folder may be a whole project."""
    try:
        if files.is_folder(places.of(path)):
            found.problems[path] = _A_FOLDER.format(path)
        elif (stamp := files.stamp_now(places.of(path))) is not None:
            found.documents[path] = stamp
    except OSError as error:
        found.problems[path] = f"{path} can't be looked at ({error.strerror or error})"


def folders_of(area: Area, places: Places, files: Files, problems: dict[str, str]) -> Iterator[str]:
    """Yield the folders of an area, its own first. Links to folders are not followed, hidden folders are left out."""
    yield area.folder
    waiting, seen = [(area.folder, 0)] if area.deep else [], 1
    while waiting:
        folder, depth = waiting.pop()
        try:
            names = files.folders(places.of(folder))
        except OSError:
            # Told by whoever lists the folder itself.
            continue
        for name in sorted(names, reverse=True):
            path = f"{folder}/{name}"
            if name.startswith("."):
                continue
            if area.endings != _ANY and name.endswith(area.endings):
                problems[path] = _A_FOLDER.format(path)
            if depth >= MAX_DEPTH or seen >= MAX_FOLDERS:
                problems[path] = f"{path} lies too deep, or among too many folders, to be looked through"
                continue
            seen += 1
            waiting.append((path, depth + 1))
            yield path
