"""Plan a change of documents in a thread, where planning takes longer than the event loop should wait."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TypeVar

import anyio.to_thread

from openclaw_memory.lifecycle.tools import Tools
from openclaw_memory.storage.documents import Draft

T = TypeVar("T")


async def planned_apart(tools: Tools, paths: Sequence[str], plan: Callable[[Draft], T]) -> T:
    """Plan on a draft, in a thread, and write it; planned again when one was changed meanwhile, or something forgotten.

    Documents never change, so a plan may be made of them anywhere; what it is committed on must be what it was made of.
    Nothing is awaited between looking at that and committing.

    Parameters: `plan`, which may be called several times, and whose last result is given when it is durable.

    Raises: what `plan` and the store raise; then nothing was changed.
    """
    store = tools.store
    while True:
        forgotten = tools.forgotten()
        draft = await store.draft(paths)
        result = await anyio.to_thread.run_sync(plan, draft)
        again = await store.draft(paths)
        if tools.forgotten() is not forgotten or any(again.planned[path] is not draft.planned[path] for path in paths):
            continue
        commit = store.commit(draft)
        await commit.wait()
        if commit.error is not None:
            raise commit.error
        return result
