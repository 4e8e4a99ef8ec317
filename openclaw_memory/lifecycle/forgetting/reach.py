"""What a forgetting looks through: the documents, and every file that is none."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping
from pathlib import Path

import anyio.to_thread

from openclaw_memory.catalog import Catalog
from openclaw_memory.config import MemoryConfig
from openclaw_memory.layers import history_shards, sessions
from openclaw_memory.layers.parts import FOLDER as CONVERSATIONS
from openclaw_memory.layers.rooms import room_of
from openclaw_memory.layers.state import FACT_TIMES
from openclaw_memory.layers.summary_records import SUMMARIES
from openclaw_memory.lifecycle.forgetting import scanning
from openclaw_memory.lifecycle.forgetting.scanning import Kind, Traces
from openclaw_memory.lifecycle.forgetting.texts import Needle
from openclaw_memory.lifecycle.forgetting.tombstones import FORGOTTEN
from openclaw_memory.lifecycle.forgetting.wanted import Wanted
from openclaw_memory.storage.documents import Draft
from openclaw_memory.storage.files import Files
from openclaw_memory.storage.places import Places
from openclaw_memory.storage.store import Store
from openclaw_memory.workspace import areas, elsewhere, workspace_of

BACKUPS = "backups"
"""Folder of the root with what was there before imports."""

EDITABLE = (Kind.COPY, Kind.JOURNAL_COPY, Kind.INBOX, Kind.LEFT_OVER)
"""Kinds of files that are made anew without it; documents change by operations, derived files are made again."""


class Reach:
    """Finds what may hold it.

    Parameters: `config`; `store` and `catalog` of the same documents; `files`.
    """

    def __init__(self, config: MemoryConfig, store: Store, catalog: Catalog, files: Files) -> None:
        self._config, self._store, self._catalog, self._files = config, store, catalog, files
        self.places = Places(config.memory_folder, elsewhere(config))

    async def look(self) -> None:
        """Take note of what a person did to the documents."""
        await self._store.look(self._areas())

    def _areas(self) -> tuple[str, ...]:
        workspace = workspace_of(self._config)
        return tuple(dict.fromkeys([*areas(self._config), workspace.session_area]))

    async def documents(self) -> list[str]:
        """List every document that can be read, also those that MEMORY.md links to."""
        found: dict[str, None] = {}
        for area in self._areas():
            found.update(dict.fromkeys(await self._store.scan(area)))
        folder = workspace_of(self._config).folder
        found.update(dict.fromkeys(self._catalog.paths(f"{folder}/**/*.md")))
        return list(found)

    async def candidates(self, wanted: Wanted, problems: list[str]) -> list[str]:
        """List the documents that may hold what is wanted; those at rest only where their bytes do."""
        documents = await self.documents()
        asked: Needle | None = wanted.needle
        if asked is None and wanted.session is not None:
            asked = Needle.of(wanted.session)
        resting = [
            path
            for path in documents
            if asked is not None and self._catalog.document(path) is None and room_of(path).name != "state"
        ]
        if asked is not None and resting:
            holding = set(await anyio.to_thread.run_sync(self._resting, resting, asked))
            holding |= {path for path in resting if wanted.session and path.startswith(f"{sessions.FOLDER}/")}
            documents = [path for path in documents if path not in resting or path in holding]
        readable = await self._store.readable(documents)
        left = [path for path in documents if path not in readable]
        problems += [f"{path} can't be read, so it is left as it is" for path in left]
        return readable

    def _resting(self, paths: Iterable[str], asked: Needle) -> list[str]:
        found = []
        for path in paths:
            try:
                place = self.places.of(path)
                holds = asked.in_bytes(scanning.data_of(scanning.Found(place, path, Kind.DOCUMENT), self._files))
            except OSError:
                # Whoever loads it tells.
                holds = True
            if holds or asked.within(path):
                found.append(path)
        return found

    async def draft(self, paths: Iterable[str], *, holds: bool = False) -> tuple[Draft, list[str]]:
        """Make a draft of some documents and all that can be read of the state; gives the names of the latter too.

        `holds`: within `Store.held`.
        """
        states = [path for path in await self._store.scan(".state") if path != FORGOTTEN]
        states = await self._store.readable(dict.fromkeys([*states, FACT_TIMES, SUMMARIES]))
        wanted = dict.fromkeys([*paths, *states, FORGOTTEN])
        return await self._store.draft([], known=wanted, holds=holds), states

    async def copies(
        self, wanted: Wanted, traces: Traces, but: Collection[Path], problems: list[str]
    ) -> list[scanning.Found]:
        """List what is no document and may hold it: by its bytes where those tell, else every copy."""
        if traces and wanted.known is None:
            return await self.holding(traces, but, problems, EDITABLE)

        def every() -> list[scanning.Found]:
            found = self.every_file(problems)
            return [one for one in found if one.kind in EDITABLE and one.place not in but]

        return await anyio.to_thread.run_sync(every)

    async def holding(
        self, traces: Traces, but: Collection[Path], problems: list[str], kinds: Collection[Kind] = tuple(Kind)
    ) -> list[scanning.Found]:
        """List the files of some kinds that hold what is looked for; `but` are files and folders that are left out."""
        left_out = frozenset(but)

        def look() -> list[scanning.Found]:
            files = self.every_file(problems)
            chosen = (
                one for one in files if one.kind in kinds and left_out.isdisjoint([one.place, *one.place.parents])
            )
            return scanning.holding(chosen, self._files, traces, problems)

        return await anyio.to_thread.run_sync(look)

    def every_file(self, problems: list[str]) -> Iterator[scanning.Found]:
        """Give every file there is, documents too. For a thread."""
        return scanning.every_file(self.roots(), self._files, self._is_document, problems)

    def roots(self) -> Mapping[str, Path]:
        """Give the folders that are looked through, by what the paths of their documents begin with."""
        config, workspace = self._config, workspace_of(self._config)
        roots = {"": config.memory_folder, workspace.folder: config.workspace_folder}
        roots[workspace.sessions] = self.places.of(workspace.sessions)
        if config.index_file is not None and config.index_file.parent != config.memory_folder:
            roots["index"] = config.index_file.parent
        roots[BACKUPS] = config.root / BACKUPS
        return roots

    def _is_document(self, path: str) -> bool:
        try:
            room = room_of(path)
        except ValueError:
            return False
        if room.name == "state":
            return path.count("/") == 1 and path.endswith(".json")
        if path.endswith(history_shards.SUFFIX):
            return True
        if path.startswith(CONVERSATIONS) or room.name in ("fact", "task", "summary"):
            return path.endswith(".md")
        return self._catalog.knows(path) or path.startswith(sessions.FOLDER)


def is_backup(path: str) -> bool:
    """Tell whether a file is the flusher's own backup of a document."""
    return path.endswith(".backup") and not path.startswith(f"{BACKUPS}/")
