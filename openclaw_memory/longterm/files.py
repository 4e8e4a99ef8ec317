"""Long-term memory in MEMORY.md and HISTORY.md, as they lie in a workspace (seed 004 section 2.1)."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime
from functools import partial
from pathlib import Path
from typing import TypeVar

import anyio
import anyio.lowlevel
import anyio.to_thread

from openclaw_memory.ids import MessageIds
from openclaw_memory.layers.curated import PLACES
from openclaw_memory.layers.history import PATH
from openclaw_memory.layers.plain import encoded
from openclaw_memory.longterm.errors import LongTermError
from openclaw_memory.longterm.protocol import HistoryItem, Match, bounded, checked, has_all, lines_with, words_of
from openclaw_memory.markdown.history_lines import format_entry, parse_history
from openclaw_memory.markdown.messages import Message
from openclaw_memory.markdown.text import Decoded, clean, decode, newline_of
from openclaw_memory.storage.durable import make_folders
from openclaw_memory.storage.durable import replace as replace_file
from openclaw_memory.storage.files import Files, LocalFiles

T = TypeVar("T")

_TRIES = 5
"""How often a replacement is tried beside a person who saves the same file."""


class FileStore:
    """The files of a workspace. Beside a running memory what is written here counts as a person's edit.

    Parameters: `workspace`, the folder; `files`, the operations of the disk.
    """

    def __init__(self, workspace: Path, files: Files | None = None) -> None:
        self._workspace = workspace
        self._files = files or LocalFiles()
        self._new_id = MessageIds()
        self._writing = anyio.Lock()

    async def read(self) -> str:
        """Give the text of MEMORY.md."""
        return await self._do(self._read)

    async def replace(self, text: str) -> None:
        """Replace MEMORY.md as a whole; nothing that a person saves meanwhile is half overwritten."""
        async with self._writing:
            await self._do(partial(self._replace, text))

    async def append(self, text: str, time: datetime) -> None:
        """Add a line to HISTORY.md."""
        message = Message(self._new_id(time), "", "system", time, clean(checked(text, time))[0])
        async with self._writing:
            await self._do(partial(self._append, message))

    async def history(self, most: int = 100) -> list[HistoryItem]:
        """Give the newest entries, the oldest of them first."""
        return (await self._do(self._history))[-bounded(most) :]

    async def search(self, query: str, most: int = 10) -> list[Match]:
        """Find lines and entries that have all words of a query."""
        most, words = bounded(most), words_of(query)
        if not words:
            return []

        def look() -> list[Match]:
            entries = [Match("history", item.text, item.time) for item in reversed(self._history())]
            return [*lines_with(words, self._read()), *(one for one in entries if has_all(words, one.text))][:most]

        return await self._do(look)

    async def close(self) -> None:
        """Nothing is held open."""
        await anyio.lowlevel.checkpoint()

    async def _do(self, step: Callable[[], T]) -> T:
        try:
            with anyio.CancelScope(shield=True):
                done = await anyio.to_thread.run_sync(step)
        except OSError as error:
            raise LongTermError(str(self._workspace), error.strerror or str(error)) from error
        await anyio.lowlevel.checkpoint_if_cancelled()
        return done

    @property
    def _memory(self) -> Path:
        there = (self._workspace / place for place in PLACES)
        return next((path for path in there if self._files.stamp_now(path) is not None), self._workspace / PLACES[0])

    def _text(self, path: Path) -> str:
        return self._decoded(path).text

    def _decoded(self, path: Path) -> Decoded:
        try:
            read = decode(self._files.read_now(path))
        except FileNotFoundError:
            return Decoded("", "utf-8", None)
        if read.problem is not None:
            raise LongTermError(str(path), f"it is no text that can be read ({read.problem}); it is left as it is")
        return read

    def _read(self) -> str:
        return self._text(self._memory)

    def _replace(self, text: str) -> None:
        data = clean(text)[0].encode()
        self._rewrite(lambda: self._memory, lambda path: data)

    def _rewrite(self, path_now: Callable[[], Path], data_now: Callable[[Path], bytes]) -> None:
        for _ in range(_TRIES):
            path = path_now()
            stamp = self._files.stamp_now(path)
            make_folders(self._files, path.parent)
            if replace_file(self._files, path, data_now(path), stamp, keep_backup=False).stamp is not None:
                return
        raise LongTermError(str(path_now()), "somebody else saves it again and again; try again later")

    def _history(self) -> list[HistoryItem]:
        _, entries = parse_history(self._text(self._workspace / PATH))
        return [
            HistoryItem(entry.time if entry.time.utcoffset() is not None else entry.time.astimezone(), entry.text)
            for entry in entries
            if entry.time is not None
        ]

    def _append(self, message: Message) -> None:
        # Replaced as a whole: of a line that is written to its end a crash may leave a part, or NULs, and then nobody
        # reads the file as a text any more.
        self._rewrite(lambda: self._workspace / PATH, lambda path: self._with_entry(path, message))

    def _with_entry(self, path: Path, message: Message) -> bytes:
        read = self._decoded(path)
        newline = newline_of(read.text)
        # A last line that an editor left open gets an end.
        start = newline if read.text and not read.text.endswith("\n") else ""
        return encoded(read.text + start + format_entry(message, newline), read.encoding)[0]
