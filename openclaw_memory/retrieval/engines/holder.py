"""What is committed and what waits, kept together: every search sees one moment of both."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import TypeVar

import apsw

from openclaw_memory.retrieval.blocks import Block
from openclaw_memory.retrieval.engines.database import Database, read_state
from openclaw_memory.retrieval.engines.engine import Engine
from openclaw_memory.retrieval.engines.faults import told
from openclaw_memory.retrieval.engines.lookups import rows_of
from openclaw_memory.retrieval.engines.overlay import Batch, HiddenRow, Overlay
from openclaw_memory.retrieval.engines.rows import block_of
from openclaw_memory.retrieval.engines.snapshot import Snapshot, Waiting
from openclaw_memory.retrieval.engines.writing import words_of

T = TypeVar("T")

SLICE = 0.001
"""Seconds for which the lock is held while words are entered."""
RESOLVED_AT_ONCE = 16
"""Files or keys whose hidden rows are looked up at a time."""


def no_commit() -> None:
    """Commit nothing: only the engine is another one."""


class Holder:
    """Keep the overlay in step with what is committed.

    One lock guards the overlay and the moment in which a commit becomes visible. It is held for a millisecond or so,
    never while the disk is waited for, with one exception: the commit itself, which writes what the transaction still
    has in memory to SQLite's log, without a sync.

    Parameters: `database`; `engine`; `clock`, which gives seconds; `follow` tells that another process commits.
    """

    def __init__(
        self,
        database: Database,
        engine: Engine,
        clock: Callable[[], float] = time.perf_counter,
        *,
        follow: bool = False,
    ) -> None:
        self.database = database
        self.engine = engine
        self._clock = clock
        self._lock = threading.Lock()
        self._overlay = Overlay(clock)
        self._view = (engine, engine.view)
        self._epoch = 0
        """How often what is committed has changed."""
        self._follow = follow
        self._followed = -1
        """The generation that was seen last."""

    @contextmanager
    def changing(self) -> Iterator[Overlay]:
        """Lend the overlay, to change it or look at it for a moment."""
        with self._lock:
            yield self._overlay

    @contextmanager
    def snapshot(self) -> Iterator[Snapshot]:
        """Lend what is to be seen now, without what waits."""
        with self._lock:
            snapshot = self._snapshot()
        try:
            yield snapshot
        finally:
            self.database.unpin(snapshot.reader)

    @contextmanager
    def beside(self, pick: Callable[[Overlay], T]) -> Iterator[tuple[Snapshot, T]]:
        """Lend what is to be seen now, with what `pick` takes of what waits in the same moment."""
        with self._lock:
            waiting = pick(self._overlay)
            snapshot = self._snapshot()
        try:
            yield snapshot, waiting
        finally:
            self.database.unpin(snapshot.reader)

    @contextmanager
    def settled(self, terms: Sequence[str]) -> Iterator[tuple[Snapshot, Waiting]]:
        """Lend what is to be seen now, with what waits and holds one of the terms; all statistics are exact."""
        while True:
            self.catch_up(float("inf"))
            with self._lock:
                # Somebody may have added more since.
                if self._overlay.settled:
                    waiting = _waiting(self._overlay, terms)
                    snapshot = self._snapshot()
                    break
        try:
            yield snapshot, waiting
        finally:
            self.database.unpin(snapshot.reader)

    def catch_up(self, seconds: float) -> bool:
        """Enter the words that wait for it and find the rows that are hidden, for about so long; tells if all is."""
        end = self._clock() + seconds
        while True:
            with self._lock:
                if self._overlay.held.behind:
                    # At least one, however late the clock says it is: somebody may wait for the end of it.
                    self._overlay.held.work_off_one()
                self._overlay.held.catch_up(min(SLICE, end - self._clock()))
                if self._overlay.settled:
                    return True
            self._resolve()
            if self._clock() >= end:
                return False

    def publish(self, commit: Callable[[], object]) -> None:
        """Make a batch visible as rows, and with them the engine's new view."""
        with self._lock:
            commit()
            self._epoch += 1
            self._view = (self.engine, self.engine.view)
            self._overlay.finish()

    def switch(self, engine: Engine, commit: Callable[[], object]) -> None:
        """Let another engine answer from the moment on in which this commit is done."""
        with self._lock:
            commit()
            self.engine = engine
            self._view = (engine, engine.view)

    def freeze(self, most: int) -> Batch | None:
        """Begin a commit; None when nothing waits."""
        with self._lock:
            return self._overlay.freeze(most) if self._overlay.waiting else None

    def give_back(self) -> None:
        """Let what a failed commit had begun wait again."""
        with self._lock:
            self._overlay.give_back()

    def _snapshot(self) -> Snapshot:
        with told("looking into the index"):
            reader = self.database.pin()
            if self._follow:
                self._look_at(reader)
        engine, view = self._view
        return Snapshot(reader, engine, view, self._overlay.masks(), self._epoch)

    def _look_at(self, reader: apsw.Connection) -> None:
        """Take up what the owner has committed since. Its terms may be ahead of its rows for a moment."""
        generation = read_state(reader).generation
        if generation != self._followed:
            self.engine.refresh()
            self._followed = generation
            self._epoch += 1
            self._view = (self.engine, self.engine.view)
            self._overlay.ask_again()

    def _resolve(self) -> None:
        """Find the rows that some files and keys hide, and what the statistics lose by them."""

        # In one moment: after a commit these files and keys may hide nothing any more.
        def pick(overlay: Overlay) -> list[tuple[bool, str]]:
            return overlay.some_unresolved(RESOLVED_AT_ONCE)

        with told("looking into the index"), self.beside(pick) as (snapshot, masks):
            if not masks:
                return
            rows: dict[int, Block] = {}
            for column, is_path in (("path", True), ("key", False)):
                names = [name for which, name in masks if which is is_path]
                rows |= {row[0]: block_of(row) for row in rows_of(snapshot.reader, column, names)}
        hidden = []
        for id_, block in rows.items():
            words = words_of(block)
            hidden.append(HiddenRow(id_, len(words), frozenset(words)))
        with self._lock:
            # After a commit other rows are there, and all masks are asked about again.
            if self._epoch == snapshot.epoch:
                self._overlay.hide(masks, hidden)


def _waiting(overlay: Overlay, terms: Sequence[str]) -> Waiting:
    hidden, hidden_length = overlay.hidden
    held = overlay.held
    return Waiting(
        matches=overlay.matches(terms),
        blocks=len(held) - hidden,
        length=held.total_length - hidden_length,
        held_by={term: len(held.posting(term)) - overlay.hidden_by(term) for term in terms},
        hidden=hidden,
    )
