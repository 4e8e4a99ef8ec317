"""What readers see of all documents now: the newest of each, and their pieces in the index. Derived, and cheap to keep.

The event loop only notes which documents changed; what that means for the index is worked out by whoever searches next,
or in the background, in a thread.
"""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, tzinfo
from typing import Any

from openclaw_memory.context.visibility import kind_of
from openclaw_memory.layers import conversations, day_log, history, history_shards, notes, sessions
from openclaw_memory.layers.day_files import ConversationDocument, same
from openclaw_memory.layers.documents import MarkdownDocument
from openclaw_memory.layers.history import HistoryDocument
from openclaw_memory.layers.parts import FOLDER, day_of, order_of
from openclaw_memory.layers.rooms import room_of
from openclaw_memory.layers.sessions import SessionDocument
from openclaw_memory.markdown.messages import MessageBlock
from openclaw_memory.retrieval.blocks import Block, FileRecord
from openclaw_memory.retrieval.index import Index
from openclaw_memory.retrieval.passages import passage
from openclaw_memory.storage.areas import Held
from openclaw_memory.transcripts.ids import session_of

MESSAGES_LOOKED_AT = 50
"""Newest messages of a session whose files are looked at for edits before its history is given."""


@dataclass(frozen=True, slots=True)
class _Change:
    """What a document was when the index last heard of it, what it is now, and the state of its file, if it has one."""

    before: Any
    after: Any
    record: FileRecord | None


