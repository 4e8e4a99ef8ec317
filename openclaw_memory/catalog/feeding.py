"""Keep the index in step with changed documents; an addition costs only what was added. For one thread at a time."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import tzinfo
from typing import Any

from openclaw_memory.catalog.days import Days, in_common
from openclaw_memory.catalog.lines import added_since, is_log, pieces_of, tells_lines
from openclaw_memory.catalog.noted import Change
from openclaw_memory.layers import conversations
from openclaw_memory.layers.day_files import ConversationDocument
from openclaw_memory.layers.documents import MarkdownDocument
from openclaw_memory.layers.rooms import room_of
from openclaw_memory.retrieval.blocks import Block, FileRecord
from openclaw_memory.retrieval.index import Index
from openclaw_memory.retrieval.passages import passage


class Feeding:
    """Feeds an index.

    Parameters: `index`; `zone`, the user's time zone.
    """

    def __init__(self, index: Index, zone: tzinfo) -> None:
        self.index = index
        self._zone = zone
        self._records: dict[str, FileRecord] = {}
        """State of the files that the index holds, by path."""
        self.days = Days()
        self.offer: Callable[[list[str]], None] | None = None
        """Is told the texts (`passage`) of what goes into the index."""

    def use(self, index: Index) -> Sequence[str]:
        """Take another index; gives the files that it remembers, which need not be read."""
        self.index = index
        self._records = index.records()
        self.days.at_rest(self._records)
        return list(self._records)

    def pieces(self, path: str, document: Any) -> list[Block]:
        """Give the pieces of a document as the index would hold them."""
        if self.days.shares(path):
            return self.index.blocks_of(path)
        if tells_lines(document):
            return pieces_of(document, self.index, self._zone)
        return room_of(path).blocks(document, self._zone)

    def feed(self, changes: dict[str, Change], most: int | None) -> dict[str, Change]:
        """Take in changes until `most` pieces wait for the index to write them down; gives those that are left."""
        order = sorted(changes, key=lambda path: _turn_of(changes[path].after))
        for at, path in enumerate(order):
            if most is not None and self.index.waiting >= most:
                return {left: changes[left] for left in order[at:]}
            change = changes[path]
            if isinstance(change.after, ConversationDocument):
                self._feed_messages(change.before, change.after, change.record)
            elif tells_lines(change.after):
                self._feed_lines(path, change)
            elif isinstance(change.after, MarkdownDocument):
                self._feed_pieces(path, change)
        return {}

    def _feed_pieces(self, path: str, change: Change) -> None:
        before, after = change.before, change.after
        # What YAML refuses is told by `status`, so the next start has to read it.
        record = change.record if after.front.problem is None else None
        if before is None and record is not None and record == self._records.get(path):
            return
        if before is not None and before.front == after.front:
            self.index.record(path, record)
        else:
            self._replace(path, room_of(path).blocks(after, self._zone), record)
        self._remember(path, record)

    def _feed_messages(
        self, before: ConversationDocument | None, after: ConversationDocument, record: FileRecord | None
    ) -> None:
        path = after.path
        record = record if after.front.problem is None else None
        added = 0 if before is None else in_common(before, after)
        shared = self.days.take(after, added)
        at_rest = before is None and record is not None and record == self._records.get(path)
        if not shared and at_rest:
            return
        self._remember(path, record)
        if added and not shared:
            self._add(path, conversations.blocks(after, since=added), record)
            return
        for document in self.days.to_show(path, shared, all_of_it=not added):
            self._show(document)

    def _feed_lines(self, path: str, change: Change) -> None:
        before, after, record = change.before, change.after, change.record
        if before is None and record is not None and record == self._records.get(path):
            return
        added = added_since(before, after)
        blocks = pieces_of(after, self.index, self._zone, added)
        if added:
            self._add(path, blocks, record)
        else:
            self._replace(path, blocks, record)
        self._remember(path, record)

    def _show(self, document: ConversationDocument) -> None:
        """Show all messages of a file anew, each only once a day, with the text that it has last."""
        path = document.path
        pieces, record = conversations.blocks(document), self._records.get(path)
        if self.days.shares(path):
            # What is shown of it is less than it holds, so it is no state that a start could rest on.
            record = None
            shown = self.days.shown_of(document)
            pieces = [piece for piece, is_shown in zip(pieces, shown, strict=True) if is_shown]
        self._replace(path, pieces, record)

    def _remember(self, path: str, record: FileRecord | None) -> None:
        if record is None:
            self._records.pop(path, None)
        else:
            self._records[path] = record

    def _add(self, path: str, blocks: Sequence[Block], record: FileRecord | None) -> None:
        if blocks:
            self.index.add(blocks)
            self._told(blocks)
        self.index.record(path, record)

    def _replace(self, path: str, blocks: Sequence[Block], record: FileRecord | None) -> None:
        self.index.replace(path, blocks, record)
        self._told(blocks)

    def _told(self, blocks: Sequence[Block]) -> None:
        if self.offer is not None:
            self.offer([passage(block) for block in blocks])


def _turn_of(document: Any) -> int:
    """Give when a document is taken in: what it holds beside others can only be told when those are there."""
    # Of a day's log, beside HISTORY.md as well.
    return 2 if is_log(document) else int(tells_lines(document))
