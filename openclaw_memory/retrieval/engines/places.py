"""Where the files of an index lie, and how they are cleared away."""

from __future__ import annotations

import secrets
import shutil
from dataclasses import dataclass
from pathlib import Path

from openclaw_memory.retrieval.engines.database import sizes

_BESIDE = ("-wal", "-shm", "-journal")


@dataclass(frozen=True, slots=True)
class Places:
    """The files of one index: `<name>.sqlite` with what SQLite keeps beside it, and folders in `<name>.index`."""

    root: Path
    name: str
    base: str = ""
    """The name of the index that this one is to replace, whose folder it shares; empty for an index by itself."""

    @property
    def database(self) -> Path:
        """The SQLite file."""
        return self.root / f"{self.name}.sqlite"

    @property
    def folders(self) -> Path:
        """The folder with tantivy's folders, of which the database names one."""
        return self.root / f"{self.base or self.name}.index"

    def beside(self) -> Places:
        """Name the files of an index that is made beside this one, to replace it."""
        return Places(self.root, f"{self.name}.new", self.name)

    def make_folder(self) -> str:
        """Make a new folder for tantivy, and give its name."""
        self.folders.mkdir(mode=0o700, parents=True, exist_ok=True)
        name = secrets.token_hex(6)
        (self.folders / name).mkdir(mode=0o700)
        return name

    def size(self) -> int:
        """Add up the bytes of all files."""
        return sizes([self.database, *(self._next_to(end) for end in _BESIDE), self.folders])

    def clear(self) -> None:
        """Remove everything. What lies in the place of a file or folder and is no part of an index is set aside."""
        _set_aside(self.database, expected=not self.database.is_dir())
        _set_aside(self.folders, expected=self.folders.is_dir() or not self.folders.exists())
        self.clear_database()
        if not self.base:
            shutil.rmtree(self.folders, ignore_errors=True)

    def clear_database(self) -> None:
        """Remove the database and what SQLite keeps beside it."""
        self.database.unlink(missing_ok=True)
        for end in _BESIDE:
            self._next_to(end).unlink(missing_ok=True)

    def keep_folder(self, name: str) -> None:
        """Remove all folders but one: what a rebuild, or a crash, left. An index beside another one removes nothing."""
        if not self.base and self.folders.is_dir():
            for folder in self.folders.iterdir():
                if folder.name != name:
                    shutil.rmtree(folder, ignore_errors=True)

    def put_into_place(self, target: Places) -> None:
        """Put this database, which nobody has open, into the place of another: in one step, the rename."""
        # Before it: what belongs to the old one would be taken for the new one's.
        for end in _BESIDE:
            target._next_to(end).unlink(missing_ok=True)
        self.database.replace(target.database)

    def _next_to(self, end: str) -> Path:
        return self.database.with_name(self.database.name + end)


def _set_aside(path: Path, *, expected: bool) -> None:
    if not expected:
        path.rename(path.with_name(f"{path.name}.aside-{secrets.token_hex(3)}"))
