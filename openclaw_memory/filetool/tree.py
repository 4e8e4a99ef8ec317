"""The folder behind `/memories`, to be looked at: what is there by its name, no link followed.

Everything here is called from a thread.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from openclaw_memory.errors import UnreadableDocumentError
from openclaw_memory.filetool.errors import CommandRefusedError
from openclaw_memory.filetool.listing import Item
from openclaw_memory.filetool.paths import Parts, shown
from openclaw_memory.layers.plain import MAX_BYTES, checked_text
from openclaw_memory.storage.files import Files, Stamp
from openclaw_memory.storage.leftovers import is_temporary

DEEPEST = 20
"""Folders that a person made deeper than this are left alone."""

TRIES = 5
"""A person who saves again and again does not keep a command waiting for longer than this."""


@dataclass(frozen=True, slots=True)
class Text:
    """What a file holds, and in which state that was read."""

    text: str
    encoding: str
    stamp: Stamp


class Tree:
    """Files and folders below one root, by the names on the way to them.

    Parameters: `root`, which need not be there; `files`.
    """

    def __init__(self, root: Path, files: Files) -> None:
        self.root = root
        self._files = files

    def is_folder(self, parts: Parts) -> bool:
        """Tell whether there is a folder. That of everything is there even before it is made."""
        return not parts or _is(stat.S_ISDIR, self.mode(parts))

    def is_file(self, parts: Parts) -> bool:
        """Tell whether there is a file."""
        return _is(stat.S_ISREG, self.mode(parts))

    def exists(self, parts: Parts) -> bool:
        """Tell whether there is anything of that name."""
        return not parts or self.mode(parts) is not None

    def items(self, parts: Parts) -> list[Item]:
        """List what lies in a folder and below; hidden items and links are left out."""
        found: list[Item] = []
        self._gather(parts, found)
        return found

    def _gather(self, parts: Parts, found: list[Item]) -> None:
        if len(parts) > DEEPEST:
            return
        try:
            entries = sorted(os.scandir(self.place(parts)), key=lambda entry: entry.name)
        except (FileNotFoundError, NotADirectoryError):
            return
        for entry in entries:
            inner = (*parts, entry.name)
            with suppress(FileNotFoundError):
                if entry.name.startswith("."):
                    continue
                if entry.is_dir(follow_symlinks=False):
                    found.append(Item(inner, 0, is_folder=True))
                    at = len(found)
                    self._gather(inner, found)
                    size = sum(item.size for item in found[at:] if not item.is_folder)
                    found[at - 1] = Item(inner, size, is_folder=True)
                elif entry.is_file(follow_symlinks=False):
                    found.append(Item(inner, entry.stat(follow_symlinks=False).st_size, is_folder=False))

    def read(self, parts: Parts) -> Text:
        """Read a file.

        Raises: `CommandRefusedError` when it is no text, or too large to be read.
        """
        place = self.place(parts)
        for _ in range(TRIES):
            stamp = self._files.stamp_now(place)
            if stamp is None:
                break
            if stamp.size > MAX_BYTES:
                raise CommandRefusedError(
                    f"Error: {shown(parts)} has {stamp.size:,} bytes, at most {MAX_BYTES:,} are read; "
                    "it can be renamed or deleted"
                )
            data = self._files.read_now(place)
            if self._files.stamp_now(place) == stamp:
                return self._text(parts, data, stamp)
        raise CommandRefusedError(f"Error: {shown(parts)} is being changed by somebody else; try again")

    def _text(self, parts: Parts, data: bytes, stamp: Stamp) -> Text:
        try:
            text, encoding = checked_text(shown(parts), data)
        except UnreadableDocumentError as error:
            raise CommandRefusedError(
                f"Error: {shown(parts)} is no text ({error.problem}); it can be renamed or deleted"
            ) from error
        return Text(text, encoding, stamp)

    def has_hidden(self, parts: Parts) -> str | None:
        """Give the name of something in a folder, or below, that a view of it does not show; None without any."""
        waiting = [parts]
        while waiting:
            folder = waiting.pop()
            for entry in list(os.scandir(self.place(folder))):
                if is_temporary(entry.name) and entry.is_file(follow_symlinks=False):
                    # Left over from a command that a crash interrupted.
                    continue
                if entry.name.startswith(".") or entry.is_symlink() or len(folder) >= DEEPEST:
                    return entry.name
                if entry.is_dir():
                    waiting.append((*folder, entry.name))
        return None

    def place(self, parts: Parts) -> Path:
        """Give where something of that name lies on the disk."""
        return self.root.joinpath(*parts)

    def mode(self, parts: Parts) -> int | None:
        """Give the mode of what has this name; None when there is nothing.

        Raises: `CommandRefusedError` for a link, and for what lies behind one.
        """
        mode = None
        for end in range(1, len(parts) + 1):
            try:
                mode = self.place(parts[:end]).lstat().st_mode
            except (FileNotFoundError, NotADirectoryError):
                return None
            if stat.S_ISLNK(mode):
                raise CommandRefusedError(f"Error: {shown(parts[:end])} is a link, which is not followed")
        return mode


def _is(kind: Callable[[int], bool], mode: int | None) -> bool:
    return mode is not None and kind(mode)
