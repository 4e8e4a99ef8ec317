"""A disk in memory that several processes and people share, with a lock on it, and a journal without a thread."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from openclaw_memory.errors import RootInUseError
from openclaw_memory.storage.files import OpenFile, Stamp
from openclaw_memory.storage.inbox import FOLDER as INBOX
from openclaw_memory.storage.journal import Journal
from openclaw_memory.storage.operations import Record
from tests.reliability.disk import SimulatedDisk, Step, Written
from tests.reliability.turns import Party, Stopping, Turns


class SharedDisk(SimulatedDisk):
    """Asks at each step, looking included, whether somebody else goes first; nothing is recorded.

    Files are long unchanged, but for those that somebody is saving in place just now, and what is being handed in.
    """

    def __init__(self, root: Path, memory: Path, turns: Turns) -> None:
        super().__init__(root)
        self.before_step = lambda step, path: turns.step()
        self.saving: set[int] = set()
        """Inodes changed less than a second ago: files that a person is writing, folders that one was taken from."""
        self._turns = turns
        self._new_mail = memory / INBOX / "tmp"

    def _new_file(self, folder: int, name: str, path: Path, mode: int) -> OpenFile:
        file = super()._new_file(folder, name, path, mode)
        if path.parent == self._new_mail:
            self.saving.add(self._inode(path))
        return file

    def _do(self, step: Step) -> None:
        self.state.apply(step)
        if isinstance(step, Written):
            self._touch(step.inode)

    def age(self, stamp: Stamp) -> float:
        return 0.0 if stamp.inode in self.saving else 3600.0

    # -- looking is a step too -----------------------------------------------------------------------------------

    async def read(self, path: Path) -> tuple[bytes, Stamp]:
        self._turns.step()
        return await super().read(path)

    def stamp_now(self, path: Path) -> Stamp | None:
        self._turns.step()
        return super().stamp_now(path)

    def scan(self, folder: Path, endings: tuple[str, ...] = ("",)) -> dict[str, Stamp]:
        self._turns.step()
        return super().scan(folder, endings)

    # -- what people do ------------------------------------------------------------------------------------------

    def text(self, path: Path) -> str | None:
        """Read a file as a person does; None when there is none."""
        return None if super().stamp_now(path) is None else self.read_now(path).decode()

    def empty(self, path: Path) -> int:
        """Open a file for writing, and empty it, or create it; gives its inode."""
        if super().stamp_now(path) is None:
            self._new_file(*self._place(path), path, 0o600)
        inode = self._inode(path)
        self.state.data[inode] = b""
        self._touch(inode)
        self.saving.add(inode)
        return inode

    def write_on(self, inode: int, text: str) -> None:
        """Write into an open file, wherever its name is by now."""
        self.state.data[inode] += text.encode()
        self._touch(inode)

    def saved(self, inode: int) -> None:
        """A second has passed since the last write."""
        self.saving.discard(inode)

    def away(self, path: Path) -> int:
        """Take note that a file was taken from a folder just now; gives the folder's inode, for `saved`."""
        folder = self._folder(path.parent)
        self.saving.add(folder)
        return folder

    def move(self, source: Path, target: Path) -> None:
        """Rename without a step."""
        usual, self.before_step = self.before_step, lambda step, path: None
        try:
            self.rename(source, target)
        finally:
            self.before_step = usual

    def take_away(self, path: Path) -> None:
        """Remove without a step."""
        usual, self.before_step = self.before_step, lambda step, path: None
        try:
            self.remove(path)
        finally:
            self.before_step = usual


class SharedLock:
    """What `flock` is to processes, among parties: one has it, and loses it when it is killed."""

    holder: SharedLock | None

    def __init__(self, locks: Locks) -> None:
        self._locks = locks
        self.party = locks.turns.running

    @property
    def held(self) -> bool:
        return self._locks.holder is self

    def acquire(self) -> None:
        self._locks.turns.step()
        if self._locks.holder is None:
            self._locks.wait_until_free()
        holder = self._locks.holder
        if holder is not None and holder is not self:
            raise RootInUseError("/disk/home/memory", f"process {holder.party.name if holder.party else '?'}")
        if holder is None:
            self._locks.taken()
            self._locks.holder = self

    def keep(self) -> None:
        return

    def release(self) -> None:
        if self.held:
            self._locks.turns.step()
            self._locks.holder = None


class Locks:
    """The one lock of the one root.

    `taken` is called when somebody becomes the owner, which nobody does while not `may_be_taken`.
    """

    def __init__(self, turns: Turns, may_be_taken: Callable[[], bool], taken: Callable[[], None]) -> None:
        self.turns = turns
        self.taken = taken
        self.holder: SharedLock | None = None
        self._may_be_taken = may_be_taken

    def wait_until_free(self) -> None:
        assert isinstance(self.turns.running, Stopping)
        while not self._may_be_taken():
            self.turns.running.stop()

    def make(self, root: Path) -> SharedLock:
        return SharedLock(self)

    def killed(self, party: Party) -> None:
        """Let go of what a party holds that is no more."""
        if self.owner is party:
            self.holder = None

    @property
    def owner(self) -> Party | None:
        return None if self.holder is None else self.holder.party


class _AtRest(Exception):  # noqa: N818 - no error: how the journal's loop is left
    pass


class _Waiting:
    """Stands for the journal's condition: instead of waiting for work, the work ends."""

    def __enter__(self) -> None:
        return

    def __exit__(self, *_: object) -> None:
        return

    def notify(self) -> None:
        return

    def wait_for(self, has_work: Callable[[], Any], timeout: float | None = None) -> None:
        if not has_work():
            raise _AtRest


class _NoThread:
    def __init__(self, work: Callable[[], None]) -> None:
        self._work = work

    def start(self) -> None:
        return

    def join(self) -> None:
        self._work()


class InlineJournal(Journal):
    """The journal as it is, whose work is done by the event loop at its next turn, in the same order each time."""

    def __init__(self, *arguments: Any, **more: Any) -> None:
        super().__init__(*arguments, **more)
        self._changed = _Waiting()  # type: ignore[assignment]
        self._thread = _NoThread(self._work)  # type: ignore[assignment]

    def _work(self) -> None:
        try:
            self._run()
        except _AtRest:
            return

    def _queue_up(self, position: int, text: bytes, must_sync: bool) -> None:
        super()._queue_up(position, text, must_sync)
        # What is submitted until then shares a sync.
        asyncio.get_running_loop().call_soon(self._work)

    def shorten(self, upto: int, *, if_worth_it: bool = False) -> None:
        super().shorten(upto, if_worth_it=if_worth_it)
        asyncio.get_running_loop().call_soon(self._work)

    def keep_again(self, records: Sequence[Record]) -> None:
        super().keep_again(records)
        asyncio.get_running_loop().call_soon(self._work)
