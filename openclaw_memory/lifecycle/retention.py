"""Move the conversations of old days into an archive (`retention_days`, seed 004 section 4.1). Nothing is deleted.

What is archived is found by search and by its address as before; the folder of conversations stays short. Removing is
left to a person, and to `memory:forget`.
"""

from __future__ import annotations

from collections.abc import Iterable
from datetime import date, datetime

from openclaw_memory.errors import OpenClawMemoryError
from openclaw_memory.layers.day_files import ConversationDocument, MovedText, NamedBlocks
from openclaw_memory.layers.documents import tags_of
from openclaw_memory.layers.parts import FOLDER, archived
from openclaw_memory.lifecycle.jobs import Outcome, another_day
from openclaw_memory.lifecycle.summaries.periods import days_ended
from openclaw_memory.lifecycle.tools import Tools
from openclaw_memory.storage.operations import Operation


def to_archive(paths: Iterable[str], today: date, retention_days: int) -> list[str]:
    """Choose the files of days that are more than `retention_days` ago, the oldest first. Pure."""
    days = days_ended(paths, today)
    return [path for day, files in days.items() if (today - day).days > retention_days for path in files]


class Retention:
    """Daily job. Each file is moved in one record, as a part that a day is rotated into is.

    Parameters: `tools`; `retention_days`.
    """

    name = "retention"

    def __init__(self, tools: Tools, retention_days: int) -> None:
        self._tools = tools
        self._retention_days = retention_days

    def due(self, last: datetime | None, now: datetime) -> bool:
        """Tell whether it is another day."""
        return another_day(last, now, self._tools.config.zone)

    async def run(self, now: datetime) -> Outcome:
        """Move what is old enough. What can't be read stays where it is, and is told."""
        today = now.astimezone(self._tools.config.zone).date()
        keys, failed = [], []
        for path in to_archive(self._tools.catalog.paths(FOLDER), today, self._retention_days):
            if await self._is_gone(path):
                continue
            try:
                await self._move(path, now)
            except OpenClawMemoryError as error:
                failed.append(str(error))
            else:
                keys.append(archived(path))
        if failed:
            return Outcome("failed", tuple(keys), "; ".join(failed))
        return Outcome("done", tuple(keys)) if keys else Outcome("nothing")

    async def _is_gone(self, path: str) -> bool:
        document: ConversationDocument | None = self._tools.catalog.document(path)
        return document is not None and not document.file.blocks and not document.front.head

    async def _move(self, path: str, now: datetime) -> None:
        """Move the messages of a file, and then remove the file where nothing else stands in it.

        What a person wrote above the messages stays where it is, and so does the file.
        """
        store, target = self._tools.store, archived(path)
        draft = await store.draft([path, target])
        document: ConversationDocument = draft.document(path)
        at = now.astimezone(self._tools.config.zone).isoformat(timespec="seconds")
        if document.file.blocks:
            text, moved = MovedText(document), NamedBlocks(document.file.blocks)
            draft.apply(Operation(target, "adopt", {"text": text, "tags": list(tags_of(document.front)), "at": at}))
            draft.apply(Operation(path, "take_out", {"messages": moved, "at": at}))
        commit = store.commit(draft)
        await commit.wait()
        if commit.error is not None:
            raise commit.error
        if not document.file.preamble.strip():
            await store.settle([path, target])
            await store.discard(path)