class Catalog:
    """Kept in step with the committed documents by `changed` and `feed`; nothing here is asked of the disk.

    Parameters: `index`; `zone`, the user's time zone. `changed`, `document` and its like are for the event loop; `feed`
    and what looks into the index may be called in any thread.
    """

    def __init__(self, index: Index, zone: tzinfo) -> None:
        self._zone = zone
        self._documents: dict[str, Any] = {}
        self._known: dict[str, None] = {}
        """Every document that was read or is at rest, also those whose files are gone, in the order they were met."""
        self._counts: Counter[str] = Counter()
        """How many of them lie right in each folder."""
        self._listed: dict[tuple[str, ...], tuple[int, list[str]]] = {}
        """Answers of `paths`, each with the number of known documents that it was given for."""
        self._hidden: set[str] = set()
        """Documents whose pieces are kept out of the index."""
        self._noting = threading.Lock()
        self._noted: dict[str, _Change] = {}
        self._feeding = threading.Lock()
        # What follows belongs to who feeds.
        self._records: dict[str, FileRecord] = {}
        """State of the files that the index holds, by path."""
        self._days: dict[str, dict[str, ConversationDocument | None]] = {}
        """Files by day; None for one that is at rest."""
        self._sharing: dict[str, set[str]] = {}
        """For each file those of its day that hold some of the same messages."""
        self._wanted: set[str] = set()
        self._offer: Callable[[list[str]], None] | None = None
        self.use(index)

    def use(self, index: Index) -> None:
        """Take an index, and what it remembers of files that need not be read."""
        with self._feeding:
            self._index = index
            self._records = index.records()
            self._meet(self._records)
            for path in self._records:
                if path.startswith(f"{FOLDER}/"):
                    self._days.setdefault(day_of(path), {}).setdefault(path, None)

    def tell(self, offer: Callable[[list[str]], None] | None) -> None:
        """Tell somebody, in the thread of whoever feeds, the texts (`passage`) of what goes into the index."""
        self._offer = offer

    @property
    def index(self) -> Index:
        """Give the index in use."""
        return self._index

    # -- documents ----------------------------------------------------------------------------------------------

    def changed(self, path: str, before: Any, after: Any, record: FileRecord | None = None) -> None:
        """Take note that a document is another one now.

        `record` is the state of its file where that holds all of the document; with it the file need not be read again
        by the next start.
        """
        self._documents[path] = after
        self._meet((path,))
        with self._noting:
            if path in self._hidden:
                # Nobody is shown it, whatever it says now.
                return
            noted = self._noted.get(path)
            self._noted[path] = _Change(before if noted is None else noted.before, after, record)

    def hide(self, path: str) -> None:
        """Take the pieces of a document out of the index, until `again` or a change of it."""
        with self._noting:
            self._hidden.add(path)
            self._noted[path] = _Change(None, room_of(path).format.new(path), None)

    def again(self, path: str, record: FileRecord | None) -> None:
        """Have the index take in a document anew, whatever it was told of it before."""
        with self._noting:
            self._hidden.discard(path)
            self._noted[path] = _Change(None, self._documents[path], record)

    def pieces(self, path: str) -> list[Block]:
        """Give the pieces of a document that was read, as the index would hold them."""
        document = self._documents[path]
        if path in self._sharing:
            return self._index.blocks_of(path)
        if isinstance(document, SessionDocument | HistoryDocument) or _is_log(document):
            return self._lines(document)
        return room_of(path).blocks(document, self._zone)

    def known(self) -> list[str]:
        """List the documents that were read and are not hidden."""
        return [path for path in list(self._documents) if path not in self._hidden]

    def document(self, path: str) -> Any:
        """Give the committed document; None when it was never read or written."""
        return self._documents.get(path)

    def count(self, folder: str) -> int:
        """Count the documents right in a folder, those at rest included."""
        return self._counts[folder]

    def knows(self, path: str) -> bool:
        """Tell whether a document was read, or is at rest."""
        return path in self._known

    def met(self) -> list[str]:
        """List every document that was read, or is at rest; also those whose files are gone."""
        return list(self._known)

    def paths(self, *areas: str) -> list[str]:
        """List the documents in some areas, read or at rest, by path; also those whose files are gone."""
        # Asked several times a read; the answer changes only when a document is met for the first time.
        met = len(self._known)
        listed = self._listed.get(areas)
        if listed is None or listed[0] != met:
            held = Held(areas)
            before, old = listed or (0, [])
            new = [path for path in list(self._known)[before:met] if path in held]
            listed = self._listed[areas] = (met, sorted([*old, *new]) if new else old)
        return listed[1]

    def _meet(self, paths: Iterable[str]) -> None:
        new = [path for path in paths if path not in self._known]
        self._known.update(dict.fromkeys(new))
        self._counts.update(path.rpartition("/")[0] for path in new)

    def documents(self, folder: str) -> list[Any]:
        """Give the documents right in a folder that were read, by path."""
        known = list(self._documents.items())
        here = sorted(path for path, _ in known if path.rpartition("/")[0] == folder)
        return [self._documents[path] for path in here]

    def front_matter_problems(self) -> dict[str, str]:
        """Tell whose front matter YAML refuses, and why; their text is used all the same."""
        return {
            path: front.problem
            for path, document in self._documents.items()
            if (front := getattr(document, "front", None)) is not None and front.problem is not None
        }

    def wanted(self) -> list[str]:
        """Give files at rest that must be read, since another file of their day may hold the same messages."""
        with self._feeding:
            wanted, self._wanted = sorted(self._wanted), set()
        return wanted

    # -- the index ----------------------------------------------------------------------------------------------

    def feed(self, most: int | None = None) -> bool:
        """Bring the index up to date with every change noted so far; an addition costs only what was added.

        With `most` it stops when so many pieces wait for the index to write them down; tells whether all was taken in.
        """
        with self._feeding:
            with self._noting:
                noted, self._noted = self._noted, {}
            order = sorted(noted, key=lambda path: _turn_of(noted[path].after))
            for at, path in enumerate(order):
                if most is not None and self._index.waiting >= most:
                    self._put_off({left: noted[left] for left in order[at:]})
                    return False
                self._feed_one(path, noted[path])
        return True

    def _feed_one(self, path: str, change: _Change) -> None:
        if isinstance(change.after, ConversationDocument):
            self._feed_messages(change.before, change.after, change.record)
        elif isinstance(change.after, SessionDocument | HistoryDocument) or _is_log(change.after):
            self._feed_lines(path, change)
        elif isinstance(change.after, MarkdownDocument):
            self._feed_pieces(path, change)

    def _put_off(self, left: dict[str, _Change]) -> None:
        """Note changes again, as if before those that were noted since."""
        with self._noting:
            for path, change in self._noted.items():
                earlier = left.get(path)
                # Without a document before, all of it is taken in anew anyway.
                before = change.before if earlier is None or change.before is None else earlier.before
                left[path] = _Change(before, change.after, change.record)
            self._noted = left

    def _feed_pieces(self, path: str, change: _Change) -> None:
        before, after = change.before, change.after
        # What YAML refuses is told by `status`, so the next start has to read it.
        record = change.record if after.front.problem is None else None
        if before is None and record is not None and record == self._records.get(path):
            return
        if before is not None and before.front == after.front:
            self._index.record(path, record)
        else:
            self._replace(path, room_of(path).blocks(after, self._zone), record)
        self._remember(path, record)

    def _feed_messages(
        self, before: ConversationDocument | None, after: ConversationDocument, record: FileRecord | None
    ) -> None:
        path = after.path
        family = self._days.setdefault(day_of(path), {})
        family[path] = after
        record = record if after.front.problem is None else None
        added = 0 if before is None else _common(before, after)
        new = after.file.blocks[added:]
        shared = {
            other.path
            for other in family.values()
            if other is not None and other is not after and any(other.has(block.message.id) for block in new)
        }
        if not added:
            self._wanted.update(other for other, document in family.items() if document is None)
        at_rest = before is None and record is not None and record == self._records.get(path)
        if not shared and at_rest:
            return
        self._remember(path, record)
        if added and not shared:
            if new:
                blocks = conversations.blocks(after, since=added)
                self._index.add(blocks)
                self._told(blocks)
            self._index.record(path, record)
            return
        if added:
            shared |= self._sharing.get(path, set())
        for other in sorted(self._share(path, shared) | {path}, key=order_of):
            if (document := family[other]) is not None:
                self._show(document)

    def _feed_lines(self, path: str, change: _Change) -> None:
        """Take in a session's file, a history or a day's log, which may be long and is mostly added to."""
        before, after, record = change.before, change.after, change.record
        if before is None and record is not None and record == self._records.get(path):
            return
        added = 0
        if isinstance(before, SessionDocument) and isinstance(after, SessionDocument):
            added = sessions.added_since(before, after)
        elif isinstance(before, HistoryDocument) and isinstance(after, HistoryDocument):
            added = history.added_since(before, after)
        elif isinstance(before, MarkdownDocument) and isinstance(after, MarkdownDocument):
            added = day_log.added_since(before, after)
        blocks = self._lines(after, added)
        if added:
            self._index.add(blocks)
            self._told(blocks)
            self._index.record(path, record)
        else:
            self._replace(path, blocks, record)
        self._remember(path, record)

    def _lines(self, document: SessionDocument | HistoryDocument | MarkdownDocument, since: int = 0) -> list[Block]:
        """Give the pieces of a session's file, a history or a day's log that are not found elsewhere already."""
        if isinstance(document, MarkdownDocument):
            return self._logged(document, since)
        if isinstance(document, HistoryDocument):
            blocks = history.blocks(document, self._zone, since)
        else:
            blocks = sessions.blocks(document, visibility=visibility_of(document.path), since=since)
        known = self.as_messages(blocks)
        # What we have just added says the same; a whole file may have been edited.
        return [block for block in blocks if block.key not in known or not (since or self._same(block, known))]

    def _logged(self, document: MarkdownDocument, since: int) -> list[Block]:
        """Give the pieces of a day's log: what is noted there, and what was said and is found nowhere else so."""
        if since:
            said = day_log.blocks(document, notes.day_of_note(document.path), self._zone, since=since)
            noted: list[Block] = []
        else:
            blocks = room_of(document.path).blocks(document, self._zone)
            noted, said = ([block for block in blocks if (block.role is None) is own] for own in (True, False))
        known = self.as_messages(said) | self._in_history(said)
        left = [block for block in said if block.key not in known or not (since or self._same(block, known))]
        return sorted([*noted, *left], key=lambda block: block.start_line)

    def _in_history(self, blocks: Sequence[Block]) -> dict[str, str]:
        """Give, by its own address, the one that a line of a log is found by in HISTORY.md, or in one of its months."""
        keys: dict[str, str] = {}
        for block in blocks:
            whole = f"{block.path.rpartition('/')[0]}/{history.NAME}"
            day, name = notes.day_of_note(block.path), block.key.rpartition("#")[2]
            places = [whole, *([history_shards.shard_path(whole, day)] if day is not None else [])]
            keys |= {f"{place}#{name}": block.key for place in places}
        found = self._index.paths_holding(keys)
        return {keys[key]: key for key in found}

    def _same(self, block: Block, known: Mapping[str, str]) -> bool:
        return any(other.text.strip() == block.text.strip() for other in self._index.find(known[block.key]))

    def as_messages(self, blocks: Sequence[Block]) -> dict[str, str]:
        """Give, by its own address, the one that a line has as a message of its day, where it is found as that."""
        keys = {block.key: key for block in blocks if (key := self.as_message(block)) is not None}
        known = self._index.paths_holding(keys.values())
        return {line: key for line, key in keys.items() if key in known}

    def as_message(self, block: Block) -> str | None:
        """Give the address that a line has as a message of its day, if it is one."""
        if block.time is None:
            return None
        return f"{conversations.day_path(block.time, self._zone)}#{block.key.rpartition('#')[2]}"

    def _remember(self, path: str, record: FileRecord | None) -> None:
        if record is None:
            self._records.pop(path, None)
        else:
            self._records[path] = record

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
        """Show all messages of a file anew, each only once a day, with the text that it has last.

        Where several files of a day hold a message, an editor saved an old view of the day over its rotation. What
        differs in the later file was edited there.
        """
        path = document.path
        pieces, record = conversations.blocks(document), self._records.get(path)
        if path in self._sharing:
            # What is shown of it is less than it holds, so it is no state that a start could rest on.
            record = None
            family = self._family(day_of(path), {path, *self._sharing[path]})
            pieces = [
                piece
                for piece, block in zip(pieces, document.file.blocks, strict=True)
                if _speaker(family, block.message.id) is document
            ]
        self._replace(path, pieces, record)

    def _replace(self, path: str, blocks: Sequence[Block], record: FileRecord | None) -> None:
        self._index.replace(path, blocks, record)
        self._told(blocks)

    def _told(self, blocks: Sequence[Block]) -> None:
        if self._offer is not None:
            self._offer([passage(block) for block in blocks])

    def _family(self, day: str, paths: set[str]) -> list[ConversationDocument]:
        files: Mapping[str, ConversationDocument | None] = self._days.get(day, {})
        return [document for path in sorted(paths, key=order_of) if (document := files.get(path)) is not None]

    def find(self, key: str) -> Block | None:
        """Give the piece that has this address, wherever it lies now; None when there is none.

        The address of a message names its day, and holds also when the day's file was rotated.
        """
        self.feed()
        return next(iter(self._index.find(key)), None)

    def paths_of(self, session: str, newest: int = 2) -> list[str]:
        """Give the newest files that hold messages of a session, and where an old view of them would be saved."""
        paths = self._index.newest_paths(session, MESSAGES_LOOKED_AT)[:newest]
        return list(dict.fromkeys([*paths, *map(day_of, paths)]))

    def newest_messages(self, session: str, until: datetime | None) -> Iterator[Block]:
        """Yield the messages of a session, newest first, none of them after `until`."""
        self.feed()
        return self._index.newest(session, until)


def _turn_of(document: Any) -> int:
    """Give when a document is taken in: what it holds beside others can only be told when those are there."""
    if isinstance(document, SessionDocument | HistoryDocument):
        return 1
    # Of a day's log, beside HISTORY.md as well.
    return 2 if _is_log(document) else 0


def _is_log(document: Any) -> bool:
    """Tell whether a note holds lines that tell what was said."""
    return isinstance(document, MarkdownDocument) and bool(day_log.lines_of(document))


def visibility_of(session_file: str) -> str:
    """Give who may see the lines of a session's file that do not say it: a group's were said to the group."""
    return "group" if kind_of(session_of(session_file), "primary") == "group" else "private"


def _common(before: ConversationDocument, after: ConversationDocument) -> int:
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
