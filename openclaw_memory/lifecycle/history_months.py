"""Keep HISTORY.md short: months that are over go into files of their own, compressed (seed 004 section 4.3)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import datetime

import anyio
import anyio.to_thread

from openclaw_memory.layers.history import HistoryDocument, plan_move
from openclaw_memory.layers.history_shards import by_month, shard_path
from openclaw_memory.lifecycle.jobs import NOTHING, Outcome, another_day
from openclaw_memory.lifecycle.tools import Tools
from openclaw_memory.markdown.history_lines import HistoryEntry
from openclaw_memory.workspace import workspace_of

MOST_CHARS = 400_000
"""Characters that one record of the journal moves: more would hold up the writes behind it."""

MOST_ENTRIES = 2_000


class HistoryMonths:
    """Job of the heartbeat: what was said in earlier months leaves HISTORY.md, and is searched as before."""

    name = "history_months"

    def __init__(self, tools: Tools) -> None:
        self._tools = tools
        self._zone = tools.config.zone
        self._path = workspace_of(tools.config).history

    def due(self, last: datetime | None, now: datetime) -> bool:
        """Tell whether a day has begun: with the first one of a month there is something to do."""
        return another_day(last, now, self._zone)

    async def run(self, now: datetime) -> Outcome:
        """Move what is of earlier months, some at a time; each step is whole by itself."""
        store = self._tools.store
        if not await store.scan(self._path):
            return NOTHING
        today = now.astimezone(self._zone).date()
        document: HistoryDocument = await store.read(self._path)
        months = await anyio.to_thread.run_sync(by_month, document.entries, self._zone, today)
        keys = []
        for month, entries in months.items():
            path = shard_path(self._path, month)
            moved = 0
            for some in _steps(entries):
                moved += await self._move(path, some)
                # Whoever writes or reads meanwhile comes in between.
                await anyio.lowlevel.checkpoint()
            if moved:
                keys.append(path)
        return Outcome("done", tuple(keys)) if keys else NOTHING

    async def _move(self, path: str, entries: Sequence[HistoryEntry]) -> int:
        """Move entries into a month's file; gives how many. Those that were changed meanwhile wait for the next run."""
        draft = await self._tools.store.draft([self._path, path])
        here: HistoryDocument = draft.document(self._path)
        there: HistoryDocument = draft.document(path)
        now = {entry.id: entry for entry in here.entries}
        movable = [entry for entry in entries if _is_movable(now.get(entry.id), entry, there)]
        if not movable:
            return 0
        plan_move(draft, self._path, path, movable)
        commit = self._tools.store.commit(draft)
        await commit.wait()
        if commit.error is not None:
            raise commit.error
        return len(movable)


def _is_movable(now: HistoryEntry | None, entry: HistoryEntry, there: HistoryDocument) -> bool:
    """Tell whether an entry says what it said, and would not be taken for another one in its month's file."""
    if now is None or now.raw != entry.raw:
        return False
    same = there.entries[there.places[entry.id]] if there.has(entry.id) else None
    # An id of ours is one message's; one that follows from the text may stand for two lines that say the same.
    return same is None or (entry.session is not None and same.text == entry.text)


def _steps(entries: Sequence[HistoryEntry]) -> Iterator[list[HistoryEntry]]:
    """Cut entries into steps that one record holds."""
    step: list[HistoryEntry] = []
    chars = 0
    for entry in entries:
        if step and (chars + len(entry.raw) > MOST_CHARS or len(step) >= MOST_ENTRIES):
            yield step
            step, chars = [], 0
        step.append(entry)
        chars += len(entry.raw)
    if step:
        yield step
