"""The workspace as readers see it: MEMORY.md and what it links to, daily notes, the files of sessions."""

from __future__ import annotations

import logging
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from datetime import date
from operator import is_
from pathlib import Path
from typing import Protocol

from openclaw_memory.catalog import Catalog, visibility_of
from openclaw_memory.config import MemoryConfig
from openclaw_memory.context.material import Line
from openclaw_memory.context.visibility import Visibility
from openclaw_memory.errors import Refused
from openclaw_memory.layers import curated, day_log, history, notes, sessions
from openclaw_memory.layers.documents import MarkdownDocument
from openclaw_memory.layers.loading import loaded
from openclaw_memory.layers.rooms import FOLDERS, Workspace, room_of
from openclaw_memory.layers.sessions import SessionDocument
from openclaw_memory.markdown.log_lines import in_prompt
from openclaw_memory.markdown.messages import Message
from openclaw_memory.retrieval.blocks import Block
from openclaw_memory.storage.documents import Draft
from openclaw_memory.storage.files import Stamp
from openclaw_memory.storage.rootlock import FolderLock, Locks, RootLock

log = logging.getLogger(__name__)


LOG_LINES = 200
"""Newest lines of what was said that the days' notes offer to a context; older ones are recalled like anything else."""


class Sleeping(Protocol):
    """What is asked of those who hold the documents."""

    async def wake(self, paths: Iterable[str]) -> None: ...

    def problems(self) -> dict[str, str]: ...

    def newest_part(self, path: str, most: int) -> tuple[bytes, Stamp] | None: ...


def workspace_of(config: MemoryConfig) -> Workspace:
    """Give the names of a configuration's workspace."""
    return Workspace(config.workspace_id, config.agent_id)


def elsewhere(config: MemoryConfig) -> Mapping[str, Path]:
    """Tell which documents lie outside of the memory folder, for a store: folders by the beginnings of paths.

    `shared/` stands for itself, so that no link leads from it into what is private.
    """
    workspace, folder = workspace_of(config), config.workspace_folder
    return {
        workspace.shared: folder / workspace.shared.removeprefix(f"{workspace.folder}/"),
        workspace.folder: folder,
        sessions.FOLDER: config.agents_folder,
    }


def areas(config: MemoryConfig) -> tuple[str, ...]:
    """Tell where documents are looked for."""
    workspace = workspace_of(config)
    return (*FOLDERS, *workspace.areas, *([workspace.session_area] if config.session_files else []))


def locks(config: MemoryConfig) -> Locks:
    """Make the locks of everything that this configuration writes."""
    folders = [config.workspace_folder, *([config.agents_folder] if config.session_files else [])]
    return Locks(RootLock(config.memory_folder), [FolderLock(folder) for folder in folders])


def keeps_copies(config: MemoryConfig) -> bool:
    """Tell whether messages may go anywhere beside the file of their day."""
    return config.session_files or config.history_file or config.daily_log_messages


class Copies:
    """Messages beside the file of their day: in their session's file, in HISTORY.md, in the day's note.

    For one event: `ask` names the documents that are needed, `plan` adds to them. Parameters: `config`, which says
    where messages go; `workspace`; `private`, whether the session may write what is the owner's own: notes are.
    """

    def __init__(self, config: MemoryConfig, workspace: Workspace, *, private: bool) -> None:
        self._config = config
        self._workspace = workspace
        self._logs = config.daily_log_messages and private
        self.paths: dict[str, None] = {}
        """Documents that are to be loaded."""
        self._left_out: list[str] = []

    async def ask(
        self,
        readable: Callable[[list[str]], Awaitable[list[str]]],
        session_id: str,
        messages: Iterable[Message],
    ) -> None:
        """Name the documents for a session's messages; what can't be read is left as it is, and told.

        Raises: `Refused` for an id that no file can have as its name.
        """
        if not (self._config.session_files or self._config.history_file or self._logs):
            return
        wanted = []
        if self._config.session_files:
            wanted.append(sessions.path_of(self._config.agent_id, session_id))
        if self._config.history_file:
            wanted.append(self._workspace.history)
        if self._logs:
            wanted += notes.days_of(messages, self._config.zone, self._workspace.notes)
        found = await readable(wanted)
        self.paths |= dict.fromkeys(found)
        self._left_out = [f"{path} can't be read, so it is not in there" for path in wanted if path not in found]

    def plan(self, draft: Draft, session_id: str, messages: Sequence[Message]) -> str | None:
        """Add messages; gives what is to be said about it."""
        if not (self.paths or self._left_out):
            return None
        told = list(self._left_out)
        if self._workspace.history in self.paths:
            history.plan_history(draft, messages, self._workspace.history)
        if self._logs:
            told += self._plan_logs(draft, messages)
        path = sessions.path_of(self._config.agent_id, session_id) if self._config.session_files else ""
        if path in self.paths:
            if sessions.has_others(draft.document(path)):
                told.append(f"{path} is written by OpenClaw itself, and only read here")
            else:
                sessions.plan_session(draft, path, [_for_file(message, path) for message in messages])
        return "; ".join(told) or None

    def _plan_logs(self, draft: Draft, messages: Sequence[Message]) -> list[str]:
        zone, folder = self._config.zone, self._workspace.notes
        days = notes.days_of(messages, zone, folder)
        logged = [message for path, said in days.items() if path in self.paths for message in said]
        full = notes.plan_log(draft, logged, zone=zone, language=self._config.language, folder=folder)
        return [f"{path} is full, so it is not in there" for path in full]


