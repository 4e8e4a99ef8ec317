"""The files of each day, and which of them hold the same messages. Belongs to whoever feeds the index.

Where several files of a day hold a message, an editor saved an old view of the day over its rotation. Each message is
shown once, and what differs in the later file was edited there.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from openclaw_memory.layers.day_files import ConversationDocument, same
from openclaw_memory.layers.parts import FOLDER, day_of, order_of
from openclaw_memory.markdown.messages import MessageBlock


class Days:
    """Conversation files by day."""

    def __init__(self) -> None:
        self._files: dict[str, dict[str, ConversationDocument | None]] = {}
        """By day; None for a file that is at rest."""
        self._sharing: dict[str, set[str]] = {}
        """For each file those of its day that hold some of the same messages."""
        self._wanted: set[str] = set()

    def at_rest(self, paths: Iterable[str]) -> None:
        """Take note of files that need not be read."""
        for path in paths:
            if path.startswith(f"{FOLDER}/"):
                self._files.setdefault(day_of(path), {}).setdefault(path, None)

    def wanted(self) -> list[str]:
        """Give files at rest that must be read, since another file of their day may hold the same messages."""
        wanted, self._wanted = sorted(self._wanted), set()
        return wanted

    def shares(self, path: str) -> bool:
        """Tell whether another file of its day holds some of the same messages."""
        return path in self._sharing

    def take(self, document: ConversationDocument, added: int) -> set[str]:
        """Hold a document, of which the first `added` messages were there before; gives who else holds the others."""
        family = self._files.setdefault(day_of(document.path), {})
        family[document.path] = document
        if not added:
            self._wanted.update(path for path, other in family.items() if other is None)
        new = document.file.blocks[added:]
        return {
            other.path
            for other in family.values()
            if other is not None and other is not document and any(other.has(block.message.id) for block in new)
        }

    def to_show(self, path: str, shared: set[str], *, all_of_it: bool) -> list[ConversationDocument]:
        """Note who holds messages of a file as well, and give what is to be shown anew, in the order of the day.

        `all_of_it`: `shared` is said of the whole file, and not only of what was added to it.
        """
        if not all_of_it:
            shared = shared | self._sharing.get(path, set())
        family = self._files[day_of(path)]
        paths = sorted(self._share(path, shared) | {path}, key=order_of)
        return [document for one in paths if (document := family[one]) is not None]

    def shown_of(self, document: ConversationDocument) -> list[bool]:
        """Tell for each message of a file whether it is this file that shows it."""
        family = [
            other
            for path in sorted({document.path, *self._sharing[document.path]}, key=order_of)
            if (other := self._files.get(day_of(document.path), {}).get(path)) is not None
        ]
        return [_speaker(family, block.message.id) is document for block in document.file.blocks]

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


def in_common(before: ConversationDocument, after: ConversationDocument) -> int:
    """Count the messages at the beginning that both have in the same places; 0 when the places moved."""
    old, new = before.file.blocks, after.file.blocks
    if before.places is not after.places or before.head_lines != after.head_lines or len(new) < len(old) or not old:
        return 0
    # The last block is another one where its last line had been left open.
    return len(old) if old[-1] is new[len(old) - 1] else 0


def _speaker(family: Sequence[ConversationDocument], message_id: str) -> ConversationDocument:
    """Give the file whose text of a message counts: the first that holds it, unless a later one says something else."""
    holders = [document for document in family if document.has(message_id)]
    first, last = holders[0], holders[-1]
    if last is first or same(_block(first, message_id).raw, _block(last, message_id).raw):
        return first
    return last


def _block(document: ConversationDocument, message_id: str) -> MessageBlock:
    block = document.block_of(message_id)
    assert block is not None
    return block
