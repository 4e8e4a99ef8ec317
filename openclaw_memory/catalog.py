"""What readers see of all documents now: pieces in the index, messages by session. Derived, and cheap to keep."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime, tzinfo
from typing import Any

from openclaw_memory.layers import conversations
from openclaw_memory.layers.conversations import ConversationDocument
from openclaw_memory.layers.documents import MarkdownDocument
from openclaw_memory.layers.rooms import room_of
from openclaw_memory.markdown.messages import Message
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

    def changed(self, path: str, before: Any, after: Any) -> None:
        """Take note that a document is another one now; an addition at its end costs only what was added."""
        self._documents[path] = after
        if isinstance(after, ConversationDocument):
            self._conversation_changed(before, after)
        elif isinstance(after, MarkdownDocument) and (before is None or before.front != after.front):
            self._index.replace(path, room_of(path).blocks(after, self._zone))

    def _conversation_changed(self, before: ConversationDocument | None, after: ConversationDocument) -> None:
        added = 0 if before is None else _common(before, after)
        if added == 0 or before is None or added < len(before.file.blocks):
            self._index.replace(after.path, conversations.blocks(after))
            for session in list(self._sessions):
                self._sessions[session].pop(after.path, None)
                if not self._sessions[session]:
                    del self._sessions[session]
            added = 0
        elif added < len(after.file.blocks):
            self._index.add(conversations.blocks(after, since=added))
        for block in after.file.blocks[added:]:
            by_path = self._sessions.setdefault(block.message.session, {})
            by_path.setdefault(after.path, []).append(block.message)

    def document(self, path: str) -> Any:
        """Give the committed document; None when it was never read or written."""
        return self._documents.get(path)

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
        """Give the newest files that hold messages of a session."""
        return sorted(self._sessions.get(session, ()), reverse=True)[:newest]

    def newest_messages(self, session: str, until: datetime | None) -> Iterator[tuple[str, Message]]:
        """Yield the messages of a session with their keys, newest first, none of them after `until`."""
        by_path = self._sessions.get(session, {})
        for path in sorted(by_path, reverse=True):
            for message in reversed(by_path[path]):
                if until is None or message.time <= until:
                    yield f"{path}#{message.id}", message


def _common(before: ConversationDocument, after: ConversationDocument) -> int:
    """Count the messages at the beginning that both have in the same places; 0 when the places moved."""
    old, new = before.file.blocks, after.file.blocks
    if before.head_lines != after.head_lines or len(new) < len(old) or not old:
        return 0
    # Blocks are shared between versions of a document unless the file was read anew.
    return len(old) if old[0] is new[0] and old[-1] is new[len(old) - 1] else 0
