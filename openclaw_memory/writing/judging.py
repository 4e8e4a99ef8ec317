"""Judge what the user says in a write: what it asks to be remembered goes with it, or is suggested."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import datetime
from functools import partial

import anyio.to_thread

from contracts import MemoryWrite, MessageContent, MessagesContent
from contracts.fields import SessionKind
from openclaw_memory.capturing import Captured, capture, earlier_in, is_judged
from openclaw_memory.config import CaptureConfig, MemoryConfig
from openclaw_memory.context.visibility import policies
from openclaw_memory.errors import UnreadableDocumentError
from openclaw_memory.events import Change
from openclaw_memory.layers import conversations
from openclaw_memory.storage.store import Store

_NOTHING = Captured()

JUDGED_AT_ONCE = 1_200
"""Characters of an event that are judged on the event loop: a millisecond, ten for the worst of texts."""


class Judging:
    """Judges writes.

    Parameters: `store`, which knows what was said before; `config`.
    """

    def __init__(self, store: Store, config: MemoryConfig) -> None:
        self._store = store
        self._zone = config.zone
        self._policies = policies(config.session)
        self._rules = config.capture
        self._has_judged = False

    async def captured(
        self, items: Sequence[Change], kind: SessionKind, now: datetime, rules: CaptureConfig, supplied: Sequence[str]
    ) -> Captured:
        """Judge what the user says in these items.

        What is long, in a thread. A hop into one and back costs as much as a short message does, and the first time the
        patterns are compiled.
        """
        if self._policies[kind].writes != "all" or not (rules.explicit or rules.suggestions):
            return _NOTHING
        judged = [item for item in items if isinstance(item, MemoryWrite) and is_judged(item, now)]
        if not judged:
            return _NOTHING
        today = conversations.day_path(now, self._zone)
        at_once = self._has_judged and sum(map(_length, judged)) <= JUDGED_AT_ONCE
        found = []
        for item in judged:
            try:
                draft = await self._store.draft([], known=[today])
            except UnreadableDocumentError:
                earlier: Callable[[], Sequence[str]] = tuple
            else:
                earlier = partial(earlier_in, draft.document(today), item.session_id)
            if at_once:
                found.append(capture(item, earlier, supplied, kind, rules, now))
            else:
                found.append(await anyio.to_thread.run_sync(capture, item, earlier, supplied, kind, rules, now))
                self._has_judged = True
        return Captured(
            tuple(write for one in found for write in one.writes),
            tuple(words for one in found for words in one.suggestions),
        )

    def suggested_at_once(
        self, item: MemoryWrite, kind: SessionKind, now: datetime, supplied: Sequence[str]
    ) -> tuple[str, ...] | None:
        """Give what a write suggests; None where that takes waiting, or where it asks for something to be written."""
        rules = self._rules
        if self._policies[kind].writes != "all" or not (rules.explicit or rules.suggestions):
            return ()
        if not is_judged(item, now):
            return ()
        today = conversations.path_of(now)
        if not self._has_judged or self._store.ahead(today) is None or _length(item) > JUDGED_AT_ONCE:
            return None
        captured = capture(item, partial(self._earlier, today, item.session_id), supplied, kind, rules, now)
        return None if captured.writes else captured.suggestions

    def _earlier(self, today: str, session: str) -> Sequence[str]:
        """Give what the user said before; nothing is looked at but for the few messages that ask for it."""
        return earlier_in(self._store.planned(today), session)


def _length(item: MemoryWrite) -> int:
    content = item.content
    messages = content.messages if isinstance(content, MessagesContent) else (content,)
    return sum(len(message.content) for message in messages if isinstance(message, MessageContent))