def _for_file(message: Message, path: str) -> Message:
    """Mark what was said privately under a group's id: lines of a group's file are the group's otherwise."""
    if message.visibility is None and visibility_of(path) != "private":
        return message._replace(visibility="private")
    return message


class WorkspaceView:
    """What the documents of a workspace say now.

    Parameters: `store` and `catalog` of the same documents; `config`. `follow` and `wake` are for the event loop, the
    rest for any thread.
    """

    def __init__(self, store: Sleeping, catalog: Catalog, config: MemoryConfig) -> None:
        self._store = store
        self._catalog = catalog
        self._config = config
        self._zone = config.zone
        self._rooms = workspace_of(config)
        self._linked: tuple[str, ...] = ()
        self._hidden: set[str] = set()
        """Files that MEMORY.md linked to once, and are not found any more."""
        self._followed: tuple[MarkdownDocument | None, ...] = ()
        """The documents that `_linked` was found out from."""
        self._read_tail: tuple[str, Stamp, SessionDocument] | None = None

    @property
    def areas(self) -> tuple[str, ...]:
        """Where to look for edits whenever something is asked: all but the sessions' files."""
        return (*self._rooms.areas, *self._linked)

    @property
    def session_areas(self) -> tuple[str, ...]:
        """Where the sessions' files are, if they are kept."""
        return (self._rooms.session_area,) if self._config.session_files else ()

    # -- loading ------------------------------------------------------------------------------------------------

    async def follow(self) -> None:
        """Load MEMORY.md and the files that it links to; those that it no longer links to are found no more."""
        for path in self._rooms.curated:
            if self._catalog.document(path) is None and self._catalog.knows(path):
                await self._store.wake([path])
        resting = (self._index(), *map(self._document, self._linked))
        if len(resting) == len(self._followed) and all(map(is_, resting, self._followed)):
            return
        self._linked = await self._reach()
        self._followed = (self._index(), *map(self._document, self._linked))
        known = self._catalog.paths(f"{self._rooms.folder}/**/*.md")
        stray = {path for path in known if self._is_linked_only(path)} - set(self._linked)
        for path in stray - self._hidden:
            self._catalog.hide(path)
        for path in self._hidden.intersection(self._linked):
            if self._catalog.document(path) is not None:
                self._catalog.again(path, None)
        self._hidden = stray

    async def _reach(self) -> tuple[str, ...]:
        """Follow the links from MEMORY.md, and load what they lead to."""
        index = self._index()
        if index is None:
            return ()
        held: dict[str, MarkdownDocument | None] = {index.path: index}
        found = curated.linked_files(index.path, held)
        while found.missing:
            await self._store.wake(found.missing)
            held |= {path: self._document(path) for path in found.missing}
            found = curated.linked_files(index.path, held)
        return found.files

    def _index(self) -> MarkdownDocument | None:
        """Give MEMORY.md: the first of its places that has any text."""
        held = (self._document(path) for path in self._rooms.curated)
        return next((document for document in held if document is not None and document.body.strip()), None)

    def _is_linked_only(self, path: str) -> bool:
        """Tell whether a file is memory for no other reason than that MEMORY.md links to it."""
        return room_of(path).name == "memory" and path not in self._rooms.curated

    def _document(self, path: str) -> MarkdownDocument | None:
        document = self._catalog.document(path)
        return document if isinstance(document, MarkdownDocument) else None

    async def wake(self, session_id: str, today: date) -> None:
        """Read what a context of this session is made of and is at rest: its notes, its file."""
        wanted = [*self._told(today), *self.recent(today), *self._catalog.paths(self._shared_area)]
        path = self._session_path(session_id) if self._config.session_files else None
        if path is not None and self._catalog.knows(path):
            wanted.append(path)
        await self._store.wake([path for path in wanted if self._catalog.document(path) is None])

    @property
    def _shared_area(self) -> str:
        return f"{self._rooms.shared}/**/*.md"

    # -- what goes into a context -------------------------------------------------------------------------------

    def recent(self, today: date) -> list[str]:
        """List the daily notes that are loaded, oldest first (`dailyLogDays`, seed 003 section 26.3.2)."""
        if not self._config.daily_log_days:
            return []
        known = self._catalog.paths(f"{self._rooms.notes}/**/*.md", self._shared_area)
        return notes.recent_notes(
            (path for path in known if room_of(path).name == "note"), today, self._config.daily_log_days
        )

    def note_lines(self, seen: Visibility, visible: Callable[[Block], bool], today: date) -> tuple[Line, ...]:
        """Give the notes that a session loads: the owner's the last days', a group all that is shared.

        What the days' notes tell of what was said is left to `log_lines`.
        """
        paths: list[str] = []
        if seen.search == "group" and seen.shared:
            shared = self._catalog.paths(self._shared_area)
            paths = sorted(shared, key=lambda path: (str(notes.day_of_note(path) or ""), path))
        elif seen.notes:
            paths = self.recent(today)
        return tuple(line for path in paths for line in self._lines(path, visible))

    def log_lines(
        self, seen: Visibility, visible: Callable[[Block], bool], today: date, most: int = LOG_LINES
    ) -> tuple[Line, ...]:
        """Give what was said as the notes of the last days tell it, the newest lines in the order in which they stand.

        Each line has the address of its message. Tools' results are left to recall: they are long, and of their moment.
        """
        if not seen.notes:
            return ()
        lines: list[Line] = []
        for path in reversed(self.recent(today)):
            document, day = self._document(path), notes.day_of_note(path)
            if document is None or day is None:
                continue
            for line in reversed(day_log.lines_of(document)):
                if len(lines) >= most:
                    break
                if line.role in ("user", "assistant"):
                    block = day_log.block_of(document, line, day, self._zone)
                    if visible(block):
                        text = in_prompt(line, day.isoformat(), self._config.language)
                        lines.append(Line(text, self._catalog.as_message(block) or block.key, said=True))
        return tuple(reversed(lines))

    def memory_lines(self, seen: Visibility, visible: Callable[[Block], bool], today: date) -> tuple[Line, ...]:
        """Give MEMORY.md and the files that it links to, but for those that are loaded as notes anyway."""
        if not seen.memory:
            return ()
        index = self._index()
        if index is None:
            return ()
        told = set(self.recent(today)) if seen.notes else set()
        paths = [index.path, *(path for path in self._linked if path not in told)]
        return tuple(line for path in paths for line in self._lines(path, visible))

    def _lines(self, path: str, visible: Callable[[Block], bool]) -> Sequence[Line]:
        document = self._document(path)
        if document is None:
            return ()
        blocks = document.once("noted", lambda: self._noted(path, document))
        shown = [block for block in blocks if visible(block)]
        if len(shown) == len(blocks):
            pieces = document.once("loaded", lambda: loaded(document, blocks))
        else:
            pieces = loaded(document, shown)
        if not pieces:
            return ()
        lines = [Line(piece.text, piece.key) for piece in pieces]
        day = notes.day_of_note(path)
        if day is not None and day.isoformat() not in lines[0].text:
            # Which day it was is half of what a note says.
            lines[0] = Line(f"## {day.isoformat()}\n{lines[0].text}", lines[0].key)
        return lines

    def _noted(self, path: str, document: MarkdownDocument) -> list[Block]:
        """Cut a document into pieces, without the lines that tell what was said."""
        room = room_of(path)
        if room.name == "note" and path.startswith(f"{self._rooms.notes}/"):
            return notes.pieces(document, self._zone)
        return [block for block in room.blocks(document, self._zone) if block.role is None]

    @property
    def days_told(self) -> int:
        """How many days' notes tell what was written down of a session already."""
        return max(2, self._config.daily_log_days)

    def _told(self, today: date) -> list[str]:
        return notes.recent_notes(self._catalog.paths(f"{self._rooms.notes}/**/*.md"), today, self.days_told)

    def note_texts(self, today: date) -> list[str]:
        """Give what the notes of the last days say, piece by piece, whoever may load them."""
        paths = self._told(today)
        documents = [document for path in paths if (document := self._document(path)) is not None]
        return [block.text for document in documents for block in notes.pieces(document, self._zone)]

    def may_get(self, path: str, seen: Visibility) -> bool:
        """Tell whether a session may read a document by its path, whatever stands in it."""
        if path.startswith(f"{self._rooms.shared}/"):
            return seen.shared
        if seen.search != "all":
            return False
        try:
            return seen.memory or room_of(path).name != "memory"
        except ValueError:
            # There is nothing to hide: no document can have that path.
            return True

    def loads(self, seen: Visibility, today: date) -> list[str]:
        """List the files that a session with these rights loads, for the log."""
        everything: Callable[[Block], bool] = lambda block: True  # noqa: E731
        lines = [*self.memory_lines(seen, everything, today), *self.note_lines(seen, everything, today)]
        logs = self.recent(today) if seen.notes and self.log_lines(seen, everything, today, most=1) else []
        return list(dict.fromkeys([*(line.key.partition("#")[0] for line in lines), *logs]))

    # -- sessions' files ----------------------------------------------------------------------------------------

    def session_blocks(self, session_id: str, known: Sequence[Block]) -> list[Block] | None:
        """Give what a session's file holds as its history, newest first; None where there is no such file.

        A compaction's summary stands for what was before it. A line without a time has that of the line before it.
        Messages have the address that they are found by.

        Parameters: `known`, the newest messages of the session elsewhere. Where the real OpenClaw writes the file, we
        do not: what it has not written yet is part of the history too.
        """
        path = self._session_path(session_id) if self._config.session_files else None
        document = None if path is None else self._catalog.document(path)
        tail = None if path is None or isinstance(document, SessionDocument) else self._tail(path)
        document = tail or document
        if not isinstance(document, SessionDocument) or not document.lines:
            return None
        lines = sessions.blocks(document, visibility=visibility_of(document.path), compacted=True)
        found = self._catalog.as_messages(lines)
        last = next((line.time for line in lines if line.time is not None), None)
        told: list[Block] = []
        for line in lines:
            last = line.time or last
            told.append(line._replace(key=found.get(line.key, line.key), time=last))
        if tail is not None or sessions.has_others(document):
            keys, said = {block.key for block in told}, {(block.role, block.text.strip()) for block in told}
            told += [
                block
                for block in known
                if block.path != document.path
                and block.key not in keys
                and (block.role, block.text.strip()) not in said
            ]
        return sorted(told, key=lambda block: block.time.timestamp() if block.time else 0.0)[::-1]

    def _tail(self, path: str) -> SessionDocument | None:
        """Give the end of a file that is too large to be held; once, until it changes."""
        if path not in self._store.problems():
            return None
        try:
            found = self._store.newest_part(path, sessions.TAIL_BYTES)
        except OSError as error:
            log.warning("%s: its newest part can't be read either: %s", path, error)
            return None
        if found is None or found[1].size <= sessions.MAX_BYTES:
            # It is something else that is wrong with it.
            return None
        data, stamp = found
        if self._read_tail is None or self._read_tail[:2] != (path, stamp):
            self._read_tail = (path, stamp, sessions.tail_of(path, data))
        return self._read_tail[2]

    def _session_path(self, session_id: str) -> str | None:
        try:
            return sessions.path_of(self._config.agent_id, session_id)
        except Refused:
            # No file can have that name, so there is none.
            return None
