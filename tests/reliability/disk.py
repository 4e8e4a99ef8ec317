"""A disk in memory that writes down each step, so that every state a crash may leave can be made from the record.

What a step has changed is lost with the power until it was synced: data of a file by `sync` of that file, names in a
folder by `sync_folder` of that folder, and nothing else (POSIX promises no more; `crashes.py` says what may be lost).
"""

from __future__ import annotations

import errno
import os
import threading
from collections.abc import Callable, Container, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from openclaw_memory.storage.files import PRIVATE_FILE, OpenFile, Stamp

Name = tuple[int, str]
"""Inode of a folder, and a name in it."""


@dataclass(frozen=True, slots=True)
class Written:
    """Bytes were added at the end of a file."""

    inode: int
    data: bytes
    synced: bool = False
    """Whether they are on the disk, and something before them may not be."""


@dataclass(frozen=True, slots=True)
class Named:
    """Names of one folder were given to other inodes, or taken away (None), in one step.

    `needs`: what is on the disk whenever this is, since both are one step in two folders.
    """

    folder: int
    names: Mapping[str, int | None]
    needs: Named | None = None


@dataclass(frozen=True, slots=True)
class Synced:
    """A file's data, or with `folder` a folder's names, is on the disk; with `only` just what that step wrote."""

    inode: int
    folder: bool = False
    only: Written | None = None


@dataclass(frozen=True, slots=True)
class Told:
    """Somebody was told that something is durable."""

    what: str


Step = Written | Named | Synced | Told
Fault = Callable[[str, Path], int | None]
"""Gives the errno with which a step on a path fails, or None."""


@dataclass(slots=True)
class State:
    """What a disk holds: names, the data of files, the times of files, which inodes are folders."""

    names: dict[Name, int] = field(default_factory=dict)
    data: dict[int, bytes] = field(default_factory=dict)
    times: dict[int, int] = field(default_factory=dict)
    folders: set[int] = field(default_factory=lambda: {ROOT})

    def copy(self) -> State:
        return State(dict(self.names), dict(self.data), dict(self.times), set(self.folders))

    def apply(self, step: Step) -> None:
        """Do what a step did."""
        if isinstance(step, Written):
            self.data[step.inode] = self.data.get(step.inode, b"") + step.data
        elif isinstance(step, Named):
            for name, inode in step.names.items():
                if inode is None:
                    self.names.pop((step.folder, name), None)
                else:
                    self.names[step.folder, name] = inode

    def files(self) -> dict[str, bytes]:
        """Give the data of all files that have a name, by path from the root of the disk."""
        return {path: self.data.get(inode, b"") for path, inode in self.paths().items()}

    def paths(self, wanted: Container[int] | None = None) -> dict[str, int]:
        """Give the inodes that have a name, by path: `wanted` ones, or all that are no folders."""
        found: dict[str, int] = {}
        within: dict[int, list[tuple[str, int]]] = {}
        for (folder, name), inode in self.names.items():
            within.setdefault(folder, []).append((name, inode))
        waiting = [(ROOT, "")]
        while waiting:
            folder, prefix = waiting.pop()
            for name, inode in within.get(folder, ()):
                if inode in self.folders:
                    waiting.append((inode, f"{prefix}{name}/"))
                if inode not in self.folders if wanted is None else inode in wanted:
                    found[prefix + name] = inode
        return found


ROOT = 1


