"""Tell which events are planned in a thread, since the event loop should not wait for so long."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from contracts import MemoryWrite, MessageContent, MessagesContent
from openclaw_memory.events import Change
from openclaw_memory.layers.documents import MarkdownDocument
from openclaw_memory.storage.documents import Draft

LONG = 20_000
"""Characters that may be read while an event is planned on the event loop: some 30 ms. Each item that changes a
document reads it anew."""

TYPICAL = 40
"""Characters by which an item makes its document longer."""

TRIES = 3
"""How often an event is planned in a thread while others change what it rests on; after that, on the event loop."""


def takes_long(items: Sequence[Change], draft: Draft) -> bool:
    """Tell whether planning these items on a draft reads so much that it belongs into a thread. Pure, and cheap."""
    count = sum(not _is_said(item) for item in items)
    if count == 0:
        return False
    return count * (_size(draft.planned.values()) + count * TYPICAL // 2) > LONG


def _is_said(item: Change) -> bool:
    """Tell whether something is only added at the end of a day's file."""
    return isinstance(item, MemoryWrite) and isinstance(item.content, (MessageContent, MessagesContent))


def _size(documents: Iterable[object]) -> int:
    return sum(len(document.body) for document in documents if isinstance(document, MarkdownDocument))
