"""Count which pieces contexts are made of; written now and then, never with a read."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from datetime import datetime, timedelta, tzinfo

from openclaw_memory.layers.recalls import RECALLS, Recall, name_of, once, plan_recalls, question_of, together
from openclaw_memory.lifecycle.jobs import NOTHING, Outcome
from openclaw_memory.retrieval.blocks import Block
from openclaw_memory.storage.store import Store

EVERY = timedelta(minutes=30)
"""How long counts may stay in memory, where there is a heartbeat."""

LONGEST = 2_000
"""Characters of a piece that is counted: a longer one is no entry of MEMORY.md."""


class RecallCounts:
    """Counts in memory, from any thread.

    Parameters: `zone`, the user's time zone, whose days count.
    """

    def __init__(self, zone: tzinfo) -> None:
        self._zone = zone
        self._counts: dict[str, Recall] = {}
        self._lock = threading.Lock()

    def note(self, question: str, blocks: Sequence[Block], now: datetime) -> None:
        """Count pieces that were given for a question: notes, and what the user said, of the owner's own memory.

        A line of a note that tells what was said has a role, and is the message's second telling.
        """
        asked, day = question_of(question), now.astimezone(self._zone).date()
        for block in blocks:
            noted = block.layer == "note" and block.role is None
            counted = noted or (block.layer == "conversation" and block.role == "user")
            if not counted or block.visibility != "private" or len(block.text) > LONGEST:
                continue
            name = name_of(block.text)
            with self._lock:
                self._counts[name] = together(self._counts.get(name), once(block.key, asked, day, now))

    def __bool__(self) -> bool:
        return bool(self._counts)

    async def keep(self, store: Store) -> int:
        """Write what was counted, in one record; gives how many pieces. What can't be written is counted on."""
        with self._lock:
            counts, self._counts = self._counts, {}
        if not counts:
            return 0
        try:
            draft = await store.draft([RECALLS])
            plan_recalls(draft, counts)
            commit = store.commit(draft)
            await commit.wait()
            if commit.error is not None:
                raise commit.error
        except BaseException:
            with self._lock:
                for name, recall in counts.items():
                    self._counts[name] = together(recall, self._counts[name]) if name in self._counts else recall
            raise
        return len(counts)


class KeepRecalls:
    """Job of the heartbeat: the counts are written."""

    name = "recall_counts"

    def __init__(self, counts: RecallCounts, store: Store) -> None:
        self._counts = counts
        self._store = store

    def due(self, last: datetime | None, now: datetime) -> bool:
        """Tell whether anything was counted for a while; a clock that was put back does not stop it."""
        return bool(self._counts) and (last is None or not last <= now < last + EVERY)

    async def run(self, now: datetime) -> Outcome:
        """Write them."""
        kept = await self._counts.keep(self._store)
        return Outcome("done", message=f"{kept} pieces of memory were counted") if kept else NOTHING