class SimulatedDisk:
    """Implements `Files` in memory.

    Parameters: `root`, the absolute path of the folder that is there from the beginning; `state` to begin with,
    and the `steps` that led there, not all of which may be on the disk;
    `fault`, which is asked before each step; `heeds_sync`, asked at each sync whether it is done or only pretended;
    `exchanges`, whether two files can be exchanged.
    """

    def __init__(
        self,
        root: Path,
        state: State | None = None,
        *,
        steps: Sequence[Step] = (),
        fault: Fault = lambda step, path: None,
        heeds_sync: Callable[[], bool] = lambda: True,
        exchanges: bool = True,
    ) -> None:
        self.root = root
        self.state = state.copy() if state is not None else State()
        self.steps = list(steps)
        self.fault = fault
        self.heeds_sync = heeds_sync
        self.exchanges = exchanges
        self.before_step: Callable[[str, Path], None] = lambda step, path: None
        """Called before each step outside the lock: to take turns, or to be the person who saves just now."""
        self._lock = threading.RLock()
        # Of a crash state the folders are known that came to be later: no new file may be taken for one of them.
        self._next = max([ROOT, *self.state.names.values(), *self.state.folders, *self.state.data]) + 1
        self._time = max(self.state.times.values(), default=0) + 1
        self._modes: dict[int, int] = {}

    # -- the record ----------------------------------------------------------------------------------------------

    def tell(self, what: str) -> None:
        """Write down that somebody was told so."""
        with self._lock:
            self.steps.append(Told(what))

    def _do(self, step: Step) -> None:
        self.steps.append(step)
        self.state.apply(step)
        if isinstance(step, Written):
            self._touch(step.inode)

    def _begin(self, what: str, path: Path) -> None:
        self.before_step(what, path)
        self._fail_if(what, path)

    def _fail_if(self, what: str, path: Path) -> None:
        code = self.fault(what, path)
        if code is not None:
            raise OSError(code, os.strerror(code), str(path))

    def _touch(self, inode: int) -> None:
        self._time += 1
        self.state.times[inode] = self._time

    # -- a person ------------------------------------------------------------------------------------------------

    def save(self, path: Path, data: bytes, *, in_place: bool = False) -> None:
        """Save a file as a careful editor does: by another name, synced, renamed, synced; or synced in place."""
        with self._lock:
            folder, name = self._place(path)
            inode = self.state.names.get((folder, name)) if in_place else None
            if inode is not None:
                # To the record a change in place is a new file under the old inode's stamp, durable at once.
                old, inode = inode, self._new_inode()
                self.state.times[inode] = self.state.times[old]
            else:
                inode = self._new_inode()
            self._do(Written(inode, data))
            self._do(Synced(inode))
            self._do(Named(folder, {name: inode}))
            self._do(Synced(folder, folder=True))

    # -- looking -------------------------------------------------------------------------------------------------

    async def read(self, path: Path) -> tuple[bytes, Stamp]:
        self._fail_if("read", path)
        with self._lock:
            return self.read_now(path), self._stamp(self._inode(path))

    async def stamp(self, path: Path) -> Stamp | None:
        return self.stamp_now(path)

    def read_now(self, path: Path) -> bytes:
        with self._lock:
            return self.state.data.get(self._inode(path), b"")

    def stamp_now(self, path: Path) -> Stamp | None:
        with self._lock:
            try:
                return self._stamp(self._inode(path))
            except FileNotFoundError:
                return None

    def scan(self, folder: Path, endings: tuple[str, ...] = ("",)) -> dict[str, Stamp]:
        with self._lock:
            try:
                wanted = self._folder(folder)
            except FileNotFoundError:
                return {}
            return {
                name: self._stamp(inode)
                for (within, name), inode in self.state.names.items()
                if within == wanted and name.endswith(endings) and inode not in self.state.folders
            }

    def folders(self, path: Path) -> list[str]:
        with self._lock:
            try:
                wanted = self._folder(path)
            except FileNotFoundError:
                return []
            return [
                name
                for (within, name), inode in self.state.names.items()
                if within == wanted and inode in self.state.folders
            ]

    def is_within(self, path: Path, folder: Path) -> bool:
        # There are no links on this disk.
        return path.is_relative_to(folder)

    def is_folder(self, path: Path) -> bool:
        with self._lock:
            try:
                return self._folder(path) is not None
            except FileNotFoundError:
                return False

    def real(self, path: Path) -> Path:
        return path

    def mode(self, path: Path) -> int | None:
        with self._lock:
            try:
                return self._modes.get(self._inode(path), PRIVATE_FILE)
            except FileNotFoundError:
                return None

    def age(self, stamp: Stamp) -> float:
        # Times count steps here; nothing is so new that it could still be changing.
        return 3600.0

    # -- changing ------------------------------------------------------------------------------------------------

    def make_folder(self, path: Path) -> None:
        self._begin("make_folder", path)
        with self._lock:
            folder, name = self._place(path)
            if (folder, name) not in self.state.names:
                inode = self._new_inode()
                self.state.folders.add(inode)
                self._do(Named(folder, {name: inode}))

    def sync_folder(self, path: Path) -> None:
        self._begin("sync_folder", path)
        if not path.is_relative_to(self.root):
            return
        with self._lock:
            folder = self._folder(path)
            if self.heeds_sync():
                self._do(Synced(folder, folder=True))

    def create(self, path: Path, mode: int = PRIVATE_FILE) -> OpenFile:
        self._begin("create", path)
        with self._lock:
            folder, name = self._place(path)
            if (folder, name) in self.state.names:
                raise FileExistsError(errno.EEXIST, os.strerror(errno.EEXIST), str(path))
            return self._new_file(folder, name, path, mode)

    def open_append(self, path: Path) -> OpenFile:
        self._begin("open_append", path)
        with self._lock:
            folder, name = self._place(path)
            inode = self.state.names.get((folder, name))
            return self._new_file(folder, name, path, PRIVATE_FILE) if inode is None else _File(self, inode, path)

    def rename(self, source: Path, target: Path) -> None:
        self._begin("rename", target)
        with self._lock:
            inode = self._inode(source)
            folder, name = self._place(target)
            if source.parent == target.parent:
                self._do(Named(folder, {source.name: None, name: inode}))
            else:
                # Two folders are synced apart.
                self._do(Named(folder, {name: inode}))
                self._do(Named(self._folder(source.parent), {source.name: None}))

    def rename_new(self, source: Path, target: Path) -> None:
        self._begin("rename_new", target)
        with self._lock:
            inode = self._inode(source)
            folder, name = self._place(target)
            if (folder, name) in self.state.names:
                raise FileExistsError(errno.EEXIST, os.strerror(errno.EEXIST), str(target))
            if source.parent == target.parent:
                self._do(Named(folder, {source.name: None, name: inode}))
            else:
                # Nothing else has the old name to be found by: systems see to it that a crash leaves one of the two.
                given = Named(folder, {name: inode})
                self._do(given)
                self._do(Named(self._folder(source.parent), {source.name: None}, needs=given))

    def exchange(self, one: Path, other: Path) -> bool:
        self._begin("exchange", other)
        with self._lock:
            if not self.exchanges:
                return False
            first, second = self._inode(one), self._inode(other)
            self._do(Named(self._folder(one.parent), {one.name: second, other.name: first}))
            return True

    def remove(self, path: Path) -> None:
        self._begin("remove", path)
        with self._lock:
            folder, name = self._place(path)
            if (folder, name) in self.state.names:
                self._do(Named(folder, {name: None}))

    # -- within --------------------------------------------------------------------------------------------------

    def _new_inode(self) -> int:
        self._next += 1
        self._touch(self._next)
        return self._next

    def _new_file(self, folder: int, name: str, path: Path, mode: int) -> OpenFile:
        inode = self._new_inode()
        self.state.data[inode] = b""
        self._modes[inode] = mode
        self._do(Named(folder, {name: inode}))
        return _File(self, inode, path)

    def _place(self, path: Path) -> Name:
        return self._folder(path.parent), path.name

    def _folder(self, path: Path) -> int:
        inode = self._inode(path)
        if inode not in self.state.folders:
            raise NotADirectoryError(errno.ENOTDIR, os.strerror(errno.ENOTDIR), str(path))
        return inode

    def _inode(self, path: Path) -> int:
        inode = ROOT
        for name in path.relative_to(self.root).parts:
            found = self.state.names.get((inode, name))
            if found is None:
                raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT), str(path))
            inode = found
        return inode

    def _stamp(self, inode: int) -> Stamp:
        return Stamp(inode, len(self.state.data.get(inode, b"")), self.state.times.get(inode, 0))


