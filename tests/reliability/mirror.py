"""A real folder whose every change is also made on a simulated disk: for code that looks at folders by itself.

Each crash state of the record can be laid out in another folder, to be looked at by the same code.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable, Sequence
from pathlib import Path

from openclaw_memory.storage.files import PRIVATE_FILE, LocalFiles, OpenFile, Stamp
from tests.reliability.crashes import Crash, crash_states
from tests.reliability.disk import ROOT, SimulatedDisk, State, Step


class Mirror(LocalFiles):
    """The real disk below `base`, recorded; what is there at the beginning counts as durable.

    Parameters: `base`; `heeds_sync`, asked at each sync whether it is done or only pretended.
    """

    def __init__(self, base: Path, heeds_sync: Callable[[], bool] = lambda: True) -> None:
        self.begin = found_in(base)
        self.disk = SimulatedDisk(base, self.begin, heeds_sync=heeds_sync)

    @classmethod
    def after_kill(
        cls, base: Path, begin: State, steps: Sequence[Step], end: State, heeds_sync: Callable[[], bool] = lambda: True
    ) -> Mirror:
        """Go on in a new folder where a process was killed after these steps: all is seen, not all is on the disk.

        Parameters: `begin`; `end`, the state after all that was ever done.
        """
        seen = begin.copy()
        seen.folders, seen.times = end.folders, end.times
        for step in steps:
            seen.apply(step)
        mirror = cls(lay_out(seen, base), heeds_sync)
        mirror.begin = begin
        mirror.disk = SimulatedDisk(base, seen, steps=steps, heeds_sync=heeds_sync)
        return mirror

    def crashes(self, since: int = 0) -> list[Crash]:
        """List what a crash may leave."""
        return crash_states(self.begin, self.disk.steps, self.disk.state, since)

    def age(self, stamp: Stamp) -> float:
        """Give an age at which nobody is still saving."""
        return 3600.0

    def make_folder(self, path: Path) -> None:
        super().make_folder(path)
        self.disk.make_folder(path)

    def sync_folder(self, path: Path) -> None:
        assert path.is_dir()
        if path.is_relative_to(self.disk.root):
            self.disk.sync_folder(path)

    def create(self, path: Path, mode: int = PRIVATE_FILE) -> OpenFile:
        return _Both(super().create(path, mode), self.disk.create(path, mode))

    def open_append(self, path: Path) -> OpenFile:
        return _Both(super().open_append(path), self.disk.open_append(path))

    def rename(self, source: Path, target: Path) -> None:
        super().rename(source, target)
        self.disk.rename(source, target)

    def rename_new(self, source: Path, target: Path) -> None:
        super().rename_new(source, target)
        self.disk.rename_new(source, target)

    def exchange(self, one: Path, other: Path) -> bool:
        return super().exchange(one, other) and self.disk.exchange(one, other)

    def remove(self, path: Path) -> None:
        super().remove(path)
        self.disk.remove(path)

    def rmtree(self, path: Path, ignore_errors: bool = False) -> None:
        """Remove a folder with what is in it, as `shutil.rmtree` does, which must be replaced by this."""
        for folder, folders, files in os.walk(path, topdown=False):
            for name in [*files, *folders]:
                self.disk.remove(Path(folder) / name)
        if path.exists():
            self.disk.remove(path)
        shutil.rmtree(path, ignore_errors)


class _Both:
    def __init__(self, real: OpenFile, simulated: OpenFile) -> None:
        self._real, self._simulated = real, simulated

    def append(self, data: bytes) -> None:
        self._real.append(data)
        self._simulated.append(data)

    def append_synced(self, data: bytes) -> None:
        self.append(data)
        self.sync()

    def sync(self) -> None:
        self._simulated.sync()

    def stamp(self) -> Stamp:
        return self._real.stamp()

    def has_name(self) -> bool:
        return self._real.has_name()

    def close(self) -> None:
        self._real.close()


def found_in(base: Path) -> State:
    """Give what a real folder holds, as a disk whose root it is."""
    state, inodes = State(), {base: ROOT}
    for folder, folders, files in os.walk(base):
        for name in [*folders, *files]:
            path = Path(folder) / name
            inode = inodes[path] = ROOT + len(inodes)
            state.names[inodes[path.parent], name] = inode
            if name in folders:
                state.folders.add(inode)
            else:
                state.data[inode] = path.read_bytes()
    return state


def lay_out(state: State, base: Path) -> Path:
    """Make in a new folder what a crash left."""
    base.mkdir()
    for path in sorted(state.paths(state.folders)):
        (base / path).mkdir(parents=True, exist_ok=True)
    for path, data in state.files().items():
        (base / path).write_bytes(data)
    return base


def contents(base: Path) -> dict[str, bytes]:
    """Give the data of every file below a folder, by path."""
    return {path.relative_to(base).as_posix(): path.read_bytes() for path in sorted(base.rglob("*")) if path.is_file()}
