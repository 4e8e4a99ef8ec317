"""The index on disk: rows in SQLite, terms in an engine, and beside them what no commit has taken in yet."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from datetime import datetime
from itertools import islice

from openclaw_memory.retrieval.blocks import Block, FileRecord, sequence_of
from openclaw_memory.retrieval.engines import lookups
from openclaw_memory.retrieval.engines.beside import Asked, around, spots_after
from openclaw_memory.retrieval.engines.committing import commit_batch, no_steps
from openclaw_memory.retrieval.engines.database import Database, Row, read_state
from openclaw_memory.retrieval.engines.engine import Engine
from openclaw_memory.retrieval.engines.errors import IndexUnavailableError, TermsDamagedError
from openclaw_memory.retrieval.engines.faults import told
from openclaw_memory.retrieval.engines.holder import Holder, no_commit
from openclaw_memory.retrieval.engines.overlay import Batch, Overlay
from openclaw_memory.retrieval.engines.places import Places
from openclaw_memory.retrieval.engines.question import search
from openclaw_memory.retrieval.engines.renewing import renew_terms
from openclaw_memory.retrieval.engines.rows import readable
from openclaw_memory.retrieval.engines.scan import ScanEngine
from openclaw_memory.retrieval.hits import Allow, Hit, within
from openclaw_memory.retrieval.moments import microseconds
from openclaw_memory.retrieval.neighbours import Neighbour
from openclaw_memory.retrieval.postings import AFTER_ALL, MOST_WAITING, Spot, spot_of
from openclaw_memory.retrieval.scope import EVERYTHING, Audience, Scope, listed, narrow
from openclaw_memory.retrieval.status import IndexStatus, Progress, no_progress

MOST = MOST_WAITING
"""Blocks that one commit takes in. No more than may wait unread: to enter their words for searches first would cost
nearly half as much again."""


class PersistentIndex:
    """An `Index` on disk.

    Parameters: `places` of its files; `database` and `engine`, open; `identity` for the status; `problem`, when its
    terms have to be made anew by the next commit; `writable` tells whether this process writes it; `clock` gives
    seconds; `step` is called with the name of each step of a commit before it is done.

    Raises, in every method that looks or writes: `IndexDamagedError`, `IndexUnavailableError`.
    """

    def __init__(
        self,
        places: Places,
        database: Database,
        engine: Engine,
        identity: dict[str, str],
        *,
        problem: str | None = None,
        writable: bool = True,
        clock: Callable[[], float] = time.perf_counter,
        step: Callable[[str], None] = no_steps,
    ) -> None:
        self.places = places
        self.problem = problem
        self._identity = identity
        self._writable = writable
        self._step = step
        self._holder = Holder(database, engine, clock, follow=not writable)
        self._committing = threading.Lock()
        self._terms_lost = problem is not None

    # -- changing -------------------------------------------------------------------------------------------------

    def add(self, blocks: Iterable[Block]) -> None:
        """Add blocks; those whose keys were known before the call take the places of the earlier ones."""
        with self._holder.changing() as overlay:
            overlay.add(blocks)

    def replace(self, path: str, blocks: Iterable[Block], record: FileRecord | None = None) -> None:
        """Put these blocks in the place of all blocks of a file, and this record in the place of its record."""
        with self._holder.changing() as overlay:
            overlay.replace(path, blocks, record)

    def remove(self, path: str) -> None:
        """Take out all blocks of a file, and its record; unknown files are no error."""
        self.replace(path, ())

    def record(self, path: str, record: FileRecord | None) -> None:
        """Note, or forget, which state of a file its blocks stand for."""
        with self._holder.changing() as overlay:
            overlay.record(path, record)

    @property
    def waiting(self) -> int:
        """Count the changes that no commit has taken in yet."""
        with self._holder.changing() as overlay:
            return overlay.waiting

    def catch_up(self, seconds: float) -> bool:
        """Work off what a search would have to wait for, for about so long; tells whether nothing is left of it."""
        with told("looking into the index"):
            return self._holder.catch_up(seconds)

    # -- searching and looking ------------------------------------------------------------------------------------

    def search(self, query_terms: Sequence[str], *, limit: int, allow: Allow, scope: Scope = EVERYTHING) -> list[Hit]:
        """Give the best blocks that hold at least one of the terms (BM25), best first; of equals the newest first."""
        terms = list(dict.fromkeys(query_terms))
        if not terms or limit < 1:
            return []
        wanted = within(scope, allow)
        # What `allow` raises is the caller's, and no fault of the index.
        with self._holder.settled(terms) as (snapshot, waiting):
            return search(terms, limit, wanted, scope, snapshot, waiting, in_step=self._writable)

    def __len__(self) -> int:
        """Count the blocks."""
        with told("counting the index"), self._holder.settled(()) as (snapshot, waiting):
            return read_state(snapshot.reader).blocks + waiting.blocks

    def find(self, key: str) -> list[Block]:
        """Give the blocks that have this address: none, one or, where a person wrote it twice, several, by line."""
        with (
            told("looking into the index"),
            self._holder.beside(lambda overlay: overlay.held.of_key(key)) as (now, new),
        ):
            return lookups.named(now.reader, "key", key, now.masks, new)

    def find_many(self, keys: Sequence[str]) -> dict[str, list[Block]]:
        """Give by address what `find` gives; addresses that no block has are left out."""
        asked = list(dict.fromkeys(keys))

        def pick(overlay: Overlay) -> list[Block]:
            return [block for key in asked for block in overlay.held.of_key(key)]

        with told("looking into the index"), self._holder.beside(pick) as (now, new):
            return lookups.by_key(now.reader, asked, now.masks, new)

    def blocks_of(self, path: str) -> list[Block]:
        """Give the blocks of a file in the order of its lines."""
        with (
            told("looking into the index"),
            self._holder.beside(lambda overlay: overlay.held.of_path(path)) as (now, new),
        ):
            return lookups.named(now.reader, "path", path, now.masks, new)

    def around_many(self, blocks: Sequence[Block], reach: int) -> list[list[Neighbour]]:
        """Give for each block the messages up to `reach` places before and after it in its session, in their order."""
        asked = [(name, spot_of(block)) if (name := sequence_of(block)) else None for block in blocks]

        def pick(overlay: Overlay) -> dict[Asked, tuple[list[Block], list[Block]]]:
            held = overlay.held
            if not held.entries:
                return {}
            return {
                one: (list(islice(held.backwards(*one), reach)), list(islice(held.forwards(*one), reach)))
                for one in asked
                if one is not None and held.has_sequence(one[0])
            }

        with told("looking into the index"), self._holder.beside(pick) as (now, waiting):
            return around(now.reader, asked, now.masks, waiting, reach)

    def spots_after(self, blocks: Sequence[Block], places: int) -> list[Spot | None]:
        """Give for each message where the one so many places after it, or one later, stands; None where unknown."""
        asked = [(name, spot_of(block)) if (name := sequence_of(block)) else None for block in blocks]

        def all_shown(overlay: Overlay) -> bool:
            return overlay.settled and overlay.hidden[0] == 0

        with told("looking into the index"), self._holder.beside(all_shown) as (now, known):
            # What waits stands among the rows, so the message that is asked for stands at that row or before it.
            return spots_after(now.reader, asked, places) if known else [None] * len(asked)

    def blocks_of_texts(self, ids: Sequence[bytes]) -> list[list[Block]]:
        """Give for each address of a text the blocks that have it; none where no block has."""

        def beside(overlay: Overlay) -> dict[bytes, list[Block]]:
            return {text_id: overlay.held.of_text(text_id) for text_id in ids}

        with told("looking into the index"), self._holder.beside(beside) as (now, found):
            for text_id, block in lookups.of_texts(now.reader, list(found), now.masks):
                found[text_id].append(block)
        return [found[text_id] for text_id in ids]

    def text_ids(self, after: bytes, most: int) -> list[bytes]:
        """Give the next addresses of texts in order, each once; no block may have some of them any more."""
        with (
            told("looking into the index"),
            self._holder.beside(lambda overlay: overlay.held.text_ids(after)) as (now, waiting),
        ):
            return sorted({*lookups.text_ids(now.reader, after, most), *waiting})[:most]

    def within(self, audiences: Sequence[Audience], most: int) -> list[Block] | None:
        """List what these audiences may see; None when there is more than `most`, or only everything could tell."""
        if not narrow(audiences):
            return None

        def beside(overlay: Overlay) -> list[Block]:
            return [entry.block for entry in overlay.held.entries.values()]

        with told("looking into the index"), self._holder.beside(beside) as (now, waiting):
            found = dict.fromkeys(one for one in waiting if any(listed(audience, one) for audience in audiences))
            for audience in audiences:
                rows = lookups.within(now.reader, audience, now.masks, most)
                if rows is None:
                    return None
                found |= dict.fromkeys(rows)
        return list(found) if len(found) <= most else None

    def newest(self, session: str, until: datetime | None = None) -> Iterator[Block]:
        """Yield the messages of a session, the newest first, none of them after `until`.

        They are read a page at a time; what changes between two pages may be seen by the second.
        """
        name = f"session {session}"
        spot = AFTER_ALL if until is None else (microseconds(until) + 1, "", 0)
        while True:
            page = self._page(name, spot)
            yield from page
            if len(page) < lookups.PAGE:
                return
            spot = spot_of(page[-1])

    def _page(self, name: str, spot: Spot) -> list[Block]:
        def beside(overlay: Overlay) -> list[Block]:
            return list(islice(overlay.held.backwards(name, spot), lookups.PAGE))

        with told("looking into the index"), self._holder.beside(beside) as (now, waiting):
            return lookups.before(now.reader, name, spot, now.masks, waiting, lookups.PAGE)

    def newest_paths(self, session: str, most: int) -> list[str]:
        """Give the files that hold the newest `most` messages of a session, each once, the newest first."""
        name = f"session {session}"

        def beside(overlay: Overlay) -> list[Block]:
            return list(islice(overlay.held.backwards(name, AFTER_ALL), most))

        with told("looking into the index"), self._holder.beside(beside) as (now, waiting):
            return lookups.newest_paths(now.reader, name, now.masks, waiting, most)

    def paths_holding(self, keys: Iterable[str]) -> dict[str, tuple[str, ...]]:
        """Tell in which files the blocks with these addresses lie; unknown addresses are left out."""
        asked = list(dict.fromkeys(keys))

        def beside(overlay: Overlay) -> list[tuple[str, str]]:
            return [(key, block.path) for key in asked for block in overlay.held.of_key(key)]

        with told("looking into the index"), self._holder.beside(beside) as (now, waiting):
            pairs = {*lookups.paths_holding(now.reader, asked, now.masks), *waiting}
        found = {key: tuple(sorted(path for held, path in pairs if held == key)) for key in {key for key, _ in pairs}}
        return {key: found[key] for key in asked if key in found}

    def records(self) -> dict[str, FileRecord]:
        """Give the record of every file that has one."""
        with told("looking into the index"), self._holder.beside(lambda overlay: overlay.records) as (now, lay_over):
            rows: list[Row] = now.reader.execute("SELECT path, size, mtime_ns, inode, checksum FROM files").fetchall()
        return lay_over({readable(row[0]): FileRecord(*row[1:]) for row in rows})

    def status(self) -> IndexStatus:
        """Tell what it holds, and how it is."""
        blocks, waiting = len(self), self.waiting
        with told("looking into the index"), self._holder.snapshot() as now:
            state = read_state(now.reader)
            by_layer = dict(now.reader.execute("SELECT layer, count(*) FROM blocks GROUP BY layer ORDER BY layer"))
            files: list[Row] = now.reader.execute("SELECT count(DISTINCT path) FROM blocks").fetchall()
        return IndexStatus(
            engine=now.engine.name,
            blocks=blocks,
            files=files[0][0],
            by_layer=by_layer,
            waiting=waiting,
            generation=state.generation,
            bytes_on_disk=self.places.size(),
            identity=self._identity,
            problem=self.problem,
        )

    def paths(self) -> set[str]:
        """Give the files that have blocks."""
        with (
            told("looking into the index"),
            self._holder.beside(lambda overlay: (overlay.masks(), set(overlay.held.paths()))) as (now, (masks, new)),
        ):
            rows: list[Row] = now.reader.execute("SELECT DISTINCT path FROM blocks").fetchall()
        return new | {path for (stored,) in rows if (path := readable(stored)) not in masks.paths}

    # -- the disk -------------------------------------------------------------------------------------------------

    def commit(self, most: int = MOST) -> bool:
        """Bring about `most` of the changes that wait to the disk; tells whether none are left. For a thread.

        When the disk refuses, nothing is lost: the changes wait for the next attempt, and `problem` says why.
        """
        self._must_write()
        with self._committing:
            try:
                with told("writing the index"):
                    self._holder.database.must_be_sound()
                    if self._terms_lost or self._holder.engine.vanished:
                        self._renew(no_progress)
                    batch = self._holder.freeze(most)
                    if batch is not None:
                        self._commit(batch)
            except IndexUnavailableError as error:
                self.problem = f"{error}; what was changed since is searched in memory"
                return False
            except TermsDamagedError as error:
                self.scan_instead(error)
                return False
            self.problem = None
        return self.waiting == 0

    def _commit(self, batch: Batch) -> None:
        try:
            commit_batch(self._holder, batch, self._step)
        except BaseException:
            self._holder.give_back()
            raise

    def scan_instead(self, error: TermsDamagedError) -> None:
        """Search without the engine until the next commit has made its terms anew."""
        old = self._holder.engine
        self._holder.switch(ScanEngine(), no_commit)
        old.close()
        self._terms_lost = True
        self.problem = f"{error}; searching is slow until the next commit has made them anew"

    def purge(self, progress: Progress = no_progress) -> None:
        """Make what was taken out unreadable in the index's files as well, its words too. For a thread.

        SQLite overwrites what is deleted; what its log and the engine's dictionary still hold is made anew.

        Raises: `IndexUnavailableError` when the disk refuses; what was taken out may be there still.
        """
        self._must_write()
        while self.waiting:
            if not self.commit() and self.problem:
                raise IndexUnavailableError("purging the index", self.problem)
        with self._committing, told("purging the index"):
            self._renew(progress)
            self._holder.database.truncate_log()

    def _renew(self, progress: Progress) -> None:
        renew_terms(self._holder, self.places, self._identity["engine"], progress)
        self._terms_lost = False

    @property
    def vanished(self) -> bool:
        """Tell whether the database was removed or replaced under us, or the terms by their owner.

        Who writes makes lost terms anew by itself.
        """
        return self._holder.database.vanished or (not self._writable and self._holder.engine.vanished)

    def unwritten(self) -> list[Block]:
        """Give the blocks that no commit has taken in."""
        with self._holder.changing() as overlay:
            return [entry.block for entry in overlay.held.entries.values()]

    def close(self) -> None:
        """Let go of the files; what waits for a commit is dropped."""
        with self._committing, told("closing the index"):
            self._holder.engine.close()
            self._holder.database.close()

    def _must_write(self) -> None:
        if not self._writable:
            raise IndexUnavailableError("the index", "it is open for reading only; its owner writes it")