class _File:
    def __init__(self, disk: SimulatedDisk, inode: int, path: Path) -> None:
        self._disk, self._inode, self._path = disk, inode, path
        self._last: Written | None = None

    def append(self, data: bytes) -> None:
        disk = self._disk
        disk.before_step("append", self._path)
        try:
            disk._fail_if("append", self._path)
        except OSError as error:
            if error.errno == errno.ENOSPC and len(data) > 1:
                # A short write: a part was taken before the disk was full.
                with disk._lock:
                    disk._do(Written(self._inode, data[: len(data) // 2]))
            raise
        with disk._lock:
            self._last = Written(self._inode, data)
            disk._do(self._last)

    def append_synced(self, data: bytes) -> None:
        self.append(data)
        self._sync(only=self._last)

    def sync(self) -> None:
        self._sync(only=None)

    def _sync(self, only: Written | None) -> None:
        self._disk._begin("sync", self._path)
        with self._disk._lock:
            if self._disk.heeds_sync():
                self._disk._do(Synced(self._inode, only=only))

    def stamp(self) -> Stamp:
        with self._disk._lock:
            return self._disk._stamp(self._inode)

    def has_name(self) -> bool:
        with self._disk._lock:
            return self._inode in self._disk.state.names.values()

    def close(self) -> None:
        return
