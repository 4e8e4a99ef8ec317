"""The folder behind `/memories`, to be changed: whole files in one step, one writer at a time.

Everything here is called from a thread. Files are replaced as `storage.durable` does it: whole or as they were, durable
on return, and never over what a person saved meanwhile.
"""

from __future__ import annotations

import errno
import secrets
import shutil
import stat
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from openclaw_memory.filetool.errors import CommandRefusedError
from openclaw_memory.filetool.paths import Parts, shown
from openclaw_memory.filetool.tree import TRIES, Tree
from openclaw_memory.filetool.turn import locked
from openclaw_memory.layers.plain import encoded
from openclaw_memory.storage.areas import MAX_DEPTH
from openclaw_memory.storage.durable import make_folders, replace
from openclaw_memory.storage.files import Files, Stamp
from openclaw_memory.storage.looks import SAVING_SECONDS

MAX_FILE_BYTES = 1_048_576
"""Longest file that a command makes, in bytes."""

MAX_FILES = 1_000
"""Most files and folders, so that a model which loops fills no disk, and looking through them stays quick."""

_GOING = ".deleted-"
"""What a folder is called, hidden, between the moment when it is deleted and when its files are gone."""


class Folder:
    """Changes files and folders below one root, by the names on the way to them.

    Parameters: `root`, made with the first file; `files`; `pause`, which waits for some seconds.
    """

    def __init__(self, root: Path, files: Files, pause: Callable[[float], None] = time.sleep) -> None:
        self.tree = Tree(root, files)
        self._files = files
        self._pause = pause
        self._ours: dict[Parts, Stamp] = {}
        """Files as commands left them; any other that is young may still be being saved by an editor."""

    @contextmanager
    def writing(self) -> Iterator[None]:
        """Keep every other writer out, whatever process it is in.

        Raises: `CommandRefusedError` when one has been writing for too long.
        """
        make_folders(self._files, self.tree.root)
        with locked(self.tree.root, self._pause):
            self._finish_deleting()
            yield

    def create(self, parts: Parts, text: str) -> bool:
        """Make a file with the folders on the way to it; False, and nothing done, when the name is taken."""
        data = _checked(parts, text.encode())
        self._make_room(parts)
        self._make_folders(parts[:-1])
        for _ in range(TRIES):
            done = replace(self._files, self.tree.place(parts), data, None, keep_backup=False)
            if done.stamp is not None:
                self._ours[parts] = done.stamp
                return True
            if self.tree.exists(parts):
                return False
            # Who cleans up after a crash took the new file for a left-over one.
        raise CommandRefusedError(f"Error: {shown(parts)} is being changed by somebody else; try again")

    def change(self, parts: Parts, change: Callable[[str], str]) -> None:
        """Put what `change` makes of a file's text into its place; what a person saves meanwhile is the text to change.

        Raises: `CommandRefusedError`, also that of `change`.
        """
        for _ in range(TRIES):
            held = self.tree.read(parts)
            if held.stamp != self._ours.get(parts) and (left := SAVING_SECONDS - self._files.age(held.stamp)) > 0:
                # Somebody else's save may not be over, and would go into the file that we displace.
                self._pause(min(left, SAVING_SECONDS))
                continue
            text = change(held.text)
            if text == held.text:
                return
            data = _checked(parts, encoded(text, held.encoding)[0])
            done = replace(self._files, self.tree.place(parts), data, held.stamp, keep_backup=False)
            if done.stamp is not None:
                self._ours[parts] = done.stamp
                return
        raise CommandRefusedError(f"Error: {shown(parts)} is being changed by somebody else; try again")

    def delete(self, parts: Parts) -> None:
        """Delete a file, or a folder with what is in it, in one step.

        Raises: `CommandRefusedError` for a folder that holds what no view of it shows.
        """
        place = self.tree.place(parts)
        if self.tree.is_folder(parts):
            if (hidden := self.tree.has_hidden(parts)) is not None:
                raise CommandRefusedError(
                    f"Error: {shown(parts)} holds something that this tool does not show ({hidden!r}); "
                    "a person has to delete it"
                )
            going = self.tree.root / f"{_GOING}{secrets.token_hex(6)}"
            self._files.rename(place, going)
            # Before its files go, one after the other: a crash brings back all of it, or nothing.
            self._files.sync_folder(place.parent)
            self._finish_deleting()
        else:
            self._files.remove(place)
            self._files.sync_folder(place.parent)

    def rename(self, old: Parts, new: Parts) -> bool:
        """Give a file or a folder another name; False, and nothing done, when that is taken.

        Raises: `CommandRefusedError` when a folder would come to lie in itself, or files too deep.
        """
        if new[: len(old)] == old and new != old:
            raise CommandRefusedError(f"Error: {shown(old)} can't be moved into itself")
        depth = max((len(item.parts) - len(old) for item in self.tree.items(old)), default=0)
        if len(new) + depth > MAX_DEPTH + 1:
            raise CommandRefusedError(
                f"Error: files of {shown(old)} would lie too deep; a file lies in at most {MAX_DEPTH} folders"
            )
        self._make_folders(new[:-1])
        source, target = self.tree.place(old), self.tree.place(new)
        if self.tree.exists(new):
            return False
        try:
            self._files.rename_new(source, target)
        except FileExistsError:
            return False
        except OSError as error:
            # Where names can't be exchanged a folder can't be renamed but over what is there; nothing is.
            if error.errno not in (errno.EPERM, errno.EISDIR, errno.EACCES) or not self.tree.is_folder(old):
                raise
            self._files.rename(source, target)
        # The new name first: nothing else leads to it once the old one is gone.
        for folder in dict.fromkeys((target.parent, source.parent)):
            self._files.sync_folder(folder)
        return True

    def _make_room(self, parts: Parts) -> None:
        """Raises: `CommandRefusedError` when there are as many files and folders as there may be."""
        if len(self.tree.items(())) + len(parts) > MAX_FILES:
            raise CommandRefusedError(
                f"Error: there are {MAX_FILES:,} files and folders, which is the most; "
                f"delete what is not needed before {shown(parts)} is created"
            )

    def _make_folders(self, parts: Parts) -> None:
        for end in range(1, len(parts) + 1):
            mode = self.tree.mode(parts[:end])
            if mode is not None and not stat.S_ISDIR(mode):
                raise CommandRefusedError(f"Error: {shown(parts[:end])} is a file; nothing can lie in it")
        make_folders(self._files, self.tree.place(parts))

    def _finish_deleting(self) -> None:
        """Remove what is left of deleted folders, also of one whose deletion a crash interrupted."""
        for name in self._files.folders(self.tree.root):
            if name.startswith(_GOING):
                shutil.rmtree(self.tree.root / name)
                self._files.sync_folder(self.tree.root)


def _checked(parts: Parts, data: bytes) -> bytes:
    if len(data) > MAX_FILE_BYTES:
        raise CommandRefusedError(
            f"Error: {shown(parts)} would have {len(data):,} bytes, at most {MAX_FILE_BYTES:,} are taken; "
            "split it into several files"
        )
    return data
