"""What readers see of all documents now: pieces in the index, messages by session. Derived, and cheap to keep."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from datetime import datetime, tzinfo
from typing import Any

from openclaw_memory.layers import conversations
from openclaw_memory.layers.day_files import ConversationDocument, same
from openclaw_memory.layers.documents import MarkdownDocument
from openclaw_memory.layers.parts import day_of, order_of
from openclaw_memory.layers.rooms import room_of
from openclaw_memory.markdown.messages import Message, MessageBlock
from openclaw_memory.retrieval.blocks import Block
from openclaw_memory.retrieval.index import Index


class Catalog:
    """Kept in step with the committed documents by `changed`; nothing here is asked of the disk.

    Parameters: `index`, empty; `zone`, the user's time zone.
    """

    def __init__(self, index: Index, zone: tzinfo) -> None:
        self._index = index
        self._zone = zone
        self._documents: dict[str, Any] = {}
        self._sessions: dict[str, dict[str, list[Message]]] = {}
        """Messages by session and by the file that has their place."""
        self._placed: dict[str, set[str]] = {}
        """Sessions by file."""
        self._days: dict[str, dict[str, ConversationDocument]] = {}
        """Files by day."""
        self._sharing: dict[str, set[str]] = {}
        """For each file those of its day that hold some of the same messages."""

    def changed(self, path: str, before: Any, after: Any) -> None:
        """Take note that a document is another one now; an addition at its end costs only what was added."""
        self._documents[path] = after
        if isinstance(after, ConversationDocument):
            self._conversation_changed(before, after)
        elif isinstance(after, MarkdownDocument) and (before is None or before.front != after.front):
            self._index.replace(path, room_of(path).blocks(after, self._zone))

    def _conversation_changed(self, before: ConversationDocument | None, after: ConversationDocument) -> None:
        path = after.path
        siblings = self._days.setdefault(day_of(path), {})
        siblings[path] = after
        added = 0 if before is None else _common(before, after)
        new = after.file.blocks[added:]
        shared = {
            other.path
            for other in siblings.values()
            if other is not after and any(other.has(block.message.id) for block in new)
        }
        if added and not shared:
            if new:
                self._index.add(conversations.blocks(after, since=added))
                self._place(path, (block.message for block in new))
            return
        if added:
            shared |= self._sharing.get(path, set())
        for other in sorted(self._share(path, shared) | {path}, key=order_of):
            self._show(siblings[other])

    def _share(self, path: str, others: set[str]) -> set[str]:
        """Note which files of the same day have messages in common with this one; gives those that had, or have."""
        earlier = self._sharing.pop(path, set())
        for other in earlier - others:
            self._sharing[other].discard(path)
            if not self._sharing[other]:
                del self._sharing[other]
        if others:
            self._sharing[path] = set(others)
        for other in others:
            self._sharing.setdefault(other, set()).add(path)
        return earlier | others

    def _show(self, document: ConversationDocument) -> None:
        """Show all messages of a file anew, each only once a day: at its first place, with the text it has last.

        Where several files of a day hold a message, an editor saved an old view of the day over its rotation. What
        differs in the later file was edited there.
        """
        path = document.path
        pieces = conversations.blocks(document)
        messages = [block.message for block in document.file.blocks]
        if path in self._sharing:
            siblings = self._days[day_of(path)]
            family = [siblings[name] for name in sorted({path, *self._sharing[path]}, key=order_of)]
            shown = [(block.message, *_first_and_last(family, block.message.id)) for block in document.file.blocks]
            pieces = [piece for piece, (_, _, last) in zip(pieces, shown, strict=True) if last is document]
            messages = [
                message if last is document else _block(last, message.id).message
                for message, first, last in shown
                if first is document
            ]
        self._index.replace(path, pieces)
        for session in self._placed.pop(path, set()):
            del self._sessions[session][path]
            if not self._sessions[session]:
                del self._sessions[session]
        self._place(path, messages)

    def _place(self, path: str, messages: Iterable[Message]) -> None:
        """Put messages behind those that their sessions have in a file."""
        placed = self._placed.setdefault(path, set())
        for message in messages:
            placed.add(message.session)
            self._sessions.setdefault(message.session, {}).setdefault(path, []).append(message)

    def find(self, key: str) -> Block | None:
        """Give the piece that has this address, wherever it lies now; None when there is none.

        The address of a message names its day, and holds also when the day's file was rotated.
        """
        path, _, name = key.partition("#")
        family = sorted(self._days.get(day_of(path), {}).values(), key=lambda document: order_of(document.path))
        if any(document.has(name) for document in family):
            speaker = _first_and_last(family, name)[1]
            return conversations.blocks(speaker, since=speaker.places[name])[0]
        document = self._documents.get(path)
        pieces: list[Block] = [] if document is None else room_of(path).blocks(document, self._zone)
        return next((piece for piece in pieces if piece.key == key), None)

    def document(self, path: str) -> Any:
        """Give the committed document; None when it was never read or written."""
        return self._documents.get(path)

    def count(self, folder: str) -> int:
        """Count the documents right in a folder."""
        return sum(path.rpartition("/")[0] == folder for path in self._documents)

    def documents(self, folder: str) -> list[Any]:
        """Give the documents right in a folder, by path."""
        return [document for path, document in sorted(self._documents.items()) if path.rpartition("/")[0] == folder]

    def front_matter_problems(self) -> dict[str, str]:
        """Tell whose front matter YAML refuses, and why; their text is used all the same."""
        return {
            path: front.problem
            for path, document in self._documents.items()
            if (front := getattr(document, "front", None)) is not None and front.problem is not None
        }

    def paths_of(self, session: str, newest: int = 2) -> list[str]:
        """Give the newest files that hold messages of a session, and where an old view of them would be saved."""
        paths = sorted(self._sessions.get(session, ()), key=order_of, reverse=True)[:newest]
        return list(dict.fromkeys([*paths, *map(day_of, paths)]))

    def newest_messages(self, session: str, until: datetime | None) -> Iterator[tuple[str, Message]]:
        """Yield the messages of a session with their keys, newest first, none of them after `until`."""
        by_path = self._sessions.get(session, {})
        for path in sorted(by_path, key=order_of, reverse=True):
            day = day_of(path)
            for message in reversed(by_path[path]):
                if until is None or message.time <= until:
                    yield f"{day}#{message.id}", message


def _common(before: ConversationDocument, after: ConversationDocument) -> int:
    """Count the messages at the beginning that both have in the same places; 0 when the places moved."""
    old, new = before.file.blocks, after.file.blocks
    if before.places is not after.places or before.head_lines != after.head_lines or len(new) < len(old) or not old:
        return 0
    # The last block is another one where its last line had been left open.
    return len(old) if old[-1] is new[len(old) - 1] else 0


def _first_and_last(
    family: Sequence[ConversationDocument], message_id: str
) -> tuple[ConversationDocument, ConversationDocument]:
    """Give the file that has the place of a message, and the one whose text of it counts."""
    holders = [document for document in family if document.has(message_id)]
    first, last = holders[0], holders[-1]
    if last is first or same(_block(first, message_id).raw, _block(last, message_id).raw):
        return first, first
    return first, last


def _block(document: ConversationDocument, message_id: str) -> MessageBlock:
    block = document.block_of(message_id)
    assert block is not None
    return block
