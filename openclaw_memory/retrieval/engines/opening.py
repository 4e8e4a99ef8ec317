"""Open an index on disk, or make a new one."""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path
from typing import Literal

from openclaw_memory.retrieval.engines.committing import no_steps
from openclaw_memory.retrieval.engines.database import Database, check, create, read_state
from openclaw_memory.retrieval.engines.engine import Engine
from openclaw_memory.retrieval.engines.errors import IndexDamagedError, IndexUnavailableError, TermsDamagedError
from openclaw_memory.retrieval.engines.faults import told
from openclaw_memory.retrieval.engines.fts import FtsEngine
from openclaw_memory.retrieval.engines.identity import identity
from openclaw_memory.retrieval.engines.persistent import PersistentIndex
from openclaw_memory.retrieval.engines.places import Places
from openclaw_memory.retrieval.engines.recovery import bring_into_step
from openclaw_memory.retrieval.engines.scan import ScanEngine
from openclaw_memory.retrieval.engines.segments import damaged_segment
from openclaw_memory.retrieval.engines.tantivy_engine import TantivyEngine

CHECKED_AT_ONCE = 16_000_000
"""Bytes of a database that is looked at page by page when it is opened; a larger one by the first commit."""

EngineName = Literal["tantivy", "sqlite"]


def open_persistent(
    places: Places,
    engine: EngineName,
    *,
    writable: bool = True,
    clock: Callable[[], float] = time.perf_counter,
    step: Callable[[str], None] = no_steps,
) -> PersistentIndex:
    """Open the index at these places; where there is none, make one if `writable`.

    Terms that are damaged, missing or too far from the rows cost nothing but speed: rows are scanned until the first
    commit has made the terms anew. Parameters: as those of `PersistentIndex`.

    Raises: `IndexOutdatedError`, `IndexDamagedError` when the rows can't be used, `IndexUnavailableError` when nothing
    can be opened now.
    """
    known = identity(engine)
    with told(f"opening {places.database}"):
        if places.database.is_dir():
            raise IndexDamagedError("the index", f"{places.database} is a folder")
        new = not places.database.exists()
        if new and not writable:
            raise IndexUnavailableError("the index", "there is none yet; its owner makes it")
        if new:
            places.root.mkdir(mode=0o700, parents=True, exist_ok=True)
        if writable and not places.base:
            # What a rebuild left that did not come to its end.
            places.beside().clear_database()
        database = Database(places.database, writable=writable)
        try:
            if writable and not database.writer.execute("SELECT 1 FROM sqlite_master").fetchall():
                # A new file, or one that a crash left empty.
                create(database.writer, known, _new_folder(places) if engine == "tantivy" else "")
            check(database.writer, known)
            if writable and places.database.stat().st_size <= CHECKED_AT_ONCE:
                database.must_be_sound()
            terms, problem = _engine(places, database, engine, writable)
        except BaseException:
            database.close()
            raise
    return PersistentIndex(places, database, terms, known, problem=problem, writable=writable, clock=clock, step=step)


def _engine(places: Places, database: Database, engine: EngineName, writable: bool) -> tuple[Engine, str | None]:
    if engine == "sqlite":
        return FtsEngine(), None
    name = read_state(database.writer).folder
    if writable:
        places.keep_folder(name)
    try:
        return _tantivy(places.folders / name, database, writable), None
    except (TermsDamagedError, IndexUnavailableError) as error:
        return ScanEngine(), f"{error}; searching is slow until the next commit has made them anew"


def _tantivy(folder: Path, database: Database, writable: bool) -> TantivyEngine:
    with told("opening the terms", TermsDamagedError):
        if not (folder / "meta.json").is_file():
            raise TermsDamagedError("the terms", f"{folder} holds none")
        # Beside the program that writes, files come and go, and may be looked at only by tantivy.
        damaged = damaged_segment(folder) if writable else None
        if damaged is not None:
            raise TermsDamagedError("the terms", f"{folder / damaged} is not what was written")
        terms = TantivyEngine(folder, writable=writable)
        try:
            if writable:
                bring_into_step(database.writer, terms)
        except BaseException:
            terms.close()
            raise
        return terms


def _new_folder(places: Places) -> str:
    name = places.make_folder()
    terms = TantivyEngine(places.folders / name, create=True)
    terms.fill((), generation=0)
    terms.close()
    return name
